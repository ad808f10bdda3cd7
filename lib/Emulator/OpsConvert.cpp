//===- OpsConvert.cpp - cvt and cvt.pack ---*- C++ -*-===//
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

struct ConvertInfo {
  Type to = Type::None, from = Type::None;
  Rounding rounding = Rounding::NearestEven;
  /// `.rni` and the like: the result is an integral value.
  bool toIntegral = false;
  bool ftz = false, sat = false, satfinite = false, relu = false;
  /// Sources that are packed into one result (the first is the upper half).
  unsigned sources = 1;
  bool stochastic = false;
};

//===----------------------------------------------------------------------===//
// The frequent conversions
//===----------------------------------------------------------------------===//

struct Resize {
  template <typename To, typename From> static To apply(From value) {
    return To(value);
  }
};

template <typename To, typename From>
Step resizeLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  To *d = warp.dest<To>(inst.operands[0]);
  const From *a = warp.source<From>(inst.operands[1]);
  forLanes(mask, [=](unsigned l) { d[l] = To(a[l]); });
  return Step::Next;
}

struct HalfToFloat {
  static float apply(uint16_t h) { return halfToFloat(h); }
};
struct BfloatToFloat {
  static float apply(uint16_t h) { return bfloatToFloat(h); }
};
struct FloatToHalf {
  static uint16_t apply(float f) { return floatToHalf(f); }
};
struct FloatToBfloat {
  static uint16_t apply(float f) { return floatToBfloat(f); }
};
struct IntToFloat {
  template <typename T> static float apply(T value) { return float(value); }
};

//===----------------------------------------------------------------------===//
// The general conversion
//===----------------------------------------------------------------------===//

/// A value on its way: an integer or a float.
struct Value {
  bool isFloat = false;
  uint64_t integer = 0;
  double number = 0;
};

uint64_t signExtend(uint64_t value, unsigned bits) {
  return bits < 64 ? uint64_t(int64_t(value << (64 - bits)) >> (64 - bits))
                   : value;
}
uint64_t zeroExtend(uint64_t value, unsigned bits) {
  return bits < 64 ? value & ((uint64_t(1) << bits) - 1) : value;
}

double flushDouble(double value, double least) {
  return std::fabs(value) < least ? std::copysign(0.0, value) : value;
}

Value readValue(Type type, uint64_t bits, const ConvertInfo &info) {
  Value value;
  if (isFloatType(type)) {
    value.isFloat = true;
    if (type == Type::F64)
      value.number = doubleFromBits(bits);
    else if (type == Type::F32 || type == Type::TF32)
      value.number = floatFromBits(bits);
    else
      value.number = decodeFloat(*smallFormat(type), bits);
    // The hardware keeps subnormal operands of f16.f32, .ftz or not.
    if (info.ftz && type == Type::F32 && info.to != Type::F16)
      value.number = flushDouble(value.number, 0x1p-126);
    return value;
  }
  value.integer = isSignedType(type) ? signExtend(bits, bitWidth(type))
                                     : zeroExtend(bits, bitWidth(type));
  return value;
}

/// Float to integer clamps to the range.  NaN gives zero, or the pattern of the
/// lowest signed number if the source or the result has 64 bits (PTX ISA,
/// "cvt").
uint64_t floatToInteger(double number, Type to, const ConvertInfo &info) {
  unsigned bits = bitWidth(to);
  bool isSigned = isSignedType(to);
  if (std::isnan(number))
    return bits == 64 || info.from == Type::F64 ? uint64_t(1) << (bits - 1) : 0;
  number = roundToInteger(number, info.rounding);
  if (isSigned) {
    double limit = std::ldexp(1.0, bits - 1);
    if (number >= limit)
      return (uint64_t(1) << (bits - 1)) - 1;
    if (number < -limit)
      return zeroExtend(uint64_t(1) << (bits - 1), bits);
    return zeroExtend(uint64_t(int64_t(number)), bits);
  }
  if (number >= std::ldexp(1.0, bits))
    return zeroExtend(~uint64_t(0), bits);
  return number <= 0 ? 0 : uint64_t(number);
}

