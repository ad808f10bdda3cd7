//===- OpsInteger.cpp - Integer and bit instructions ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include <limits>
#include <type_traits>

using namespace tile_dialect::emulator;

namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T> using Signed = std::make_signed_t<T>;

/// An unsigned type that arithmetic does not promote to a signed one.
template <typename T>
using Wrapping =
    std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

//===----------------------------------------------------------------------===//
// Operations on one lane
//===----------------------------------------------------------------------===//

struct Add {
  template <typename T> static T apply(T a, T b) {
    return T(Wrapping<T>(a) + Wrapping<T>(b));
  }
};
struct Sub {
  template <typename T> static T apply(T a, T b) {
    return T(Wrapping<T>(a) - Wrapping<T>(b));
  }
};
struct AddSat {
  static int32_t apply(int32_t a, int32_t b) {
    int64_t sum = int64_t(a) + b;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  }
};
struct SubSat {
  static int32_t apply(int32_t a, int32_t b) {
    int64_t sum = int64_t(a) - b;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  }
};
struct MulLo {
  template <typename T> static T apply(T a, T b) {
    return T(Wrapping<T>(a) * Wrapping<T>(b));
  }
};
/// A type that holds the product of two T.
template <typename T> struct WideOf;
template <> struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <> struct WideOf<int16_t> {
  using type = int32_t;
};
template <> struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <> struct WideOf<int32_t> {
  using type = int64_t;
};
template <> struct WideOf<uint64_t> {
  using type = unsigned __int128;
};
template <> struct WideOf<int64_t> {
  using type = __int128;
};
template <typename T> using Wide = typename WideOf<T>::type;

