//===- KernelArguments.h - Kernel arguments as texts ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_RUNTIME_KERNELARGUMENTS_H
#define TILEDIALECT_RUNTIME_KERNELARGUMENTS_H

#include "TileDialect/Runtime/HostArray.h"

namespace tile_dialect::runtime {

/// An argument of a kernel: a scalar, or a buffer that is passed by its
/// address.
struct KernelArgument {
  bool isBuffer = false;
  /// The scalar is an array of one element.
  HostArray value;
  /// Bytes by which the buffer's address misses a multiple of 512.
  uint64_t misalignment = 0;
  /// The buffer's contents are not defined before the kernel writes them.
  bool isUninitialized = false;
};

/// The text that explains what parseKernelArgument takes.
extern const char *const kernelArgumentHelp;

/// Parses an argument:
///   i32:5  f32:1.5  u64:0x10        a scalar
///   hex:0A00000000000000            the bytes of a structure
///   f32[1024x64]:iota               0, 1, 2 …
///   f32[64]:iota(START,STEP)
///   f16[64]:normal(SEED)            or normal(SEED,MEAN,DEVIATION)
///   i32[64]:uniform(SEED,LOW,HIGH)  LOW included, HIGH excluded; [0, 1) if
///   none f16[64]:const(2.5)   f32[64]:zero   f32[64]:uninit in.npy a buffer
///   with the file's type and shape bf16:in.npy                     the same,
///   converted
/// `@BYTES` at the end of a buffer misaligns it.
llvm::Expected<KernelArgument> parseKernelArgument(llvm::StringRef text);

/// `INDEX:TEXT`, as `--out=` and `--expect=` take it.
llvm::Expected<std::pair<unsigned, std::string>>
parseIndexed(llvm::StringRef text);

/// `X[,Y[,Z]]` (also with `x` between).
llvm::Expected<std::vector<uint32_t>> parseExtents(llvm::StringRef text);

/// The first `limit` elements as text, rows in brackets.
std::string formatArray(const HostArray &array, uint64_t limit = 64);

} // namespace tile_dialect::runtime

#endif // TILEDIALECT_RUNTIME_KERNELARGUMENTS_H