uint64_t integerToInteger(uint64_t value, Type from, Type to, bool sat) {
  unsigned bits = bitWidth(to);
  if (!sat)
    return zeroExtend(value, bits);
  bool fromSigned = isSignedType(from), toSigned = isSignedType(to);
  int64_t asSigned = int64_t(value);
  if (toSigned) {
    int64_t high = int64_t((uint64_t(1) << (bits - 1)) - 1), low = -high - 1;
    if (fromSigned ? asSigned > high : value > uint64_t(high))
      return high;
    if (fromSigned && asSigned < low)
      return zeroExtend(uint64_t(low), bits);
    return zeroExtend(value, bits);
  }
  if (fromSigned && asSigned < 0)
    return 0;
  uint64_t high = zeroExtend(~uint64_t(0), bits);
  return value > high ? high : value;
}

double clampUnit(double number) {
  return number > 0 ? (number < 1 ? number : 1.0) : 0.0;
}

/// Rounds a float to a float type.
uint64_t floatToFloat(double number, Type to, const ConvertInfo &info) {
  if (info.toIntegral && !std::isnan(number))
    number = roundToInteger(number, info.rounding);
  if (info.sat)
    number = clampUnit(number);
  if (info.relu && !std::isnan(number) && !(number > 0))
    number = 0;
  Rounding rounding = info.toIntegral ? Rounding::NearestEven : info.rounding;
  if (to == Type::F64)
    return bitsOfDouble(number);
  if (to == Type::F32) {
    float narrow = std::isnan(number) ? floatFromBits(0x7FFFFFFF)
                                      : roundToFloat(number, rounding);
    return bitsOfFloat(info.ftz ? flushDouble(narrow, 0x1p-126) : narrow);
  }
  if (to == Type::TF32)
    return bitsOfFloat(roundToTF32(float(number), rounding));
  return encodeFloat(*smallFormat(to), number, rounding, info.satfinite);
}

uint64_t integerToFloat(uint64_t value, bool isSigned, Type to,
                        const ConvertInfo &info) {
  if (to == Type::F64) {
    double number = intToDouble(value, isSigned, info.rounding);
    return bitsOfDouble(info.sat ? clampUnit(number) : number);
  }
  if (to == Type::F32) {
    float number = intToFloat(value, isSigned, info.rounding);
    return bitsOfFloat(info.sat ? float(clampUnit(number)) : number);
  }
  // Integers of 64 bits do not fit a double: what is below its last bit only
  // decides that the value is not exact.
  bool negative = isSigned && int64_t(value) < 0;
  uint64_t magnitude = negative ? -value : value;
  if (magnitude >> 53)
    magnitude = (magnitude >> 11 | ((magnitude & 0x7FF) != 0)) << 11;
  double number = negative ? -double(magnitude) : double(magnitude);
  return floatToFloat(number, to, info);
}

/// .rna.tf32 does not look at NaN: its payload is cut off, and .satfinite takes
/// one from whatever has the exponent of infinity.
uint32_t nearestAwayTF32(uint32_t bits, bool satfinite) {
  bool isSpecial = (bits & 0x7F800000) == 0x7F800000;
  uint32_t result = (isSpecial ? bits : bits + 0x1000) & ~0x1FFFu;
  if (satfinite && (result & 0x7F800000) == 0x7F800000)
    result -= 0x2000;
  return result;
}

uint64_t convertOne(uint64_t bits, const ConvertInfo &info) {
  if (info.to == Type::TF32 && info.rounding == Rounding::NearestAway)
    return nearestAwayTF32(bits, info.satfinite);
  Value value = readValue(info.from, bits, info);
  bool toFloat = isFloatType(info.to);
  if (value.isFloat)
    return toFloat ? floatToFloat(value.number, info.to, info)
                   : floatToInteger(value.number, info.to, info);
  if (toFloat)
    return integerToFloat(value.integer, isSignedType(info.from), info.to,
                          info);
  return integerToInteger(value.integer, info.from, info.to, info.sat);
}

