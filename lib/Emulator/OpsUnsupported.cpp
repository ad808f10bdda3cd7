//===- OpsUnsupported.cpp - Instructions that are not emulated ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of PTX that the emulator knows of and refuses.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {
struct Unsupported {
  const char *opcode, *what;
};
constexpr Unsupported unsupported[] = {
    {"tcgen05", "tensor memory of sm_100"},
    {"clusterlaunchcontrol", "work stealing of sm_100"},
    {"multimem", "memory that several GPUs share"},
    {"tex", "textures"},
    {"tld4", "textures"},
    {"txq", "textures"},
    {"suld", "surfaces"},
    {"sust", "surfaces"},
    {"sured", "surfaces"},
    {"suq", "surfaces"},
    {"istypep", "textures and surfaces"},
};
} // namespace

static bool decodeUnsupported(InstDecoder &d) {
  std::string name = d.statement.opcode.str();
  if (!d.peek().empty())
    name += "." + d.peek().str();
  for (const Unsupported &entry : unsupported)
    if (d.statement.opcode == entry.opcode)
      return d.fail("'" + name + "' (" + entry.what + ") is not emulated");
  return d.fail("'" + name + "' is not emulated");
}

void tile_dialect::emulator::registerUnsupportedOps(OpcodeTable &table) {
  for (const Unsupported &entry : unsupported)
    table.add(entry.opcode, decodeUnsupported, InstructionClass::Other);
}