struct MulHi {
  template <typename T> static T apply(T a, T b) {
    return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <typename T> static Wide<T> apply(T a, T b) {
    return Wide<T>(a) * Wide<T>(b);
  }
};
/// The low and high 32 bits of a 24-bit product.
template <typename T> T low24(T a) {
  return std::is_signed_v<T> ? T(int32_t(uint32_t(a) << 8) >> 8)
                             : T(a & 0xFFFFFF);
}
struct Mul24Lo {
  template <typename T> static T apply(T a, T b) {
    return T(Wide<T>(low24(a)) * low24(b));
  }
};
struct Mul24Hi {
  template <typename T> static T apply(T a, T b) {
    return T((Wide<T>(low24(a)) * low24(b)) >> 16);
  }
};
template <typename Product> struct Mad {
  template <typename T, typename C> static C apply(T a, T b, C c) {
    return Add::apply<C>(Product::template apply<T>(a, b), c);
  }
};
template <typename Product> struct MadSat {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return AddSat::apply(Product::apply(a, b), c);
  }
};
/// A division by zero gives all ones, and so does its remainder, as the
/// hardware does.
struct Div {
  template <typename T> static T apply(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return Sub::apply<T>(0, a);
    return a / b;
  }
};
struct Rem {
  template <typename T> static T apply(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return a % b;
  }
};
struct Abs {
  template <typename T> static T apply(T a) {
    return a < 0 ? Sub::apply<T>(0, a) : a;
  }
};
struct Neg {
  template <typename T> static T apply(T a) { return Sub::apply<T>(0, a); }
};
struct Min {
  template <typename T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <typename T> static T apply(T a, T b) { return a < b ? b : a; }
};
template <typename Op> struct Relu {
  template <typename T> static T apply(T a, T b) {
    return Max::apply<T>(Op::template apply<T>(a, b), 0);
  }
};
/// Two 16-bit halves.
template <typename Op, typename Half> struct Packed {
  static uint32_t apply(uint32_t a, uint32_t b) {
    uint16_t low = Op::template apply<Half>(Half(a), Half(b));
    uint16_t high = Op::template apply<Half>(Half(a >> 16), Half(b >> 16));
    return low | uint32_t(high) << 16;
  }
};
struct And {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <typename T> static T apply(T a, T b) { return a ^ b; }
};
struct Not {
  template <typename T> static T apply(T a) { return ~a; }
};
struct Cnot {
  template <typename T> static T apply(T a) { return a == 0; }
};
struct Shl {
  template <typename T> static T apply(T a, uint32_t b) {
    return b >= 8 * sizeof(T) ? 0 : T(a << b);
  }
};
struct Shr {
  template <typename T> static T apply(T a, uint32_t b) {
    constexpr uint32_t bits = 8 * sizeof(T);
    if (std::is_signed_v<T>)
      return a >> (b >= bits ? bits - 1 : b);
    return b >= bits ? 0 : T(a >> b);
  }
};
template <bool isLeft, bool wraps> struct FunnelShift {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t n = wraps ? c & 31 : (c > 32 ? 32 : c);
    uint64_t both = uint64_t(b) << 32 | a;
    return isLeft ? uint32_t((both << n) >> 32) : uint32_t(both >> n);
  }
};
struct Popc {
  template <typename T> static uint32_t apply(T a) {
    return llvm::popcount(Unsigned<T>(a));
  }
};
struct Clz {
  template <typename T> static uint32_t apply(T a) {
    return llvm::countl_zero(Unsigned<T>(a));
  }
};
template <bool isShift> struct Bfind {
  template <typename T> static uint32_t apply(T a) {
    Unsigned<T> bits = std::is_signed_v<T> && a < 0 ? ~a : a;
    if (bits == 0)
      return ~0u;
    uint32_t zeros = llvm::countl_zero(bits);
    return isShift ? zeros : 8 * sizeof(T) - 1 - zeros;
  }
};
struct Brev {
  template <typename T> static T apply(T a) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      result |= ((a >> i) & 1) << (8 * sizeof(T) - 1 - i);
    return result;
  }
};
/// PTX ISA, "Integer Arithmetic Instructions: bfe".  Position and length are
/// below 256; what the hardware does with more differs by the width.
struct Bfe {
  template <typename T> static T apply(T a, uint32_t b, uint32_t c) {
    constexpr uint32_t msb = 8 * sizeof(T) - 1;
    constexpr uint32_t most = sizeof(T) == 8 ? ~0u : 0xFF;
    uint64_t pos = b & most, len = c & most;
    using U = Unsigned<T>;
    U bits = U(a);
    U result = 0;
    if (len == 0)
      return 0;
    result = pos > msb ? 0 : bits >> pos;
    U mask = len > msb ? ~U(0) : (U(1) << len) - 1;
    result &= mask;
    if (std::is_signed_v<T>) {
      uint64_t signAt = pos + len - 1 > msb ? msb : pos + len - 1;
      bool sign = bits >> signAt & 1;
      // Bits that lie above the operand are the sign as well.
      uint64_t valid = pos > msb ? 0 : msb - pos + 1;
      uint64_t kept = len < valid ? len : valid;
      if (sign)
        result |= kept > msb ? 0 : ~U(0) << kept;
    }
    return T(result);
  }
};
struct Bfi {
  template <typename T> static T apply(T a, T b, uint32_t c, uint32_t d) {
    constexpr uint32_t msb = 8 * sizeof(T) - 1;
    uint32_t pos = c & 0xFF, len = d & 0xFF;
    if (len == 0 || pos > msb)
      return b;
    T mask = len > msb ? ~T(0) : (T(1) << len) - 1;
    mask <<= pos;
    return (b & ~mask) | ((a << pos) & mask);
  }
};
struct Sad {
  template <typename T> static T apply(T a, T b, T c) {
    T difference = a < b ? Sub::apply<T>(b, a) : Sub::apply<T>(a, b);
    return Add::apply<T>(c, difference);
  }
};
template <bool aSigned, bool bSigned> struct Dp4a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned i = 0; i < 32; i += 8) {
      int32_t x = aSigned ? int8_t(a >> i) : uint8_t(a >> i);
      int32_t y = bSigned ? int8_t(b >> i) : uint8_t(b >> i);
      c += uint32_t(x * y);
    }
    return c;
  }
};
template <bool aSigned, bool bSigned, bool isHigh> struct Dp2a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    b >>= isHigh ? 16 : 0;
    for (unsigned i = 0; i < 2; ++i) {
      int32_t x = aSigned ? int32_t(int16_t(a >> (16 * i)))
                          : int32_t(uint16_t(a >> (16 * i)));
      int32_t y = bSigned ? int32_t(int8_t(b >> (8 * i)))
                          : int32_t(uint8_t(b >> (8 * i)));
      c += uint32_t(x) * uint32_t(y);
    }
    return c;
  }
};
/// PTX ISA, "Data Movement and Conversion Instructions: prmt".
struct Prmt {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      unsigned selector = c >> (4 * i) & 0xF;
      uint8_t byte = bytes >> (8 * (selector & 7));
      if (selector & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      result |= uint32_t(byte) << (8 * i);
    }
    return result;
  }
};
/// The six modes of prmt, each turned into the selectors of the plain form.
template <unsigned mode> struct PrmtMode {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    static const uint16_t selectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
        {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
        {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
        {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
        {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
        {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
    };
    return Prmt::apply(a, b, selectors[mode][c & 3]);
  }
};
template <bool clamps> struct Bmsk {
  static uint32_t apply(uint32_t a, uint32_t b) {
    uint64_t start = clamps ? a : a & 31, width = clamps ? b : b & 31;
    if (start >= 32 || width == 0)
      return 0;
    uint64_t mask = width >= 32 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
    return mask << start;
  }
};
template <bool clamps, typename T> struct Szext {
  static uint32_t apply(T a, uint32_t b) {
    uint32_t n = clamps ? (b > 32 ? 32 : b) : b & 31;
    if (n == 0)
      return 0;
    if (n >= 32)
      return a;
    uint32_t up = uint32_t(a) << (32 - n);
    return std::is_signed_v<T> ? uint32_t(int32_t(up) >> (32 - n))
                               : up >> (32 - n);
  }
};
/// PTX ISA, "Integer Arithmetic Instructions: fns".
struct Fns {
  static uint32_t apply(uint32_t mask, uint32_t base, int32_t offset) {
    if (offset == 0)
      return base < 32 && (mask >> base & 1) ? base : ~0u;
    int step = offset > 0 ? 1 : -1;
    int wanted = offset > 0 ? offset : -offset, found = 0;
    for (int position = base; position >= 0 && position < 32; position += step)
      if ((mask >> position & 1) && ++found == wanted)
        return position;
    return ~0u;
  }
};

//===----------------------------------------------------------------------===//
// Choice of handlers
//===----------------------------------------------------------------------===//

template <typename Op> Handler unaryInteger(Type type) {
  switch (type) {
  case Type::U16:
    return unaryLanes<Op, uint16_t, uint16_t>;
  case Type::B16:
    return unaryLanes<Op, uint16_t, uint16_t>;
  case Type::S16:
    return unaryLanes<Op, int16_t, int16_t>;
  case Type::B32:
  case Type::U32:
    return unaryLanes<Op, uint32_t, uint32_t>;
  case Type::S32:
    return unaryLanes<Op, int32_t, int32_t>;
  case Type::B64:
  case Type::U64:
    return unaryLanes<Op, uint64_t, uint64_t>;
  case Type::S64:
    return unaryLanes<Op, int64_t, int64_t>;
  default:
    return nullptr;
  }
}

template <typename Op> Handler binaryInteger(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return binaryLanes<Op, uint16_t, uint16_t>;
  case Type::S16:
    return binaryLanes<Op, int16_t, int16_t>;
  case Type::B32:
  case Type::U32:
    return binaryLanes<Op, uint32_t, uint32_t>;
  case Type::S32:
    return binaryLanes<Op, int32_t, int32_t>;
  case Type::B64:
  case Type::U64:
    return binaryLanes<Op, uint64_t, uint64_t>;
  case Type::S64:
    return binaryLanes<Op, int64_t, int64_t>;
  default:
    return nullptr;
  }
}

template <typename Op> Handler ternaryInteger(Type type) {
  switch (type) {
  case Type::U16:
    return ternaryLanes<Op, uint16_t, uint16_t>;
  case Type::S16:
    return ternaryLanes<Op, int16_t, int16_t>;
  case Type::U32:
    return ternaryLanes<Op, uint32_t, uint32_t>;
  case Type::S32:
    return ternaryLanes<Op, int32_t, int32_t>;
  case Type::U64:
    return ternaryLanes<Op, uint64_t, uint64_t>;
  case Type::S64:
    return ternaryLanes<Op, int64_t, int64_t>;
  default:
    return nullptr;
  }
}

/// Counting operations: the operand has the type, the result 32 bits.
template <typename Op> Handler countInteger(Type type) {
  switch (type) {
  case Type::B32:
  case Type::U32:
    return unaryLanes<Op, uint32_t, uint32_t>;
  case Type::S32:
    return unaryLanes<Op, uint32_t, int32_t>;
  case Type::B64:
  case Type::U64:
    return unaryLanes<Op, uint32_t, uint64_t>;
  case Type::S64:
    return unaryLanes<Op, uint32_t, int64_t>;
  default:
    return nullptr;
  }
}

template <typename Op> Handler packedInteger(Type type) {
  if (type == Type::U16x2)
    return binaryLanes<Packed<Op, uint16_t>, uint32_t, uint32_t>;
  if (type == Type::S16x2)
    return binaryLanes<Packed<Op, int16_t>, uint32_t, uint32_t>;
  return nullptr;
}

} // namespace

static Type wideType(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  case Type::S32:
    return Type::S64;
  default:
    return Type::None;
  }
}