unsigned elementsOf(Type type) {
  switch (type) {
  case Type::F16x2:
  case Type::BF16x2:
  case Type::E4M3x2:
  case Type::E5M2x2:
  case Type::E2M1x2:
  case Type::E2M3x2:
  case Type::E3M2x2:
  case Type::UE8M0x2:
    return 2;
  case Type::E4M3x4:
  case Type::E5M2x4:
  case Type::E2M1x4:
  case Type::E2M3x4:
  case Type::E3M2x4:
    return 4;
  default:
    return 1;
  }
}

/// The bits that an element takes in its packed type: the 6-bit formats lie in
/// bytes.
unsigned elementBits(Type type) { return bitWidth(type) / elementsOf(type); }

/// A value written into a register that may be wider than the type: signed
/// integers are sign-extended, all else is zero-extended.
void writeResult(Warp &warp, const Inst &inst, unsigned l, uint64_t bits,
                 Type to) {
  if (isSignedType(to))
    bits = signExtend(bits, bitWidth(to));
  warp.setLane(inst.operands[0], l, bits);
}

Step convertLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const ConvertInfo *>(inst.extra);
  eachLane(mask, [&](unsigned l) {
    writeResult(warp, inst, l, convertOne(warp.lane(inst.operands[1], l), info),
                info.to);
  });
  return Step::Next;
}

/// ue8m0: powers of two, exponent bias 127, no sign. What is too large is the
/// largest number with .satfinite, else NaN.
uint32_t encodeUE8M0(double value, Rounding rounding, bool satfinite) {
  int largest = 254, overflow = satfinite ? largest : 0xFF;
  if (std::isnan(value))
    return 0xFF;
  value = std::fabs(value);
  if (value == 0)
    return 0;
  if (std::isinf(value))
    return overflow;
  int exponent = std::ilogb(value);
  bool exact = std::ldexp(1.0, exponent) == value;
  if (!exact && rounding == Rounding::Up)
    ++exponent;
  int code = exponent + 127;
  return code < 0 ? 0 : code > largest ? overflow : code;
}

/// Several floats packed into one register; the first source is uppermost.
Step packLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const ConvertInfo *>(inst.extra);
  unsigned bits = elementBits(info.to);
  const FloatFormat *format = smallFormat(info.to);
  eachLane(mask, [&](unsigned l) {
    uint64_t result = 0;
    for (unsigned i = 0; i < info.sources; ++i) {
      double number =
          readValue(info.from, warp.lane(inst.operands[1 + i], l), info).number;
      if (info.relu && !std::isnan(number) && !(number > 0))
        number = 0;
      uint32_t code;
      if (info.stochastic) {
        uint32_t random = warp.lane(inst.operands[1 + info.sources], l);
        // Two results share the 32 random bits, four share them in pairs.
        unsigned randomBits = bits == 16 ? 16 : 8;
        unsigned shift = (info.sources - 1 - i) * randomBits % 32;
        code = encodeStochastic(*format, number,
                                random >> shift & ((1u << randomBits) - 1),
                                randomBits, info.satfinite);
      } else if (!format) {
        code = encodeUE8M0(number, info.rounding, info.satfinite);
      } else {
        code = encodeFloat(*format, number, info.rounding, info.satfinite);
      }
      result = result << bits | code;
    }
    warp.setLane(inst.operands[0], l, result);
  });
  return Step::Next;
}

/// A packed small format to a packed wider one or from it.
Step repackLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const ConvertInfo *>(inst.extra);
  unsigned count = elementsOf(info.to);
  unsigned fromBits = elementBits(info.from), toBits = elementBits(info.to);
  const FloatFormat *from = smallFormat(info.from);
  const FloatFormat *to = smallFormat(info.to);
  eachLane(mask, [&](unsigned l) {
    uint64_t source = warp.lane(inst.operands[1], l), result = 0;
    for (unsigned i = 0; i < count; ++i) {
      uint32_t code = source >> (fromBits * i) & ((1u << fromBits) - 1);
      double number;
      if (from)
        number = decodeFloat(*from, code & ((1u << from->bits()) - 1));
      else
        number = code == 0xFF ? NAN : std::ldexp(1.0, int(code) - 127);
      if (info.relu && !std::isnan(number) && !(number > 0))
        number = 0;
      uint64_t encoded =
          to ? encodeFloat(*to, number, info.rounding, info.satfinite)
             : encodeUE8M0(number, info.rounding, info.satfinite);
      result |= encoded << (toBits * i);
    }
    warp.setLane(inst.operands[0], l, result);
  });
  return Step::Next;
}

