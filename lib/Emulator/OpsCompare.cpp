//===- OpsCompare.cpp - Comparison and selection ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFormats.h"
#include "Lanes.h"
#include <cmath>

using namespace tile_dialect::emulator;

namespace {

enum class Comparison : uint32_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  // Unsigned spellings.
  Lo,
  Ls,
  Hi,
  Hs,
  // True if an operand is NaN.
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan,
  None,
};

template <Comparison c> struct Compare {
  template <typename T> static bool apply(T a, T b) {
    if constexpr (c == Comparison::Eq)
      return a == b;
    else if constexpr (c == Comparison::Ne)
      return a != b && a == a && b == b;
    else if constexpr (c == Comparison::Lt || c == Comparison::Lo)
      return a < b;
    else if constexpr (c == Comparison::Le || c == Comparison::Ls)
      return a <= b;
    else if constexpr (c == Comparison::Gt || c == Comparison::Hi)
      return a > b;
    else if constexpr (c == Comparison::Ge || c == Comparison::Hs)
      return a >= b;
    else if constexpr (c == Comparison::Equ)
      return !(a < b || a > b);
    else if constexpr (c == Comparison::Neu)
      return a != b;
    else if constexpr (c == Comparison::Ltu)
      return !(a >= b);
    else if constexpr (c == Comparison::Leu)
      return !(a > b);
    else if constexpr (c == Comparison::Gtu)
      return !(a <= b);
    else if constexpr (c == Comparison::Geu)
      return !(a < b);
    else if constexpr (c == Comparison::Num)
      return a == a && b == b;
    else
      return a != a || b != b;
  }
};

/// The lanes for which a comparison holds.
using CompareFunction = LaneMask (*)(const Warp &, const Operand &,
                                     const Operand &, bool ftz);

template <Comparison c, typename T>
LaneMask compareLanes(const Warp &warp, const Operand &x, const Operand &y,
                      bool ftz) {
  const T *a = warp.source<T>(x);
  const T *b = warp.source<T>(y);
  uint32_t bit[warpSize];
  auto in = [&](T v) {
    if constexpr (std::is_same_v<T, float>)
      return ftz && std::fabs(v) < 0x1p-126f ? 0.0f : v;
    return v;
  };
  EMULATOR_LANE_LOOP
  for (unsigned l = 0; l < warpSize; ++l)
    bit[l] = uint32_t(Compare<c>::apply(in(a[l]), in(b[l]))) << l;
  LaneMask result = 0;
  for (unsigned l = 0; l < warpSize; ++l)
    result |= bit[l];
  return result;
}

/// f16 and bf16, which need a conversion.
template <Comparison c, bool isBfloat>
LaneMask compareHalf(const Warp &warp, const Operand &x, const Operand &y,
                     bool ftz) {
  const uint16_t *a = warp.source<uint16_t>(x);
  const uint16_t *b = warp.source<uint16_t>(y);
  auto in = [ftz](uint16_t v) {
    float f = isBfloat ? bfloatToFloat(v) : halfToFloat(v);
    return ftz && std::fabs(f) < (isBfloat ? 0x1p-126f : 0x1p-14f) ? 0.0f : f;
  };
  LaneMask result = 0;
  for (unsigned l = 0; l < warpSize; ++l)
    result |= LaneMask(Compare<c>::apply(in(a[l]), in(b[l]))) << l;
  return result;
}

template <Comparison c> CompareFunction pickCompare(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return compareLanes<c, uint16_t>;
  case Type::S16:
    return compareLanes<c, int16_t>;
  case Type::B32:
  case Type::U32:
    return compareLanes<c, uint32_t>;
  case Type::S32:
    return compareLanes<c, int32_t>;
  case Type::B64:
  case Type::U64:
    return compareLanes<c, uint64_t>;
  case Type::S64:
    return compareLanes<c, int64_t>;
  case Type::F32:
    return compareLanes<c, float>;
  case Type::F64:
    return compareLanes<c, double>;
  case Type::F16:
    return compareHalf<c, false>;
  case Type::BF16:
    return compareHalf<c, true>;
  default:
    return nullptr;
  }
}

