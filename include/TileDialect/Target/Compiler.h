//===- Compiler.h - From a source module to PTX or a cubin ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tile-translate, tile-run and the bindings do with a module: the pipeline
// on what is not lowered yet, LLVM, and ptxas where a cubin is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_COMPILER_H
#define TILEDIALECT_TARGET_COMPILER_H

#include "TileDialect/Target/ChipInfo.h"
#include "TileDialect/Target/KernelMetadata.h"
#include "TileDialect/Target/PTXEmission.h"
#include "TileDialect/Target/Toolkit.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
class TimingScope;
} // namespace mlir

namespace mlir::tile {

struct TileToNVVMOptions;

/// What to compile to.
enum class CompileTarget {
  /// LLVM IR before LLVM's optimisations.
  LLVMIR,
  PTX,
  Cubin,
};

/// How to compile. Defaults are those of the tools.
struct CompileOptions {
  /// Chip such as `sm_90a`. If it is empty, the chip of the module's
  /// `#nvvm.target` is taken; if there is none, `defaultChip`.
  std::string chip;
  /// The `gpu.module` to compile, if there are several.
  std::string moduleName;
  int64_t numWarps = 4;
  int64_t numStages = 3;
  int64_t numCTAs = 1;
  /// Most registers of a thread; 0: no limit.
  int64_t maxRegisters = 0;
  /// For launches with programmatic stream serialisation; has no effect on
  /// chips before sm_90.
  bool programmaticLaunch = false;
  /// Puts the lines of the source into PTX.
  bool lineInfo = false;
  /// Verifies the IR after each pass, not only after the last one.
  bool verifyEach = false;
  PTXOptions ptx;
  /// Paths of the file; if empty, `toolkit` is searched.
  std::string libdevice;
  std::string ptxas;
  SmallVector<std::string> ptxasOptions;
  ToolkitSearch toolkit;
  /// Called on the pass manager before it runs: to print IR between passes,
  /// say.
  std::function<LogicalResult(PassManager &)> configurePasses;
  /// If set, the steps are timed below it.
  TimingScope *timing = nullptr;

  /// Sets the options of the pipelines that are part of a compilation.
  void configure(TileToNVVMOptions &pipeline) const;
};

/// The result of a compilation.
struct CompiledModule {
  std::string moduleName;
  const tile_dialect::ChipInfo *chip = nullptr;
  /// PTX version times ten, as emitted.
  int32_t ptxVersion = 0;
  /// LLVM IR or PTX text, or a cubin.
  std::string output;
  std::vector<KernelMetadata> kernels;
};

/// Compiles one `gpu.module` of `source`. `source` is lowered in place, and its
/// other GPU modules are erased. Its context must know the dialects and
/// translations of `registerAllDialects`. Every failure has been reported at
/// the location it concerns.
FailureOr<CompiledModule> compileModule(ModuleOp source, CompileTarget target,
                                        const CompileOptions &options);

/// The `--metadata` file: see docs/tools.md.
llvm::json::Value toJSON(const CompiledModule &module);

} // namespace mlir::tile

#endif // TILEDIALECT_TARGET_COMPILER_H
