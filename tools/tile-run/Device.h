//===- Device.h - What tile-run asks of a device ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TOOLS_TILERUN_DEVICE_H
#define TILEDIALECT_TOOLS_TILERUN_DEVICE_H

#include "TileDialect/Emulator/Emulator.h"
#include "TileDialect/Runtime/KernelArguments.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tile_dialect::tile_run {

/// A kernel in PTX, wherever it came from.
struct Program {
  std::string ptx;
  /// What messages call the PTX.
  std::string name;
  /// Facts of the kernel that a compiler knows and the command line may leave
  /// out; zero extents mean unknown.
  std::string kernel;
  emulator::Dim3 block{0, 0, 0}, cluster{0, 0, 0};
  uint32_t dynamicSharedBytes = 0;
};

/// What is to be run.
struct Request {
  Program program;
  std::string kernel;
  emulator::Dim3 grid, block, cluster{0, 0, 0};
  uint32_t dynamicSharedBytes = 0;
  /// Buffers hold their contents before and after the launch.
  std::vector<runtime::KernelArgument> arguments;
};

/// How to compile a program that is not PTX yet; empty and zero mean the
/// compiler's default.
struct CompileRequest {
  std::string chip, module, libdevice;
  uint64_t numWarps = 0, numStages = 0;
  std::vector<std::string> toolkits;
  /// Lines of the source in the PTX, for what the emulator reports.
  bool lineInfo = true;
  /// How this program was started: its own folder is one to search libdevice
  /// in.
  std::string executable;
};

/// Options that only a GPU has, and what it measured.
struct CudaRequest {
  int ordinal = 0;
  /// Launches to time after the one whose results count; 0: none.
  unsigned timedLaunches = 0;
  /// Median time of a launch.
  double microseconds = 0;
};

/// Options that only the emulator has, and what it counted.
struct EmulatorRequest {
  emulator::EmulatorOptions options;
  emulator::LaunchResult result;
};

/// Runs a request in the emulator and copies the buffers back, even if the
/// kernel failed.
llvm::Error runOnEmulator(Request &request, EmulatorRequest &emulator);

/// Runs a request on a GPU and copies the buffers back.
llvm::Error runOnCuda(Request &request, CudaRequest &cuda);

/// The chip of a GPU, to compile for it.
llvm::Expected<std::string> getCudaChip(int ordinal);

/// Reads a program by the ending of its name: `.ptx` as it is (and `-`),
/// anything else as MLIR, which is compiled. `kernel` is the kernel that will
/// run; it may be empty if there is only one.
llvm::Expected<Program> loadProgram(llvm::StringRef path,
                                    llvm::StringRef kernel,
                                    const CompileRequest &compile);

/// The part of loadProgram that needs the compiler.
llvm::Expected<Program> compileProgram(llvm::StringRef path,
                                       llvm::StringRef kernel,
                                       const CompileRequest &compile);

/// The kernel that runs if the command line names none: the only one of
/// `module`.
llvm::Expected<std::string> getOnlyKernel(const emulator::Module &module);

} // namespace tile_dialect::tile_run

#endif // TILEDIALECT_TOOLS_TILERUN_DEVICE_H