CompareFunction pickCompare(Comparison c, Type type) {
  switch (c) {
#define EMULATOR_CASE(name)                                                    \
  case Comparison::name:                                                       \
    return pickCompare<Comparison::name>(type);
    EMULATOR_CASE(Eq)
    EMULATOR_CASE(Ne)
    EMULATOR_CASE(Lt)
    EMULATOR_CASE(Le)
    EMULATOR_CASE(Gt)
    EMULATOR_CASE(Ge)
    EMULATOR_CASE(Lo)
    EMULATOR_CASE(Ls)
    EMULATOR_CASE(Hi)
    EMULATOR_CASE(Hs)
    EMULATOR_CASE(Equ)
    EMULATOR_CASE(Neu)
    EMULATOR_CASE(Ltu)
    EMULATOR_CASE(Leu)
    EMULATOR_CASE(Gtu)
    EMULATOR_CASE(Geu)
    EMULATOR_CASE(Num)
    EMULATOR_CASE(Nan)
#undef EMULATOR_CASE
  case Comparison::None:
    break;
  }
  return nullptr;
}

/// What a comparison instruction computes apart from its operands.
struct CompareInfo {
  CompareFunction compare = nullptr;
  /// For the upper halves of packed operands.
  bool isPacked = false, isBfloat = false;
  bool ftz = false;
  /// 0 and, 1 or, 2 xor with the last operand; 3 none.
  int combine = 3;
};

LaneMask combined(const CompareInfo &info, LaneMask value, LaneMask with) {
  switch (info.combine) {
  case 0:
    return value & with;
  case 1:
    return value | with;
  case 2:
    return value ^ with;
  default:
    return value;
  }
}

/// setp p[|q], a, b[, c]: q is the combination of the negated comparison.
Step setpLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CompareInfo *>(inst.extra);
  const Operand *sources = inst.operands + inst.numDestinations;
  LaneMask value = info.compare(warp, sources[0], sources[1], info.ftz);
  LaneMask with = info.combine < 3 ? warp.predicate(sources[2]) : 0;
  warp.setPredicate(inst.operands[0], combined(info, value, with), mask);
  if (inst.numDestinations == 2)
    warp.setPredicate(inst.operands[1], combined(info, ~value, with), mask);
  return Step::Next;
}

/// f16x2 and bf16x2: p is of the low half, q of the high one.
using PackedCompare = bool (*)(float, float);
template <Comparison c> bool comparePair(float a, float b) {
  return Compare<c>::apply(a, b);
}

float pairElement(uint32_t bits, bool high, const CompareInfo &info) {
  uint16_t h = high ? bits >> 16 : bits;
  float f = info.isBfloat ? bfloatToFloat(h) : halfToFloat(h);
  float least = info.isBfloat ? 0x1p-126f : 0x1p-14f;
  return info.ftz && std::fabs(f) < least ? 0.0f : f;
}

struct PackedInfo : CompareInfo {
  PackedCompare pair = nullptr;
};

void comparePairs(Warp &warp, const Operand &x, const Operand &y,
                  const PackedInfo &info, LaneMask &low, LaneMask &high) {
  const uint32_t *a = warp.source<uint32_t>(x);
  const uint32_t *b = warp.source<uint32_t>(y);
  low = high = 0;
  for (unsigned l = 0; l < warpSize; ++l) {
    low |= LaneMask(info.pair(pairElement(a[l], false, info),
                              pairElement(b[l], false, info)))
           << l;
    high |= LaneMask(info.pair(pairElement(a[l], true, info),
                               pairElement(b[l], true, info)))
            << l;
  }
}

Step setpPacked(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const PackedInfo *>(inst.extra);
  const Operand *sources = inst.operands + inst.numDestinations;
  LaneMask low, high;
  comparePairs(warp, sources[0], sources[1], info, low, high);
  LaneMask with = info.combine < 3 ? warp.predicate(sources[2]) : 0;
  warp.setPredicate(inst.operands[0], combined(info, low, with), mask);
  if (inst.numDestinations == 2)
    warp.setPredicate(inst.operands[1], combined(info, high, with), mask);
  return Step::Next;
}

