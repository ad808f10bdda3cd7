//===- PTXEmission.h - From LLVM IR to PTX, in process ----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_PTXEMISSION_H
#define TILEDIALECT_TARGET_PTXEMISSION_H

#include "TileDialect/Target/ChipInfo.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::tile {

/// How LLVM compiles. The defaults are what every tool uses.
struct PTXOptions {
  /// 0 to 3, as of clang's -O.
  unsigned optLevel = 3;
  /// Lets the back end contract `a * b + c` into one fma, as nvcc does by
  /// default. It rounds once instead of twice.
  bool fpFusion = true;
};

/// LLVM's NVPTX back end, set up for one chip. Its creation costs more than the
/// compilation of a small kernel, so one emitter serves many modules; it is not
/// thread-safe.
class PTXEmitter {
public:
  /// `features` is an LLVM feature string (`+ptx80`); if it is empty, that of
  /// the chip is taken. Fails, with an error at `loc`, if this LLVM knows no
  /// such chip or feature.
  static FailureOr<std::unique_ptr<PTXEmitter>>
  create(const tile_dialect::ChipInfo &chip, StringRef features,
         const PTXOptions &options, Location loc);
  ~PTXEmitter();

  /// Sets triple and data layout of `module` and optimises it. LLVM's own
  /// errors become errors at `loc`.
  LogicalResult optimize(llvm::Module &module, Location loc);

  /// PTX text of the optimised `module`. LLVM's own errors (inline assembly
  /// with a bad constraint, say) become errors at `loc`.
  FailureOr<std::string> emit(llvm::Module &module, Location loc);

private:
  PTXEmitter(std::unique_ptr<llvm::TargetMachine> machine,
             const PTXOptions &options);

  std::unique_ptr<llvm::TargetMachine> machine;
  PTXOptions options;
};

} // namespace mlir::tile

#endif // TILEDIALECT_TARGET_PTXEMISSION_H
