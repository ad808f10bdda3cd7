//===- OpsMatrix.cpp - mma.sync, ldmatrix, stmatrix, movmatrix ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixOps.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

constexpr unsigned maximalK = 256;

Step mmaWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  const auto &info = *static_cast<const MmaInfo *>(inst.extra);
  auto [m, n, k] = info.shape;
  const void *sources[16];
  double a[16 * maximalK], b[maximalK * 8], d[16 * 8];
  collectSources(warp, inst, info.first[0], info.first[1], sources);
  gatherA(info.a, m, k, sources, a);
  collectSources(warp, inst, info.first[1], info.first[2], sources);
  gatherB(info.b, k, sources, b);
  collectSources(warp, inst, info.first[2], inst.numOperands, sources);
  gatherC(info.c, m, n, sources, d);
  if (info.exclusiveOr)
    xorPopcount(m, n, k, a, b, d);
  else if (info.a == Type::F64)
    multiplyAddRounded(info.rounding, m, n, k, a, b, d);
  else
    multiplyAdd(m, n, k, a, b, d);
  void *dests[8];
  collectDests(warp, inst, dests);
  scatterD(info.d, m, n, info.saturate, d, dests);
  countMacs(warp, uint64_t(m) * n * k);
  return Step::Next;
}

/// The values of k that a type of A and B has, by m (8, then 16); zeros fill
/// up.
struct MmaShapes {
  Type type;
  unsigned small[2];
  unsigned large[3];
};
constexpr MmaShapes mmaShapes[] = {
    {Type::F16, {0, 0}, {8, 16, 0}},     {Type::BF16, {0, 0}, {8, 16, 0}},
    {Type::TF32, {0, 0}, {4, 8, 0}},     {Type::F64, {4, 0}, {4, 8, 16}},
    {Type::S8, {16, 0}, {16, 32, 0}},    {Type::U8, {16, 0}, {16, 32, 0}},
    {Type::S4, {32, 0}, {32, 64, 0}},    {Type::U4, {32, 0}, {32, 64, 0}},
    {Type::B1, {128, 0}, {128, 256, 0}}, {Type::E4M3, {0, 0}, {16, 32, 0}},
    {Type::E5M2, {0, 0}, {16, 32, 0}},
};

bool hasShape(Type type, const MatrixShape &shape) {
  if (shape.n != 8 || (shape.m != 8 && shape.m != 16))
    return false;
  for (const MmaShapes &known : mmaShapes) {
    if (known.type != type)
      continue;
    auto list = shape.m == 8 ? llvm::ArrayRef<unsigned>(known.small)
                             : llvm::ArrayRef<unsigned>(known.large);
    for (unsigned k : list)
      if (k && k == shape.k)
        return true;
  }
  return false;
}

} // namespace

bool tile_dialect::emulator::hasTypes(const MmaInfo &info) {
  bool mixes = isSmallInteger(info.a) || isFloat8(info.a);
  if (info.a != info.b && !(mixes && bitWidth(info.a) == bitWidth(info.b) &&
                            isSmallInteger(info.a) == isSmallInteger(info.b)))
    return false;
  if (info.a == Type::F64)
    return info.d == Type::F64 && info.c == Type::F64;
  if (isSmallInteger(info.a) || info.a == Type::B1)
    return info.d == Type::S32 && info.c == Type::S32;
  bool half = info.a == Type::F16 || isFloat8(info.a);
  auto fits = [&](Type type) {
    return type == Type::F32 || (half && type == Type::F16);
  };
  return fits(info.d) && fits(info.c);
}

bool tile_dialect::emulator::takeMmaTypes(InstDecoder &d, MmaInfo &info) {
  info.d = d.needType();
  info.a = d.needType();
  info.b = d.needType();
  info.c = d.needType();
  return !d.failed();
}

bool tile_dialect::emulator::failMma(InstDecoder &d, const MmaInfo &info) {
  return d.fail("mma has no m" + Twine(info.shape.m) + "n" +
                Twine(info.shape.n) + "k" + Twine(info.shape.k) + " of ." +
                typeName(info.d) + "." + typeName(info.a) + "." +
                typeName(info.b) + "." + typeName(info.c));
}

