//===- CompileProgram.cpp - Compiles what tile-run runs -------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "TileDialect/Pipelines/InitAll.h"
#include "TileDialect/Target/Compiler.h"
#include "TileDialect/Target/ToolSupport.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace tile_dialect;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static emulator::Dim3 toDim(llvm::ArrayRef<int64_t> extents) {
  return emulator::Dim3{static_cast<uint32_t>(extents[0]),
                        static_cast<uint32_t>(extents[1]),
                        static_cast<uint32_t>(extents[2])};
}

static mlir::tile::CompileOptions
getOptions(const tile_run::CompileRequest &request) {
  mlir::tile::CompileOptions options;
  options.chip = request.chip;
  options.moduleName = request.module;
  if (request.numWarps)
    options.numWarps = request.numWarps;
  if (request.numStages)
    options.numStages = request.numStages;
  options.lineInfo = request.lineInfo;
  options.libdevice = request.libdevice;
  // Any address in this program tells where it is.
  static int anchor;
  llvm::SmallVector<std::string> roots(request.toolkits.begin(),
                                       request.toolkits.end());
  options.toolkit = mlir::tile::ToolkitSearch::forTool(
      roots,
      llvm::sys::fs::getMainExecutable(request.executable.c_str(), &anchor));
  return options;
}

llvm::Expected<tile_run::Program>
tile_run::compileProgram(llvm::StringRef path, llvm::StringRef kernel,
                         const CompileRequest &compile) {
  mlir::tile::installToolErrorHandler("tile-run");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  mlir::DialectRegistry registry;
  mlir::tile::registerAllDialects(registry);
  context.appendDialectRegistry(registry);

  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> source =
      mlir::tile::parseInput(path, sources, context);
  if (!source)
    return makeError("cannot read '" + path + "'");
  mlir::FailureOr<mlir::tile::CompiledModule> compiled =
      mlir::tile::compileModule(*source, mlir::tile::CompileTarget::PTX,
                                getOptions(compile));
  if (mlir::failed(compiled))
    return makeError("cannot compile '" + path + "'");

  Program program;
  program.ptx = std::move(compiled->output);
  program.name = (path + ".ptx").str();
  if (kernel.empty() && compiled->kernels.size() == 1)
    kernel = compiled->kernels.front().name;
  for (const mlir::tile::KernelMetadata &metadata : compiled->kernels) {
    if (metadata.name != kernel)
      continue;
    program.kernel = metadata.name;
    program.block = toDim(metadata.blockSize);
    if (metadata.clusterSize[0] * metadata.clusterSize[1] *
            metadata.clusterSize[2] !=
        1)
      program.cluster = toDim(metadata.clusterSize);
    program.dynamicSharedBytes = metadata.dynamicSharedBytes;
  }
  return program;
}