/// set: aux[0] is the value of true, aux[1] 1 for packed 16-bit results.
Step setLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CompareInfo *>(inst.extra);
  LaneMask value =
      info.compare(warp, inst.operands[1], inst.operands[2], info.ftz);
  LaneMask with = info.combine < 3 ? warp.predicate(inst.operands[3]) : 0;
  value = combined(info, value, with);
  eachLane(mask, [&](unsigned l) {
    warp.setLane(inst.operands[0], l, value >> l & 1 ? inst.aux[0] : 0);
  });
  return Step::Next;
}

Step setPacked(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const PackedInfo *>(inst.extra);
  LaneMask low, high;
  comparePairs(warp, inst.operands[1], inst.operands[2], info, low, high);
  LaneMask with = info.combine < 3 ? warp.predicate(inst.operands[3]) : 0;
  low = combined(info, low, with);
  high = combined(info, high, with);
  eachLane(mask, [&](unsigned l) {
    uint32_t r = (low >> l & 1 ? inst.aux[0] : 0) |
                 (high >> l & 1 ? inst.aux[0] << 16 : 0);
    warp.setLane(inst.operands[0], l, r);
  });
  return Step::Next;
}

template <typename T>
Step selpLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = warp.source<T>(inst.operands[2]);
  LaneMask p = warp.predicate(inst.operands[3]);
  forLanes(mask, [=](unsigned l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
  return Step::Next;
}

/// selp on predicates.
Step selpPredicate(Warp &warp, const Inst &inst, LaneMask mask) {
  LaneMask p = warp.predicate(inst.operands[3]);
  LaneMask value = (warp.predicate(inst.operands[1]) & p) |
                   (warp.predicate(inst.operands[2]) & ~p);
  warp.setPredicate(inst.operands[0], value, mask);
  return Step::Next;
}

/// slct: a if c >= 0, else b; c is NaN selects b.  aux[0]: .ftz.
template <typename T, typename C>
Step slctLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = warp.source<T>(inst.operands[2]);
  const C *c = warp.source<C>(inst.operands[3]);
  if (std::is_same_v<C, float> && inst.aux[0]) {
    // Negative subnormal numbers count as -0, which is no less than zero.
    forLanes(mask,
             [=](unsigned l) { d[l] = c[l] > C(-0x1p-126f) ? a[l] : b[l]; });
    return Step::Next;
  }
  forLanes(mask, [=](unsigned l) { d[l] = c[l] >= 0 ? a[l] : b[l]; });
  return Step::Next;
}

} // namespace

static Comparison takeComparison(InstDecoder &d) {
  int index =
      d.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                   "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (index < 0) {
    d.fail("expected a comparison");
    return Comparison::None;
  }
  return Comparison(index);
}

static PackedCompare pairCompare(Comparison c) {
  switch (c) {
#define EMULATOR_CASE(name)                                                    \
  case Comparison::name:                                                       \
    return comparePair<Comparison::name>;
    EMULATOR_CASE(Eq)
    EMULATOR_CASE(Ne)
    EMULATOR_CASE(Lt)
    EMULATOR_CASE(Le)
    EMULATOR_CASE(Gt)
    EMULATOR_CASE(Ge)
    EMULATOR_CASE(Equ)
    EMULATOR_CASE(Neu)
    EMULATOR_CASE(Ltu)
    EMULATOR_CASE(Leu)
    EMULATOR_CASE(Gtu)
    EMULATOR_CASE(Geu)
    EMULATOR_CASE(Num)
    EMULATOR_CASE(Nan)
#undef EMULATOR_CASE
  default:
    return nullptr;
  }
}

static bool decodeSetp(InstDecoder &d) {
  PackedInfo info;
  Comparison comparison = takeComparison(d);
  info.combine = d.takeOneOf({"and", "or", "xor"});
  if (info.combine < 0)
    info.combine = 3;
  info.ftz = d.take("ftz");
  Type type = d.needType();
  if (d.failed() || !d.needOperands(info.combine < 3 ? 4 : 3))
    return false;
  info.isPacked = type == Type::F16x2 || type == Type::BF16x2;
  info.isBfloat = type == Type::BF16x2;
  const OperandSyntax &first = d.statement.operands[0];
  if (first.kind == OperandSyntax::Kind::Pair) {
    if (!d.addDest(first.children[0], Type::Pred) ||
        !d.addDest(first.children[1], Type::Pred))
      return false;
  } else if (!d.addDest(0, Type::Pred)) {
    return false;
  }
  if (!d.addSource(1, type) || !d.addSource(2, type) ||
      (info.combine < 3 && !d.addSource(3, Type::Pred)))
    return false;
  if (info.isPacked)
    info.pair = pairCompare(comparison);
  else
    info.compare = pickCompare(comparison, type);
  if (!info.pair && !info.compare)
    return d.finish(nullptr);
  d.setExtra(info);
  return d.finish(info.isPacked ? setpPacked : setpLanes);
}

