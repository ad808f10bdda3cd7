//===- InitAll.cpp - Register everything ----------------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Pipelines/InitAll.h"
#include "TileDialect/Conversion/Passes.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/Tile/Transforms/Passes.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "TileDialect/Dialect/TileNV/IR/TileNV.h"
#include "TileDialect/Dialect/TileNV/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h"
#include "TileDialect/Pipelines/Pipelines.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tile::registerTileDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect, tile_gpu::TileGPUDialect,
                  tile_nv::TileNVDialect>();
  tile_gpu::registerDistributeInterface(registry);
  tile_nv::registerDistributeInterface(registry);
}

void tile::registerAllDialects(DialectRegistry &registry) {
  registerTileDialects(registry);
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, DLTIDialect,
                  func::FuncDialect, gpu::GPUDialect, index::IndexDialect,
                  LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect,
                  scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  func::registerInlinerExtension(registry);
  LLVM::registerInlinerInterface(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void tile::registerTilePasses() {
  registerTileDialectCorePasses();
  tile::registerTileConversionPasses();
  tile_gpu::registerTileGPUPasses();
  tile_nv::registerTileNVPasses();
  registerTilePipelines();
}

void tile::registerAllPasses() {
  registerTilePasses();
  mlir::registerTransformsPasses();
  mlir::registerConvertGpuOpsToNVVMOpsPass();
  mlir::registerSCFToControlFlowPass();
  mlir::registerConvertToLLVMPass();
  mlir::registerReconcileUnrealizedCastsPass();
  mlir::registerGpuNVVMAttachTarget();
  mlir::registerGpuModuleToBinaryPass();
  LLVM::registerDIScopeForLLVMFuncOpPass();
}
