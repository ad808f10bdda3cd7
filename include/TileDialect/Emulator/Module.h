//===- Module.h - A parsed PTX module ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_EMULATOR_MODULE_H
#define TILEDIALECT_EMULATOR_MODULE_H

#include "TileDialect/Emulator/Report.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile_dialect::emulator {

struct ModuleImpl;

/// A formal parameter of a kernel.
struct KernelParameter {
  std::string name;
  /// The PTX type without its dot, such as "u64"; "b8" for an aggregate.
  std::string type;
  /// The size and the offset in bytes in the parameter space.
  uint32_t size = 0;
  uint32_t offset = 0;
  uint32_t align = 1;
};

/// What a caller has to know to launch a kernel.
struct KernelInfo {
  std::string name;
  std::vector<KernelParameter> parameters;
  /// Bytes of the whole parameter space.
  uint32_t parameterBytes = 0;
  /// Shared memory that the PTX declares with a size, reserved bytes excluded.
  uint32_t staticSharedBytes = 0;
  /// `.reqntid`, `.maxntid` and `.reqnctapercluster`, where present.
  std::optional<Dim3> requiredBlock;
  std::optional<Dim3> maximalBlock;
  std::optional<Dim3> requiredCluster;
};

/// A PTX module that was parsed and decoded whole: each instruction of each
/// function is known to the emulator, else `parse` has failed.
class Module {
public:
  /// Parses PTX text.  `fileName` is what messages and reports call it.  An
  /// error names file, line and text.
  static llvm::Expected<std::unique_ptr<Module>>
  parse(llvm::StringRef text, llvm::StringRef fileName);
  ~Module();

  /// The kernels in the order of the text.
  const std::vector<KernelInfo> &kernels() const;
  /// The kernel of that name, or null.
  const KernelInfo *findKernel(llvm::StringRef name) const;
  /// The chip that `.target` names, such as "sm_90a".
  llvm::StringRef target() const;

  ModuleImpl &impl() const { return *pimpl; }

private:
  explicit Module(std::unique_ptr<ModuleImpl> impl);
  std::unique_ptr<ModuleImpl> pimpl;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_EMULATOR_MODULE_H
