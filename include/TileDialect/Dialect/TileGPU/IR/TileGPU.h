//===- TileGPU.h - The tile_gpu dialect -------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPU_H
#define TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPU_H

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Layout/Layout.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "TileDialect/Dialect/TileGPU/IR/TileGPUDialect.h.inc"

namespace mlir::tile_gpu::detail {
struct LayoutAttrStorage;
} // namespace mlir::tile_gpu::detail

#define GET_ATTRDEF_CLASSES
#include "TileDialect/Dialect/TileGPU/IR/TileGPUAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "TileDialect/Dialect/TileGPU/IR/TileGPUTypes.h.inc"

namespace mlir::tile_gpu {

/// Shared memory as a side effect resource, apart from global memory.
struct SharedMemoryResource
    : public SideEffects::Resource::Base<SharedMemoryResource> {
  StringRef getName() final { return "tile_gpu.shared_memory"; }
};

/// The layout of a distributed tile; null if `type` is none.
LayoutAttr getLayoutAttr(Type type);

/// A tile type with `layout` as its encoding.
RankedTensorType withLayout(RankedTensorType type, LayoutAttr layout);

/// Threads of a block of `func`, by its `known_block_size`; 0 if it has none.
int64_t getNumThreads(gpu::GPUFuncOp func);

/// The name of the discardable attribute with an op's scratch memory.
inline constexpr llvm::StringLiteral kScratchAttrName = "tile_gpu.scratch";
/// The name of the discardable attribute with a kernel's shared memory in
/// bytes.
inline constexpr llvm::StringLiteral kSharedBytesAttrName =
    "tile_gpu.shared_bytes";

} // namespace mlir::tile_gpu

#define GET_OP_CLASSES
#include "TileDialect/Dialect/TileGPU/IR/TileGPUOps.h.inc"

#endif // TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPU_H