bool tile_dialect::emulator::addMmaOperands(InstDecoder &d, MmaInfo &info,
                                            unsigned registersOfA,
                                            unsigned registersOfB) {
  Type data = info.a == Type::F64 ? Type::F64 : Type::B32;
  auto accumulators = [&](Type type) {
    unsigned products = info.shape.m == 8 && info.a == Type::F16 ? 4 : 1;
    return products * info.shape.m * info.shape.n / warpSize /
           (type == Type::F16 ? 2 : 1);
  };
  if (!addDestVector(d, 0, data, accumulators(info.d)))
    return false;
  const unsigned counts[] = {registersOfA, registersOfB, accumulators(info.c)};
  for (unsigned i = 0; i < 3; ++i) {
    info.first[i] = d.operands.size();
    if (!addSourceVector(d, 1 + i, data, counts[i]))
      return false;
  }
  return true;
}

static bool takeMmaModifiers(InstDecoder &d, MmaInfo &info) {
  static constexpr Rounding modes[] = {Rounding::NearestEven, Rounding::Zero,
                                       Rounding::Down, Rounding::Up};
  if (info.a == Type::F64)
    if (int mode = d.takeOneOf({"rn", "rz", "rm", "rp"}); mode >= 0)
      info.rounding = modes[mode];
  if (info.a == Type::B1) {
    int op = d.takeOneOf({"xor", "and"});
    if (op < 0 || !d.take("popc"))
      return d.fail("mma of .b1 needs .xor.popc or .and.popc");
    info.exclusiveOr = op == 0;
  }
  if (info.saturate && !isSmallInteger(info.a))
    return d.fail(".satfinite is for integers");
  return true;
}

static bool decodeMma(InstDecoder &d) {
  if (d.take("sp"))
    return decodeSparseMma(d, false);
  if (d.take("sp::ordered_metadata"))
    return decodeSparseMma(d, true);
  if (llvm::StringRef kind = d.takePrefixed("sp::"); !kind.empty())
    return d.fail("unknown modifier '." + kind + "' of 'mma'");
  MmaInfo info;
  if (!d.take("sync") || !d.take("aligned") || !takeShape(d, info.shape))
    return d.fail("mma needs .sync.aligned and a shape");
  if (llvm::StringRef kind = d.takePrefixed("kind::"); !kind.empty())
    return d.fail("mma." + kind + ", which sm_120 has, is not emulated");
  info.saturate = d.take("satfinite");
  if (!takeMmaTypes(d, info) || !takeMmaModifiers(d, info))
    return false;
  const unsigned m = info.shape.m, n = info.shape.n, k = info.shape.k;
  if (m == 8 && n == 8 && k == 4 && info.a == Type::F16 && hasTypes(info))
    return decodeQuadPairMma(d, info);
  if (!hasTypes(info) || info.d != info.c || !hasShape(info.a, info.shape) ||
      !hasShape(info.b, info.shape))
    return failMma(d, info);
  if (takeLayouts(d) != llvm::SmallVector<bool, 2>{false, true})
    return d.fail("mma needs .row.col");
  if (!d.needOperands(4) || !addMmaOperands(d, info, registersOf(info.a, m * k),
                                            registersOf(info.b, n * k)))
    return false;
  d.setExtra(info);
  return d.finish(mmaWarp);
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix, movmatrix
//===----------------------------------------------------------------------===//

namespace {

constexpr unsigned rowBytes = 16;

/// The host memory of the rows of `count` 8x8 matrices; false after an error.
bool locateRows(Warp &warp, const Inst &inst, const Operand &base,
                unsigned count, AccessKind kind, uint8_t **rows) {
  uint64_t addresses[warpSize];
  warp.addresses(base, inst.immediate, addresses);
  auto space = Space(inst.aux[1]);
  bool write = kind == AccessKind::Write;
  unsigned numRows = count * 8;
  if (LLVM_UNLIKELY(warp.monitor != nullptr)) {
    Access access;
    access.inst = &inst;
    access.space = space;
    access.kind = kind;
    access.mask = numRows == warpSize ? allLanes : (LaneMask(1) << numRows) - 1;
    access.bytes = rowBytes;
    access.addresses = addresses;
    if (!warp.observe(access))
      return false;
  }
  for (unsigned l = 0; l < numRows; ++l) {
    SharedPlace place;
    if (!locateShared(warp, inst, space, addresses[l], rowBytes, rowBytes,
                      write, l, place))
      return false;
    rows[l] = place.host;
  }
  return true;
}

/// aux[0]: the number of matrices, aux[1]: the space, aux[2]: transposed.
Step ldmatrixWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  unsigned count = inst.aux[0];
  uint8_t *rows[warpSize];
  if (!locateRows(warp, inst, inst.operands[count], count, AccessKind::Read,
                  rows))
    return Step::Error;
  for (unsigned i = 0; i < count; ++i) {
    uint32_t *d = warp.dest<uint32_t>(inst.operands[i]);
    for (unsigned l = 0; l < warpSize; ++l) {
      if (!inst.aux[2]) {
        std::memcpy(&d[l], rows[8 * i + l / 4] + l % 4 * 4, 4);
        continue;
      }
      uint16_t low, high;
      std::memcpy(&low, rows[8 * i + l % 4 * 2] + l / 4 * 2, 2);
      std::memcpy(&high, rows[8 * i + l % 4 * 2 + 1] + l / 4 * 2, 2);
      d[l] = low | uint32_t(high) << 16;
    }
  }
  return Step::Next;
}

Step stmatrixWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  unsigned count = inst.aux[0];
  uint8_t *rows[warpSize];
  if (!locateRows(warp, inst, inst.operands[0], count, AccessKind::Write, rows))
    return Step::Error;
  warp.wrote = true;
  for (unsigned i = 0; i < count; ++i) {
    const uint32_t *s = warp.source<uint32_t>(inst.operands[1 + i]);
    for (unsigned l = 0; l < warpSize; ++l) {
      if (!inst.aux[2]) {
        std::memcpy(rows[8 * i + l / 4] + l % 4 * 4, &s[l], 4);
        continue;
      }
      uint16_t low = s[l], high = s[l] >> 16;
      std::memcpy(rows[8 * i + l % 4 * 2] + l / 4 * 2, &low, 2);
      std::memcpy(rows[8 * i + l % 4 * 2 + 1] + l / 4 * 2, &high, 2);
    }
  }
  return Step::Next;
}

