//===- Calls.h - How values get to and from functions ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_CALLS_H
#define TILEDIALECT_LIB_EMULATOR_CALLS_H

#include "Lanes.h"

namespace tile_dialect::emulator {

/// How the value of a parameter gets to or from a call.
struct Transfer {
  /// An offset in the caller's parameter space, or a register.
  bool isRegister = false;
  uint32_t offset = 0;
  Operand reg;
  uint32_t bytes = 0;
};

struct CallInfo {
  bool isIndirect = false;
  uint32_t function = 0;
  std::vector<Transfer> arguments, results;
  const Image *image = nullptr;
  /// For indirect calls: the image's function by its number in the module.
  std::vector<int> functionOfModule;
};

inline uint8_t *parameterOf(const Frame &frame, uint32_t offset,
                            unsigned lane) {
  return frame.registers + frame.code->paramOffset +
         lane * frame.code->paramStride + offset;
}

inline void copyArgument(Warp &warp, const Frame &caller,
                         const Transfer &transfer, unsigned l, uint8_t *to,
                         uint32_t bytes) {
  if (!transfer.isRegister) {
    std::memcpy(to, parameterOf(caller, transfer.offset, l),
                std::min(bytes, transfer.bytes));
    return;
  }
  const Operand &reg = transfer.reg;
  const uint8_t *base =
      reg.bank == Operand::Registers ? caller.registers : warp.banks[reg.bank];
  std::memcpy(to, base + reg.offset + l * reg.bytes,
              std::min<uint32_t>(bytes, reg.bytes));
}

inline void copyResult(const Frame &caller, const Transfer &transfer,
                       unsigned l, const uint8_t *from, uint32_t bytes) {
  if (!transfer.isRegister) {
    std::memcpy(parameterOf(caller, transfer.offset, l), from,
                std::min(bytes, transfer.bytes));
    return;
  }
  const Operand &reg = transfer.reg;
  std::memcpy(caller.registers + reg.offset + l * reg.bytes, from,
              std::min<uint32_t>(bytes, reg.bytes));
}

/// Executes a call of a function of the device's runtime library (vprintf,
/// __assertfail, malloc, free), or null.
Handler findRuntimeFunction(llvm::StringRef name);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_CALLS_H