static bool addOperands(InstDecoder &d, Type dest, Type source,
                        unsigned sources) {
  if (!d.needOperands(1 + sources) || !d.addDest(0, dest))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!d.addSource(i, source))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Carry
//===----------------------------------------------------------------------===//

/// add/sub with carry: aux[0] bit 0 subtracts, bit 1 takes the carry in, bit 2
/// sets it.
template <typename T>
static Step carryLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = warp.source<T>(inst.operands[2]);
  bool isSub = inst.aux[0] & 1, takes = inst.aux[0] & 2, sets = inst.aux[0] & 4;
  LaneMask carry = warp.carry;
  eachLane(mask, [&](unsigned l) {
    bool in = takes && (warp.carry >> l & 1);
    unsigned __int128 wide = isSub ? (unsigned __int128)(a[l]) - b[l] - in
                                   : (unsigned __int128)(a[l]) + b[l] + in;
    d[l] = T(wide);
    bool out = (wide >> (8 * sizeof(T))) & 1;
    carry = (carry & ~(LaneMask(1) << l)) | (LaneMask(out) << l);
  });
  if (sets)
    warp.carry = carry;
  return Step::Next;
}

/// mad with carry: aux[1] is 1 for the high half.
template <typename T, typename Product>
static Step carryMadLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = warp.source<T>(inst.operands[2]);
  const T *c = warp.source<T>(inst.operands[3]);
  bool takes = inst.aux[0] & 2, sets = inst.aux[0] & 4;
  LaneMask carry = warp.carry;
  using U = std::make_unsigned_t<T>;
  eachLane(mask, [&](unsigned l) {
    bool in = takes && (warp.carry >> l & 1);
    unsigned __int128 wide =
        (unsigned __int128)(U(Product::template apply<T>(a[l], b[l]))) +
        U(c[l]) + in;
    d[l] = T(wide);
    bool out = (wide >> (8 * sizeof(T))) & 1;
    carry = (carry & ~(LaneMask(1) << l)) | (LaneMask(out) << l);
  });
  if (sets)
    warp.carry = carry;
  return Step::Next;
}