Step movmatrixWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  uint16_t matrix[8][8];
  std::memcpy(matrix, warp.source<uint32_t>(inst.operands[1]), sizeof(matrix));
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  for (unsigned l = 0; l < warpSize; ++l)
    d[l] = matrix[l % 4 * 2][l / 4] | uint32_t(matrix[l % 4 * 2 + 1][l / 4])
                                          << 16;
  return Step::Next;
}

} // namespace

static bool takeMatrixModifiers(InstDecoder &d) {
  MatrixShape shape;
  d.take("sync");
  if (!d.take("aligned"))
    return d.fail("'" + d.statement.opcode + "' needs .sync.aligned");
  if (!takeShape(d, shape))
    return false;
  int number = d.takeOneOf({"x1", "x2", "x4"});
  if (number < 0)
    return d.fail("expected .x1, .x2 or .x4");
  d.inst.aux[0] = 1u << number;
  d.inst.aux[2] = d.take("trans");
  int space = d.takeOneOf({"shared", "shared::cta"});
  d.inst.aux[1] = uint32_t(space < 0 ? Space::Generic : Space::Shared);
  if (shape.m != 8 || shape.n != 8 || !d.take("b16"))
    return d.fail("'" + d.statement.opcode +
                  "' is emulated for .m8n8 and .b16; the shapes of 8-bit and "
                  "smaller elements, which sm_100 has, are not");
  return true;
}

static bool decodeLdmatrix(InstDecoder &d) {
  AddressOperand address;
  return takeMatrixModifiers(d) && d.needOperands(2) &&
         addDestVector(d, 0, Type::B32, d.inst.aux[0]) &&
         d.addAddress(1, address) && d.finish(ldmatrixWarp);
}

static bool decodeStmatrix(InstDecoder &d) {
  AddressOperand address;
  return takeMatrixModifiers(d) && d.needOperands(2) &&
         d.addAddress(0, address) &&
         addSourceVector(d, 1, Type::B32, d.inst.aux[0]) &&
         d.finish(stmatrixWarp);
}

static bool decodeMovmatrix(InstDecoder &d) {
  MatrixShape shape;
  d.take("sync");
  if (!d.take("aligned") || !takeShape(d, shape) || shape.m != 8 ||
      shape.n != 8 || !d.take("trans") || !d.take("b16"))
    return d.fail("expected movmatrix.sync.aligned.m8n8.trans.b16");
  return d.needOperands(2) && d.addDest(0, Type::B32) &&
         d.addSource(1, Type::B32) && d.finish(movmatrixWarp);
}

void tile_dialect::emulator::registerMatrixOps(OpcodeTable &table) {
  table.add("mma", decodeMma, InstructionClass::Matrix);
  table.add("ldmatrix", decodeLdmatrix, InstructionClass::MatrixMove);
  table.add("stmatrix", decodeStmatrix, InstructionClass::MatrixMove);
  table.add("movmatrix", decodeMovmatrix, InstructionClass::MatrixMove);
}
