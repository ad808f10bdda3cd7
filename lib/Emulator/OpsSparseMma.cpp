//===- OpsSparseMma.cpp - mma.sp and mma.m8n8k4 ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixOps.h"
#include "SparseMatrix.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// mma.sp
//===----------------------------------------------------------------------===//

namespace {

Step sparseMmaWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  const auto &info = *static_cast<const MmaInfo *>(inst.extra);
  const unsigned m = info.shape.m, n = info.shape.n, k = info.shape.k;
  const Operand &metadata = inst.operands[inst.numOperands - 1];
  uint8_t columns[sparseRows * maximalSparseK / 2];
  if (const char *message =
          sparseColumns(info.a, k, info.selector, info.ordered,
                        warp.source<uint32_t>(metadata), columns))
    return warp.error(Report::Kind::InvalidOperation, inst, 0, message);
  double a[sparseRows * maximalSparseK / 2], b[maximalSparseK * 8],
      d[sparseRows * 8];
  const void *sources[8];
  collectSources(warp, inst, info.first[0], info.first[1], sources);
  gatherA(info.a, m, k / 2, sources, a);
  collectSources(warp, inst, info.first[1], info.first[2], sources);
  gatherB(info.b, k, sources, b);
  collectSources(warp, inst, info.first[2], inst.numOperands - 1, sources);
  gatherC(info.c, m, n, sources, d);
  multiplyAddSparse(n, k, a, columns, b, d);
  void *dests[8];
  collectDests(warp, inst, dests);
  scatterD(info.d, m, n, info.saturate, d, dests);
  countMacs(warp, uint64_t(m) * n * k / 2);
  return Step::Next;
}

/// The values of k of a type of A and B.
struct SparseShapes {
  Type type;
  unsigned k[2];
};
constexpr SparseShapes sparseShapes[] = {
    {Type::F16, {16, 32}}, {Type::BF16, {16, 32}}, {Type::TF32, {8, 16}},
    {Type::S8, {32, 64}},  {Type::U8, {32, 64}},   {Type::S4, {64, 128}},
    {Type::U4, {64, 128}}, {Type::E4M3, {64, 64}}, {Type::E5M2, {64, 64}},
};

bool hasSparseShape(Type type, const MatrixShape &shape) {
  for (const SparseShapes &known : sparseShapes)
    if (known.type == type)
      return shape.m == 16 && shape.n == 8 &&
             (shape.k == known.k[0] || shape.k == known.k[1]);
  return false;
}

} // namespace

bool tile_dialect::emulator::decodeSparseMma(InstDecoder &d, bool ordered) {
  MmaInfo info;
  info.ordered = ordered;
  if (!d.take("sync") || !d.take("aligned") || !takeShape(d, info.shape))
    return d.fail("mma.sp needs .sync.aligned and a shape");
  if (llvm::StringRef kind = d.takePrefixed("kind::"); !kind.empty())
    return d.fail("mma.sp." + kind + ", which sm_120 has, is not emulated");
  info.saturate = d.take("satfinite");
  if (!takeMmaTypes(d, info))
    return false;
  if (!hasTypes(info) || info.d != info.c ||
      !hasSparseShape(info.a, info.shape) ||
      !hasSparseShape(info.b, info.shape))
    return failMma(d, info);
  if (takeLayouts(d) != llvm::SmallVector<bool, 2>{false, true})
    return d.fail("mma.sp needs .row.col");
  if (info.saturate && !isSmallInteger(info.a))
    return d.fail(".satfinite is for integers");
  int64_t selector;
  if (!d.needOperands(6) || !d.constantValue(5, selector))
    return false;
  int64_t limit = numSelectors(info.a, info.shape.k);
  if (selector < 0 || selector >= limit)
    return d.fail("the sparsity selector must be 0 to " + Twine(limit - 1) +
                  " here, found " + Twine(selector));
  info.selector = selector;
  const unsigned m = info.shape.m, n = info.shape.n, k = info.shape.k;
  if (!addMmaOperands(d, info, registersOf(info.a, m * k / 2),
                      registersOf(info.b, n * k)) ||
      !d.addSource(4, Type::B32))
    return false;
  d.setExtra(info);
  return d.finish(sparseMmaWarp);
}

//===----------------------------------------------------------------------===//
// mma.m8n8k4 of f16: four products, one for each pair of quads
//===----------------------------------------------------------------------===//