/// cvt.pack: aux[0] is 8, 4 or 2 bits a value from s32, or 16; aux[1] signed.
Step cvtPackLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  unsigned bits = inst.aux[0];
  Type to = Type(inst.aux[1]);
  bool isSigned = isSignedType(to);
  eachLane(mask, [&](unsigned l) {
    auto clamp = [&](uint64_t raw) {
      int64_t value = int32_t(raw);
      int64_t high =
          isSigned ? (int64_t(1) << (bits - 1)) - 1 : (int64_t(1) << bits) - 1;
      int64_t low = isSigned ? -high - 1 : 0;
      value = value > high ? high : value < low ? low : value;
      return uint32_t(value) & ((1u << bits) - 1);
    };
    uint32_t a = clamp(warp.lane(inst.operands[1], l));
    uint32_t b = clamp(warp.lane(inst.operands[2], l));
    uint32_t c = inst.numOperands > 3 ? warp.lane(inst.operands[3], l) : 0;
    uint32_t pair = a << bits | b;
    warp.setLane(inst.operands[0], l,
                 inst.numOperands > 3 ? c << (2 * bits) | pair : pair);
  });
  return Step::Next;
}

template <typename To> Handler pickResize(Type from) {
  switch (from) {
  case Type::B16:
  case Type::U16:
    return resizeLanes<To, uint16_t>;
  case Type::S16:
    return resizeLanes<To, int16_t>;
  case Type::B32:
  case Type::U32:
    return resizeLanes<To, uint32_t>;
  case Type::S32:
    return resizeLanes<To, int32_t>;
  case Type::B64:
  case Type::U64:
    return resizeLanes<To, uint64_t>;
  case Type::S64:
    return resizeLanes<To, int64_t>;
  default:
    return nullptr;
  }
}

/// A vectorised handler where registers have exactly the types' widths and no
/// modifier matters; else null.
Handler pickFast(const ConvertInfo &info, const Operand &dest,
                 const Operand &source) {
  if (dest.bytes * 8u != bitWidth(info.to) ||
      source.bytes * 8u != bitWidth(info.from) || info.sat || info.relu ||
      info.toIntegral || info.ftz || info.satfinite ||
      info.rounding != Rounding::NearestEven)
    return nullptr;
  if (isIntegerOrBits(info.to) && isIntegerOrBits(info.from)) {
    switch (dest.bytes) {
    case 2:
      return pickResize<uint16_t>(info.from);
    case 4:
      return pickResize<uint32_t>(info.from);
    default:
      return pickResize<uint64_t>(info.from);
    }
  }
  if (info.to == Type::F32) {
    switch (info.from) {
    case Type::F16:
      return unaryLanes<HalfToFloat, float, uint16_t>;
    case Type::BF16:
      return unaryLanes<BfloatToFloat, float, uint16_t>;
    case Type::S32:
      return unaryLanes<IntToFloat, float, int32_t>;
    case Type::U32:
      return unaryLanes<IntToFloat, float, uint32_t>;
    default:
      return nullptr;
    }
  }
  if (info.from == Type::F32 && info.to == Type::F16)
    return unaryLanes<FloatToHalf, uint16_t, float>;
  if (info.from == Type::F32 && info.to == Type::BF16)
    return unaryLanes<FloatToBfloat, uint16_t, float>;
  return nullptr;
}

} // namespace

