//===- OpsPackedFloat.cpp - Arithmetic on two floats at once ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add, sub, mul and fma of .f32x2 (sm_100 and up): each half is what the
// instruction on .f32 gives.
//
//===----------------------------------------------------------------------===//

#include "FloatFormats.h"
#include "Lanes.h"
#include <cfloat>
#include <cmath>

using namespace tile_dialect::emulator;

namespace {

enum class PackedOp : uint32_t { Add, Sub, Mul, Fma };

float flushed(float x) {
  return std::fabs(x) < FLT_MIN ? std::copysign(0.0f, x) : x;
}

float computePart(PackedOp op, Rounding mode, float a, float b, float c) {
  bool isNearest = mode == Rounding::NearestEven;
  switch (op) {
  case PackedOp::Add:
    return isNearest ? a + b : addRounded(a, b, mode);
  case PackedOp::Sub:
    return isNearest ? a - b : addRounded(a, -b, mode);
  case PackedOp::Mul:
    return isNearest ? a * b : mulRounded(a, b, mode);
  case PackedOp::Fma:
    return isNearest ? std::fma(a, b, c) : fmaRounded(a, b, c, mode);
  }
  return 0;
}

/// aux[0]: the operation, aux[1]: the rounding, aux[2]: .ftz.
Step packedLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  auto op = PackedOp(inst.aux[0]);
  auto mode = Rounding(inst.aux[1]);
  bool ftz = inst.aux[2];
  float *d = warp.dest<float>(inst.operands[0]);
  const float *a = warp.source<float>(inst.operands[1]);
  const float *b = warp.source<float>(inst.operands[2]);
  const float *c = warp.source<float>(inst.operands[inst.numOperands - 1]);
  auto in = [ftz](float x) { return ftz ? flushed(x) : x; };
  eachLane(mask, [&](unsigned l) {
    for (unsigned i = 2 * l; i < 2 * l + 2; ++i) {
      float r = computePart(op, mode, in(a[i]), in(b[i]), in(c[i]));
      d[i] = r != r ? floatFromBits(0x7FFFFFFF) : in(r);
    }
  });
  return Step::Next;
}

} // namespace

bool tile_dialect::emulator::decodePackedFloat(InstDecoder &d) {
  llvm::StringRef opcode = d.statement.opcode;
  int op = opcode == "add"   ? 0
           : opcode == "sub" ? 1
           : opcode == "mul" ? 2
           : opcode == "fma" ? 3
                             : -1;
  if (op < 0)
    return d.fail("'" + opcode + "' has no type .f32x2");
  d.inst.instructionClass = InstructionClass::Float;
  int mode = d.takeOneOf({"rn", "rz", "rm", "rp"});
  if (op == 3 && mode < 0)
    return d.fail("fma needs a rounding mode");
  d.inst.aux[0] = op;
  d.inst.aux[1] = uint32_t(mode < 0 ? Rounding::NearestEven : Rounding(mode));
  d.inst.aux[2] = d.take("ftz");
  unsigned sources = op == 3 ? 3 : 2;
  if (!d.needOperands(1 + sources) || !d.addDest(0, Type::B64))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!d.addSource(i, Type::B64))
      return false;
  return d.finish(packedLanes);
}
