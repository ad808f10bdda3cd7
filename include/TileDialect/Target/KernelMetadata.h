//===- KernelMetadata.h - What a launcher must know of a kernel -*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_KERNELMETADATA_H
#define TILEDIALECT_TARGET_KERNELMETADATA_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::tile {

/// One parameter of the compiled kernel, in the order of its PTX signature.
/// Sizes and offsets are in bytes.
struct KernelParameter {
  /// `ptr`, or an integer or floating-point type such as `i32`, `f16`.
  std::string type;
  /// The argument of the source that this parameter is or is a part of (a
  /// descriptor is several parameters), and its type as written there. -1 and
  /// empty if the source is not known.
  int64_t sourceIndex = -1;
  std::string sourceType;
  int64_t size = 0;
  /// Where it lies in the parameter buffer of a launch.
  int64_t offset = 0;
  /// What the compiled code takes for granted: the value (an address for a
  /// pointer) is a multiple of this.
  int64_t divisibility = 1;
};

/// What a launcher must know of a kernel.
struct KernelMetadata {
  std::string name;
  SmallVector<KernelParameter> parameters;
  /// Shared memory in bytes: part of the kernel, and to be given at launch.
  int64_t staticSharedBytes = 0;
  int64_t dynamicSharedBytes = 0;
  /// Threads of a block; 0 if the kernel does not say.
  int64_t numWarps = 0;
  SmallVector<int64_t, 3> blockSize = {0, 0, 0};
  SmallVector<int64_t, 3> clusterSize = {1, 1, 1};
  /// The kernel waits itself for the grids before it: a launch may set
  /// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION.
  bool programmaticLaunch = false;
  /// Known after assembly only.
  std::optional<int64_t> registers;
  std::optional<int64_t> spillStoreBytes;
  std::optional<int64_t> spillLoadBytes;
  std::optional<int64_t> stackBytes;
};

/// Facts about the arguments of a kernel that lowering drops.
struct SourceArgument {
  std::string type;
  int64_t divisibility = 1;
  /// How many parameters the argument becomes.
  int64_t numParameters = 1;
};
using SourceArguments = llvm::StringMap<SmallVector<SourceArgument>>;

/// The arguments of all `gpu.func` kernels of `module`. To be taken before
/// lowering.
SourceArguments collectSourceArguments(gpu::GPUModuleOp module);

/// The metadata of all kernels of a lowered module. `translated` is what
/// `translateToLLVMIR` made of it: it holds the sizes of shared variables.
std::vector<KernelMetadata>
collectKernelMetadata(gpu::GPUModuleOp module, const llvm::Module &translated,
                      const SourceArguments &sources);

/// `{"name": ..., "parameters": [...], ...}`; docs/tools.md says what the
/// fields mean.
llvm::json::Value toJSON(const KernelMetadata &kernel);

} // namespace mlir::tile

#endif // TILEDIALECT_TARGET_KERNELMETADATA_H