namespace {

/// The lane of a pair of quads (0 to 3) at a position (0 to 7).
unsigned pairLane(unsigned pair, unsigned position) {
  return pair * 4 + position % 4 + position / 4 * 16;
}

/// Element `e` of the lane at a position, of a matrix whose rows are spread
/// over lanes (A row-major, B column-major) or whose columns are.
MatrixCoordinate placeInOperand(bool lanesAreRows, unsigned position,
                                unsigned e) {
  if (lanesAreRows)
    return {position, e};
  return {e + position / 4 * 4, position % 4};
}

MatrixCoordinate placeInAccumulator(Type type, unsigned position, unsigned i) {
  if (type == Type::F16)
    return {position, i};
  unsigned lane = position % 4;
  return {(lane & 1) + (i & 2) + position / 4 * 4,
          (i & 4) + (lane & 2) + (i & 1)};
}

/// A (8 x 4) or the transpose of B, from two registers.
void gatherPair(const void *const *registers, unsigned pair, bool lanesAreRows,
                double (&matrix)[8][4]) {
  for (unsigned position = 0; position < 8; ++position) {
    unsigned lane = pairLane(pair, position);
    for (unsigned r = 0; r < 2; ++r) {
      double values[2];
      decodeElements(Type::F16,
                     static_cast<const uint32_t *>(registers[r]) + lane, 2,
                     values);
      for (unsigned e = 0; e < 2; ++e) {
        auto at = placeInOperand(lanesAreRows, position, 2 * r + e);
        matrix[at.row][at.column] = values[e];
      }
    }
  }
}

/// C of a pair: f16 packs two values in a register.
void gatherPairC(Type type, const void *const *registers, unsigned pair,
                 double (&matrix)[8][8]) {
  for (unsigned position = 0; position < 8; ++position) {
    unsigned lane = pairLane(pair, position);
    for (unsigned i = 0; i < 8; ++i) {
      auto at = placeInAccumulator(type, position, i);
      double &value = matrix[at.row][at.column];
      if (type == Type::F16)
        value = decodeElement(type, static_cast<const uint16_t *>(
                                        registers[i / 2])[2 * lane + i % 2]);
      else
        value = static_cast<const float *>(registers[i])[lane];
    }
  }
}

void scatterPairD(Type type, const double (&matrix)[8][8], unsigned pair,
                  void *const *registers) {
  for (unsigned position = 0; position < 8; ++position) {
    unsigned lane = pairLane(pair, position);
    for (unsigned i = 0; i < 8; ++i) {
      auto at = placeInAccumulator(type, position, i);
      bool isHalf = type == Type::F16;
      encodeAccumulator(type, matrix[at.row][at.column], false,
                        registers[isHalf ? i / 2 : i],
                        isHalf ? 2 * lane + i % 2 : lane);
    }
  }
}

Step quadPairWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  const auto &info = *static_cast<const MmaInfo *>(inst.extra);
  const void *sources[3][8];
  const unsigned ends[] = {info.first[1], info.first[2], inst.numOperands};
  for (unsigned i = 0; i < 3; ++i)
    collectSources(warp, inst, info.first[i], ends[i], sources[i]);
  double d[4][8][8];
  for (unsigned pair = 0; pair < 4; ++pair) {
    double a[8][4], b[8][4];
    gatherPair(sources[0], pair, !info.columnA, a);
    gatherPair(sources[1], pair, !info.rowB, b);
    gatherPairC(info.c, sources[2], pair, d[pair]);
    for (unsigned row = 0; row < 8; ++row)
      for (unsigned column = 0; column < 8; ++column)
        for (unsigned k = 0; k < 4; ++k)
          d[pair][row][column] += a[row][k] * b[column][k];
  }
  void *dests[8];
  collectDests(warp, inst, dests);
  for (unsigned pair = 0; pair < 4; ++pair)
    scatterPairD(info.d, d[pair], pair, dests);
  countMacs(warp, 4 * 8 * 8 * 4);
  return Step::Next;
}

} // namespace

bool tile_dialect::emulator::decodeQuadPairMma(InstDecoder &d, MmaInfo &info) {
  auto layouts = takeLayouts(d);
  if (layouts.size() != 2)
    return d.fail("mma.m8n8k4 needs two layouts, each .row or .col");
  info.columnA = layouts[0];
  info.rowB = !layouts[1];
  if (info.c == Type::F32 && info.d == Type::F16)
    return failMma(d, info);
  if (!d.needOperands(4) || !addMmaOperands(d, info, 2, 2))
    return false;
  d.setExtra(info);
  return d.finish(quadPairWarp);
}