static bool decodeSet(InstDecoder &d) {
  PackedInfo info;
  Comparison comparison = takeComparison(d);
  info.combine = d.takeOneOf({"and", "or", "xor"});
  if (info.combine < 0)
    info.combine = 3;
  info.ftz = d.take("ftz");
  Type dest = d.needType(), type = d.needType();
  if (d.failed() || !d.needOperands(info.combine < 3 ? 4 : 3) ||
      !d.addDest(0, dest) || !d.addSource(1, type) || !d.addSource(2, type) ||
      (info.combine < 3 && !d.addSource(3, Type::Pred)))
    return false;
  info.isPacked = type == Type::F16x2 || type == Type::BF16x2;
  info.isBfloat = type == Type::BF16x2;
  switch (dest) {
  case Type::F32:
    d.inst.aux[0] = 0x3F800000;
    break;
  case Type::F16:
  case Type::F16x2:
    d.inst.aux[0] = 0x3C00;
    break;
  case Type::BF16:
  case Type::BF16x2:
    d.inst.aux[0] = 0x3F80;
    break;
  case Type::U16:
  case Type::S16:
    d.inst.aux[0] = 0xFFFF;
    break;
  default:
    d.inst.aux[0] = info.isPacked ? 0xFFFF : ~0u;
    break;
  }
  if (info.isPacked)
    info.pair = pairCompare(comparison);
  else
    info.compare = pickCompare(comparison, type);
  if (!info.pair && !info.compare)
    return d.finish(nullptr);
  d.setExtra(info);
  return d.finish(info.isPacked ? setPacked : setLanes);
}

static bool decodeSelp(InstDecoder &d) {
  Type type = d.needType();
  if (!d.needOperands(4) || !d.addDest(0, type) || !d.addSource(1, type) ||
      !d.addSource(2, type) || !d.addSource(3, Type::Pred))
    return false;
  switch (bitWidth(type)) {
  case 1:
    return d.finish(selpPredicate);
  case 16:
    return d.finish(selpLanes<uint16_t>);
  case 32:
    return d.finish(selpLanes<uint32_t>);
  case 64:
    return d.finish(selpLanes<uint64_t>);
  default:
    return d.finish(nullptr);
  }
}

static bool decodeSlct(InstDecoder &d) {
  d.inst.aux[0] = d.take("ftz");
  Type type = d.needType(), condition = d.needType();
  if (!d.needOperands(4) || !d.addDest(0, type) || !d.addSource(1, type) ||
      !d.addSource(2, type) || !d.addSource(3, condition))
    return false;
  bool isFloat = condition == Type::F32;
  if (!isFloat && condition != Type::S32)
    return d.finish(nullptr);
  switch (bitWidth(type)) {
  case 16:
    return d.finish(isFloat ? slctLanes<uint16_t, float>
                            : slctLanes<uint16_t, int32_t>);
  case 32:
    return d.finish(isFloat ? slctLanes<uint32_t, float>
                            : slctLanes<uint32_t, int32_t>);
  case 64:
    return d.finish(isFloat ? slctLanes<uint64_t, float>
                            : slctLanes<uint64_t, int32_t>);
  default:
    return d.finish(nullptr);
  }
}

void tile_dialect::emulator::registerCompareOps(OpcodeTable &table) {
  table.add("setp", decodeSetp, InstructionClass::Compare);
  table.add("set", decodeSet, InstructionClass::Compare);
  table.add("selp", decodeSelp, InstructionClass::Compare);
  table.add("slct", decodeSlct, InstructionClass::Compare);
}