/// cvt.pack.sat.{u16,s16,u8,s8,u4,s4,u2,s2}.s32[.b32].
static bool decodeCvtPack(InstDecoder &d) {
  if (!d.take("sat"))
    return d.fail("cvt.pack needs .sat");
  unsigned bits = 0;
  Type to = Type::None;
  int two = d.takeOneOf({"u2", "s2"});
  if (two >= 0) {
    bits = 2;
    to = two ? Type::S32 : Type::U32;
  } else {
    to = d.needType();
    bits = bitWidth(to);
  }
  if (d.needType() != Type::S32 || bits > 16)
    return d.finish(nullptr);
  bool hasThird = d.take("b32");
  d.inst.aux[0] = bits;
  d.inst.aux[1] = uint32_t(to);
  if (!d.needOperands(hasThird ? 4 : 3) || !d.addDest(0, Type::B32) ||
      !d.addSource(1, Type::S32) || !d.addSource(2, Type::S32) ||
      (hasThird && !d.addSource(3, Type::B32)))
    return false;
  return d.finish(cvtPackLanes);
}

static bool decodeCvt(InstDecoder &d) {
  if (d.take("pack"))
    return decodeCvtPack(d);
  ConvertInfo info;
  int integral = d.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  int rounding = d.takeOneOf({"rn", "rz", "rm", "rp", "rna", "rs"});
  if (integral >= 0) {
    info.toIntegral = true;
    info.rounding = Rounding(integral);
  } else if (rounding >= 0) {
    info.rounding = Rounding(rounding);
    info.stochastic = info.rounding == Rounding::Stochastic;
  }
  info.relu = d.take("relu");
  info.satfinite = d.take("satfinite");
  info.ftz = d.take("ftz");
  info.sat = d.take("sat");
  info.to = d.needType();
  info.from = d.needType();
  if (d.failed())
    return false;
  bool toFloat = isFloatType(info.to), fromFloat = isFloatType(info.from);
  if (info.to == Type::F32x2 || info.from == Type::F32x2 ||
      info.from == Type::UE4M3 || info.to == Type::UE4M3)
    return d.finish(nullptr);
  if (fromFloat && !toFloat) {
    if (integral < 0)
      return d.fail("a conversion from float to integer needs .rni, .rzi, .rmi "
                    "or .rpi");
    info.toIntegral = true;
  }
  unsigned toCount = elementsOf(info.to), fromCount = elementsOf(info.from);
  if (fromCount > 1) {
    if (toCount != fromCount)
      return d.finish(nullptr);
    if (!d.needOperands(2) || !d.addDest(0, info.to, true) ||
        !d.addSource(1, info.from, true))
      return false;
    d.setExtra(info);
    return d.finish(repackLanes);
  }
  if (toCount > 1) {
    // cvt d, a, b; or d, {a, b, e, f}, random.
    const OperandSyntax *sources = nullptr;
    unsigned next = 1;
    if (!d.needOperands(2, 4) || !d.addDest(0, info.to, true))
      return false;
    if (d.statement.operands[1].kind == OperandSyntax::Kind::Vector) {
      sources = d.statement.operands[1].children.data();
      if (d.statement.operands[1].children.size() != toCount)
        return d.fail("expected " + llvm::Twine(toCount) + " sources");
      next = 2;
    } else {
      sources = &d.statement.operands[1];
      if (toCount != 2 || !d.needOperands(info.stochastic ? 4 : 3))
        return d.failed() ? false : d.finish(nullptr);
      next = 3;
    }
    for (unsigned i = 0; i < toCount; ++i)
      if (!d.addSource(sources[i], info.from))
        return false;
    if (info.stochastic &&
        (!d.needOperands(next + 1) || !d.addSource(next, Type::B32)))
      return false;
    info.sources = toCount;
    d.setExtra(info);
    return d.finish(packLanes);
  }
  if (info.stochastic)
    return d.finish(nullptr);
  if (!d.needOperands(2) || !d.addDest(0, info.to, true) ||
      !d.addSource(1, info.from, true))
    return false;
  Handler fast = pickFast(info, d.operands[0], d.operands[1]);
  d.setExtra(info);
  return d.finish(fast ? fast : convertLanes);
}

void tile_dialect::emulator::registerConvertOps(OpcodeTable &table) {
  table.add("cvt", decodeCvt, InstructionClass::Convert);
}