static bool decodeCarry(InstDecoder &d, bool isSub, bool takes) {
  d.inst.aux[0] = (isSub ? 1 : 0) | (takes ? 2 : 0) | (d.take("cc") ? 4 : 0);
  Type type = d.needType();
  if (!addOperands(d, type, type, 2))
    return false;
  if (bitWidth(type) == 32 && isIntegerOrBits(type))
    return d.finish(carryLanes<uint32_t>);
  if (bitWidth(type) == 64 && isIntegerOrBits(type))
    return d.finish(carryLanes<uint64_t>);
  return d.finish(nullptr);
}

template <typename Product> static Handler carryMad(Type type) {
  switch (type) {
  case Type::U32:
    return carryMadLanes<uint32_t, Product>;
  case Type::S32:
    return carryMadLanes<int32_t, Product>;
  case Type::U64:
    return carryMadLanes<uint64_t, Product>;
  case Type::S64:
    return carryMadLanes<int64_t, Product>;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Sends half and float types to their files.
static bool isElsewhere(InstDecoder &d, bool &result) {
  Type type = d.lastType();
  if (isHalfType(type))
    result = decodeHalfArithmetic(d);
  else if (isFloatType(type))
    result = decodeFloatArithmetic(d);
  else
    return false;
  return true;
}

template <typename Op, typename OpSat, bool isSub>
static bool decodeAddSub(InstDecoder &d) {
  bool result;
  if (isElsewhere(d, result))
    return result;
  for (llvm::StringRef modifier : d.statement.modifiers)
    if (modifier == "cc")
      return decodeCarry(d, isSub, false);
  bool sat = d.take("sat");
  Type type = d.needType();
  if (!addOperands(d, type, type, 2))
    return false;
  if (type == Type::U16x2 || type == Type::S16x2)
    return d.finish(sat ? nullptr : packedInteger<Op>(type));
  if (sat)
    return d.finish(type == Type::S32 ? binaryLanes<OpSat, int32_t, int32_t>
                                      : nullptr);
  return d.finish(isBitsType(type) ? nullptr : binaryInteger<Op>(type));
}

template <bool isSub> static bool decodeAddSubC(InstDecoder &d) {
  return decodeCarry(d, isSub, true);
}

static bool decodeMul(InstDecoder &d) {
  bool result;
  if (isElsewhere(d, result))
    return result;
  int half = d.takeOneOf({"lo", "hi", "wide"});
  Type type = d.needType();
  if (half < 0)
    return d.fail("mul needs .lo, .hi or .wide");
  if (!addOperands(d, half == 2 ? wideType(type) : type, type, 2))
    return false;
  if (half == 0)
    return d.finish(binaryInteger<MulLo>(type));
  if (half == 1)
    return d.finish(binaryInteger<MulHi>(type));
  switch (type) {
  case Type::U16:
    return d.finish(binaryLanes<MulWide, uint32_t, uint16_t>);
  case Type::S16:
    return d.finish(binaryLanes<MulWide, int32_t, int16_t>);
  case Type::U32:
    return d.finish(binaryLanes<MulWide, uint64_t, uint32_t>);
  case Type::S32:
    return d.finish(binaryLanes<MulWide, int64_t, int32_t>);
  default:
    return d.finish(nullptr);
  }
}

static bool decodeMul24(InstDecoder &d) {
  bool hi = d.takeOneOf({"lo", "hi"}) == 1;
  Type type = d.needType();
  if (!addOperands(d, type, type, 2))
    return false;
  if (type == Type::U32)
    return d.finish(hi ? binaryLanes<Mul24Hi, uint32_t, uint32_t>
                       : binaryLanes<Mul24Lo, uint32_t, uint32_t>);
  if (type == Type::S32)
    return d.finish(hi ? binaryLanes<Mul24Hi, int32_t, int32_t>
                       : binaryLanes<Mul24Lo, int32_t, int32_t>);
  return d.finish(nullptr);
}

static bool decodeMad24(InstDecoder &d) {
  bool hi = d.takeOneOf({"lo", "hi"}) == 1;
  bool sat = d.take("sat");
  Type type = d.needType();
  if (!addOperands(d, type, type, 3))
    return false;
  if (sat)
    return d.finish(hi && type == Type::S32
                        ? ternaryLanes<MadSat<Mul24Hi>, int32_t, int32_t>
                        : nullptr);
  if (type == Type::U32)
    return d.finish(hi ? ternaryLanes<Mad<Mul24Hi>, uint32_t, uint32_t>
                       : ternaryLanes<Mad<Mul24Lo>, uint32_t, uint32_t>);
  if (type == Type::S32)
    return d.finish(hi ? ternaryLanes<Mad<Mul24Hi>, int32_t, int32_t>
                       : ternaryLanes<Mad<Mul24Lo>, int32_t, int32_t>);
  return d.finish(nullptr);
}

static bool decodeMadCarry(InstDecoder &d, bool takes) {
  int half = d.takeOneOf({"lo", "hi"});
  d.inst.aux[0] = (takes ? 2 : 0) | (d.take("cc") ? 4 : 0);
  Type type = d.needType();
  if (!addOperands(d, type, type, 3))
    return false;
  return d.finish(half == 0   ? carryMad<MulLo>(type)
                  : half == 1 ? carryMad<MulHi>(type)
                              : nullptr);
}

static bool decodeMadc(InstDecoder &d) { return decodeMadCarry(d, true); }

static bool decodeMad(InstDecoder &d) {
  bool result;
  if (isElsewhere(d, result))
    return result;
  for (llvm::StringRef modifier : d.statement.modifiers)
    if (modifier == "cc")
      return decodeMadCarry(d, false);
  int half = d.takeOneOf({"lo", "hi", "wide"});
  bool sat = d.take("sat");
  Type type = d.needType();
  if (half < 0)
    return d.fail("mad needs .lo, .hi or .wide");
  Type wide = half == 2 ? wideType(type) : type;
  if (!d.needOperands(4) || !d.addDest(0, wide) || !d.addSource(1, type) ||
      !d.addSource(2, type) || !d.addSource(3, wide))
    return false;
  if (sat)
    return d.finish(half == 1 && type == Type::S32
                        ? ternaryLanes<MadSat<MulHi>, int32_t, int32_t>
                        : nullptr);
  if (half == 0)
    return d.finish(ternaryInteger<Mad<MulLo>>(type));
  if (half == 1)
    return d.finish(ternaryInteger<Mad<MulHi>>(type));
  switch (type) {
  case Type::U16:
    return d.finish(
        ternaryLanes<Mad<MulWide>, uint32_t, uint16_t, uint16_t, uint32_t>);
  case Type::S16:
    return d.finish(
        ternaryLanes<Mad<MulWide>, int32_t, int16_t, int16_t, int32_t>);
  case Type::U32:
    return d.finish(
        ternaryLanes<Mad<MulWide>, uint64_t, uint32_t, uint32_t, uint64_t>);
  case Type::S32:
    return d.finish(
        ternaryLanes<Mad<MulWide>, int64_t, int32_t, int32_t, int64_t>);
  default:
    return d.finish(nullptr);
  }
}

template <typename Op> static bool decodeDivRem(InstDecoder &d) {
  bool result;
  if (isElsewhere(d, result))
    return result;
  Type type = d.needType();
  return addOperands(d, type, type, 2) &&
         d.finish(isBitsType(type) ? nullptr : binaryInteger<Op>(type));
}

template <typename Op> static bool decodeAbsNeg(InstDecoder &d) {
  bool result;
  if (isElsewhere(d, result))
    return result;
  Type type = d.needType();
  return addOperands(d, type, type, 1) &&
         d.finish(isSignedType(type) ? unaryInteger<Op>(type) : nullptr);
}

template <typename Op> static bool decodeMinMax(InstDecoder &d) {
  bool result;
  if (isElsewhere(d, result))
    return result;
  bool relu = d.take("relu");
  Type type = d.needType();
  if (!addOperands(d, type, type, 2))
    return false;
  if (relu) {
    if (type == Type::S32)
      return d.finish(binaryLanes<Relu<Op>, int32_t, int32_t>);
    if (type == Type::S16x2)
      return d.finish(packedInteger<Relu<Op>>(type));
    return d.finish(nullptr);
  }
  if (type == Type::U16x2 || type == Type::S16x2)
    return d.finish(packedInteger<Op>(type));
  return d.finish(isBitsType(type) ? nullptr : binaryInteger<Op>(type));
}

static bool decodeSad(InstDecoder &d) {
  Type type = d.needType();
  return addOperands(d, type, type, 3) && d.finish(ternaryInteger<Sad>(type));
}

static bool decodeDp4a(InstDecoder &d) {
  Type a = d.needType(), b = d.needType();
  if (bitWidth(a) != 32 || bitWidth(b) != 32 || isFloatType(a) ||
      isFloatType(b))
    return d.finish(nullptr);
  if (!addOperands(d, Type::B32, Type::B32, 3))
    return false;
  static const Handler handlers[2][2] = {
      {ternaryLanes<Dp4a<false, false>, uint32_t, uint32_t>,
       ternaryLanes<Dp4a<false, true>, uint32_t, uint32_t>},
      {ternaryLanes<Dp4a<true, false>, uint32_t, uint32_t>,
       ternaryLanes<Dp4a<true, true>, uint32_t, uint32_t>}};
  return d.finish(handlers[isSignedType(a)][isSignedType(b)]);
}

template <bool isHigh> static Handler dp2aHandler(bool a, bool b) {
  static const Handler handlers[2][2] = {
      {ternaryLanes<Dp2a<false, false, isHigh>, uint32_t, uint32_t>,
       ternaryLanes<Dp2a<false, true, isHigh>, uint32_t, uint32_t>},
      {ternaryLanes<Dp2a<true, false, isHigh>, uint32_t, uint32_t>,
       ternaryLanes<Dp2a<true, true, isHigh>, uint32_t, uint32_t>}};
  return handlers[a][b];
}

static bool decodeDp2a(InstDecoder &d) {
  int half = d.takeOneOf({"lo", "hi"});
  Type a = d.needType(), b = d.needType();
  if (half < 0)
    return d.fail("dp2a needs .lo or .hi");
  if (!addOperands(d, Type::B32, Type::B32, 3))
    return false;
  return d.finish(half ? dp2aHandler<true>(isSignedType(a), isSignedType(b))
                       : dp2aHandler<false>(isSignedType(a), isSignedType(b)));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <typename Op>
static Step predicateBinary(Warp &warp, const Inst &inst, LaneMask mask) {
  LaneMask value = Op::template apply<LaneMask>(
      warp.predicate(inst.operands[1]), warp.predicate(inst.operands[2]));
  warp.setPredicate(inst.operands[0], value, mask);
  return Step::Next;
}

static Step predicateNot(Warp &warp, const Inst &inst, LaneMask mask) {
  warp.setPredicate(inst.operands[0], ~warp.predicate(inst.operands[1]), mask);
  return Step::Next;
}

template <typename Op> static bool decodeLogic(InstDecoder &d) {
  Type type = d.needType();
  if (!addOperands(d, type, type, 2))
    return false;
  if (type == Type::Pred)
    return d.finish(predicateBinary<Op>);
  return d.finish(isBitsType(type) ? binaryInteger<Op>(type) : nullptr);
}

static bool decodeNot(InstDecoder &d) {
  Type type = d.needType();
  if (!addOperands(d, type, type, 1))
    return false;
  if (type == Type::Pred)
    return d.finish(predicateNot);
  return d.finish(isBitsType(type) ? unaryInteger<Not>(type) : nullptr);
}

static bool decodeCnot(InstDecoder &d) {
  Type type = d.needType();
  return addOperands(d, type, type, 1) &&
         d.finish(isBitsType(type) ? unaryInteger<Cnot>(type) : nullptr);
}

/// lop3: aux[0] is the truth table.
static Step lop3Lanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const Operand *ops = inst.operands + inst.numDestinations;
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  const uint32_t *a = warp.source<uint32_t>(ops[0]);
  const uint32_t *b = warp.source<uint32_t>(ops[1]);
  const uint32_t *c = warp.source<uint32_t>(ops[2]);
  uint32_t table = inst.aux[0];
  uint32_t result[warpSize];
  for (unsigned l = 0; l < warpSize; ++l) {
    uint32_t r = 0;
    for (unsigned i = 0; i < 8; ++i) {
      uint32_t on = -(table >> i & 1);
      r |= on & (i & 4 ? a[l] : ~a[l]) & (i & 2 ? b[l] : ~b[l]) &
           (i & 1 ? c[l] : ~c[l]);
    }
    result[l] = r;
  }
  if (inst.numDestinations == 2) {
    LaneMask nonZero = 0;
    for (unsigned l = 0; l < warpSize; ++l)
      nonZero |= LaneMask(result[l] != 0) << l;
    LaneMask q = warp.predicate(ops[3]);
    warp.setPredicate(inst.operands[1],
                      inst.aux[1] ? (nonZero & q) : (nonZero | q), mask);
  }
  forLanes(mask, [&](unsigned l) { d[l] = result[l]; });
  return Step::Next;
}

static bool decodeLop3(InstDecoder &d) {
  int combine = d.takeOneOf({"or", "and"});
  if (!d.take("b32"))
    return d.fail("lop3 needs .b32");
  if (!d.needOperands(combine < 0 ? 5 : 6))
    return false;
  int64_t table;
  if (!d.constantValue(4, table))
    return false;
  if (table < 0 || table > 255)
    return d.fail("the truth table of lop3 is a byte");
  d.inst.aux[0] = table;
  d.inst.aux[1] = combine == 1;
  const OperandSyntax &first = d.statement.operands[0];
  if (combine < 0) {
    if (!d.addDest(0, Type::B32))
      return false;
  } else {
    if (first.kind != OperandSyntax::Kind::Pair)
      return d.fail("expected 'd|p'");
    if (!d.addDest(first.children[0], Type::B32) ||
        !d.addDest(first.children[1], Type::Pred))
      return false;
  }
  for (unsigned i = 1; i <= 3; ++i)
    if (!d.addSource(i, Type::B32))
      return false;
  if (combine >= 0 && !d.addSource(5, Type::Pred))
    return false;
  return d.finish(lop3Lanes);
}

template <typename T, typename Op> static Handler shiftHandler() {
  return binaryLanes<Op, T, T, uint32_t>;
}

static bool decodeShift(InstDecoder &d) {
  bool isLeft = d.statement.opcode == "shl";
  Type type = d.needType();
  if (!d.needOperands(3) || !d.addDest(0, type) || !d.addSource(1, type) ||
      !d.addSource(2, Type::U32))
    return false;
  bool isSigned = isSignedType(type) && !isLeft;
  switch (bitWidth(type)) {
  case 16:
    return d.finish(isLeft     ? shiftHandler<uint16_t, Shl>()
                    : isSigned ? shiftHandler<int16_t, Shr>()
                               : shiftHandler<uint16_t, Shr>());
  case 32:
    return d.finish(isLeft     ? shiftHandler<uint32_t, Shl>()
                    : isSigned ? shiftHandler<int32_t, Shr>()
                               : shiftHandler<uint32_t, Shr>());
  case 64:
    return d.finish(isLeft     ? shiftHandler<uint64_t, Shl>()
                    : isSigned ? shiftHandler<int64_t, Shr>()
                               : shiftHandler<uint64_t, Shr>());
  default:
    return d.finish(nullptr);
  }
}

static bool decodeShf(InstDecoder &d) {
  int direction = d.takeOneOf({"l", "r"});
  int mode = d.takeOneOf({"clamp", "wrap"});
  if (direction < 0 || mode < 0)
    return d.fail("shf needs .l or .r and .clamp or .wrap");
  if (!d.take("b32"))
    return d.fail("shf needs .b32");
  if (!addOperands(d, Type::B32, Type::B32, 3))
    return false;
  static const Handler handlers[2][2] = {
      {ternaryLanes<FunnelShift<true, false>, uint32_t, uint32_t>,
       ternaryLanes<FunnelShift<true, true>, uint32_t, uint32_t>},
      {ternaryLanes<FunnelShift<false, false>, uint32_t, uint32_t>,
       ternaryLanes<FunnelShift<false, true>, uint32_t, uint32_t>}};
  return d.finish(handlers[direction][mode]);
}

template <typename Op> static bool decodeCount(InstDecoder &d) {
  Type type = d.needType();
  return addOperands(d, Type::U32, type, 1) &&
         d.finish(isBitsType(type) ? countInteger<Op>(type) : nullptr);
}

static bool decodeBfind(InstDecoder &d) {
  bool shift = d.take("shiftamt");
  Type type = d.needType();
  return addOperands(d, Type::U32, type, 1) &&
         d.finish(isBitsType(type) ? nullptr
                  : shift          ? countInteger<Bfind<true>>(type)
                                   : countInteger<Bfind<false>>(type));
}

static bool decodeBrev(InstDecoder &d) {
  Type type = d.needType();
  if (!addOperands(d, type, type, 1))
    return false;
  if (type == Type::B32)
    return d.finish(unaryLanes<Brev, uint32_t, uint32_t>);
  return d.finish(type == Type::B64 ? unaryLanes<Brev, uint64_t, uint64_t>
                                    : nullptr);
}

static bool decodeBfe(InstDecoder &d) {
  Type type = d.needType();
  if (!d.needOperands(4) || !d.addDest(0, type) || !d.addSource(1, type) ||
      !d.addSource(2, Type::U32) || !d.addSource(3, Type::U32))
    return false;
  switch (type) {
  case Type::U32:
    return d.finish(ternaryLanes<Bfe, uint32_t, uint32_t, uint32_t, uint32_t>);
  case Type::S32:
    return d.finish(ternaryLanes<Bfe, int32_t, int32_t, uint32_t, uint32_t>);
  case Type::U64:
    return d.finish(ternaryLanes<Bfe, uint64_t, uint64_t, uint32_t, uint32_t>);
  case Type::S64:
    return d.finish(ternaryLanes<Bfe, int64_t, int64_t, uint32_t, uint32_t>);
  default:
    return d.finish(nullptr);
  }
}

template <typename T>
static Step bfiLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  T *r = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = warp.source<T>(inst.operands[2]);
  const uint32_t *c = warp.source<uint32_t>(inst.operands[3]);
  const uint32_t *d = warp.source<uint32_t>(inst.operands[4]);
  forLanes(mask,
           [=](unsigned l) { r[l] = Bfi::apply(a[l], b[l], c[l], d[l]); });
  return Step::Next;
}

static bool decodeBfi(InstDecoder &d) {
  Type type = d.needType();
  if (!d.needOperands(5) || !d.addDest(0, type) || !d.addSource(1, type) ||
      !d.addSource(2, type) || !d.addSource(3, Type::U32) ||
      !d.addSource(4, Type::U32))
    return false;
  return d.finish(type == Type::B32   ? bfiLanes<uint32_t>
                  : type == Type::B64 ? bfiLanes<uint64_t>
                                      : nullptr);
}

static bool decodePrmt(InstDecoder &d) {
  if (!d.take("b32"))
    return d.fail("prmt needs .b32");
  int mode = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (!addOperands(d, Type::B32, Type::B32, 3))
    return false;
  static const Handler handlers[6] = {
      ternaryLanes<PrmtMode<0>, uint32_t, uint32_t>,
      ternaryLanes<PrmtMode<1>, uint32_t, uint32_t>,
      ternaryLanes<PrmtMode<2>, uint32_t, uint32_t>,
      ternaryLanes<PrmtMode<3>, uint32_t, uint32_t>,
      ternaryLanes<PrmtMode<4>, uint32_t, uint32_t>,
      ternaryLanes<PrmtMode<5>, uint32_t, uint32_t>};
  return d.finish(mode < 0 ? ternaryLanes<Prmt, uint32_t, uint32_t>
                           : handlers[mode]);
}

static bool decodeBmsk(InstDecoder &d) {
  int mode = d.takeOneOf({"clamp", "wrap"});
  if (mode < 0 || !d.take("b32"))
    return d.fail("bmsk needs .clamp or .wrap and .b32");
  return addOperands(d, Type::B32, Type::B32, 2) &&
         d.finish(mode == 0 ? binaryLanes<Bmsk<true>, uint32_t, uint32_t>
                            : binaryLanes<Bmsk<false>, uint32_t, uint32_t>);
}

static bool decodeSzext(InstDecoder &d) {
  int mode = d.takeOneOf({"clamp", "wrap"});
  Type type = d.needType();
  if (mode < 0)
    return d.fail("szext needs .clamp or .wrap");
  if (!addOperands(d, type, Type::B32, 2))
    return false;
  bool clamp = mode == 0;
  if (type == Type::U32)
    return d.finish(
        clamp ? binaryLanes<Szext<true, uint32_t>, uint32_t, uint32_t>
              : binaryLanes<Szext<false, uint32_t>, uint32_t, uint32_t>);
  if (type == Type::S32)
    return d.finish(
        clamp
            ? binaryLanes<Szext<true, int32_t>, uint32_t, int32_t, uint32_t>
            : binaryLanes<Szext<false, int32_t>, uint32_t, int32_t, uint32_t>);
  return d.finish(nullptr);
}

static bool decodeFns(InstDecoder &d) {
  if (!d.take("b32"))
    return d.fail("fns needs .b32");
  return addOperands(d, Type::B32, Type::B32, 3) &&
         d.finish(ternaryLanes<Fns, uint32_t, uint32_t, uint32_t, int32_t>);
}

void tile_dialect::emulator::registerIntegerOps(OpcodeTable &table) {
  constexpr auto integer = InstructionClass::Integer;
  table.add("add", decodeAddSub<Add, AddSat, false>, integer);
  table.add("sub", decodeAddSub<Sub, SubSat, true>, integer);
  table.add("addc", decodeAddSubC<false>, integer);
  table.add("subc", decodeAddSubC<true>, integer);
  table.add("mul", decodeMul, integer);
  table.add("mul24", decodeMul24, integer);
  table.add("mad24", decodeMad24, integer);
  table.add("mad", decodeMad, integer);
  table.add("madc", decodeMadc, integer);
  table.add("div", decodeDivRem<Div>, integer);
  table.add("rem", decodeDivRem<Rem>, integer);
  table.add("abs", decodeAbsNeg<Abs>, integer);
  table.add("neg", decodeAbsNeg<Neg>, integer);
  table.add("min", decodeMinMax<Min>, integer);
  table.add("max", decodeMinMax<Max>, integer);
  table.add("sad", decodeSad, integer);
  table.add("dp4a", decodeDp4a, integer);
  table.add("dp2a", decodeDp2a, integer);
  table.add("and", decodeLogic<And>, integer);
  table.add("or", decodeLogic<Or>, integer);
  table.add("xor", decodeLogic<Xor>, integer);
  table.add("not", decodeNot, integer);
  table.add("cnot", decodeCnot, integer);
  table.add("lop3", decodeLop3, integer);
  table.add("shl", decodeShift, integer);
  table.add("shr", decodeShift, integer);
  table.add("shf", decodeShf, integer);
  table.add("popc", decodeCount<Popc>, integer);
  table.add("clz", decodeCount<Clz>, integer);
  table.add("bfind", decodeBfind, integer);
  table.add("brev", decodeBrev, integer);
  table.add("bfe", decodeBfe, integer);
  table.add("bfi", decodeBfi, integer);
  table.add("prmt", decodePrmt, integer);
  table.add("bmsk", decodeBmsk, integer);
  table.add("szext", decodeSzext, integer);
  table.add("fns", decodeFns, integer);
}
