//===- IntegerTest.cpp - Integer and bit instructions ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionTest.h"

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;
using I128 = __int128;
using U128 = unsigned __int128;

static std::string suffix(bool isSigned, unsigned bits) {
  return (isSigned ? ".s" : ".u") + std::to_string(bits);
}

/// A value of `bits` bits as a mathematical integer.
static I128 number(uint64_t value, bool isSigned, unsigned bits) {
  return isSigned ? I128(asSigned(value, bits)) : I128(lowBits(value, bits));
}

TEST(Integer, AddSubMul) {
  for (bool s : {false, true})
    for (unsigned n : {16u, 32u, 64u}) {
      std::string t = suffix(s, n);
      checkInteger("add" + t + " %x, %a, %b;", n, {n, n},
                   [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
      checkInteger("sub" + t + " %x, %a, %b;", n, {n, n},
                   [](uint64_t a, uint64_t b, uint64_t) { return a - b; });
      checkInteger("mul.lo" + t + " %x, %a, %b;", n, {n, n},
                   [](uint64_t a, uint64_t b, uint64_t) { return a * b; });
      checkInteger("mul.hi" + t + " %x, %a, %b;", n, {n, n},
                   [=](uint64_t a, uint64_t b, uint64_t) {
                     if (n == 64 && !s)
                       return uint64_t(U128(a) * b >> 64);
                     return uint64_t((number(a, s, n) * number(b, s, n)) >> n);
                   });
      checkInteger(
          "mad.lo" + t + " %x, %a, %b, %c;", n, {n, n, n},
          [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; });
      checkInteger("mad.hi" + t + " %x, %a, %b, %c;", n, {n, n, n},
                   [=](uint64_t a, uint64_t b, uint64_t c) {
                     if (n == 64 && !s)
                       return uint64_t(U128(a) * b >> 64) + c;
                     return uint64_t((number(a, s, n) * number(b, s, n)) >> n) +
                            c;
                   });
      if (n == 64)
        continue;
      checkInteger("mul.wide" + t + " %x, %a, %b;", 2 * n, {n, n},
                   [=](uint64_t a, uint64_t b, uint64_t) {
                     return uint64_t(number(a, s, n) * number(b, s, n));
                   });
      checkInteger("mad.wide" + t + " %x, %a, %b, %c;", 2 * n, {n, n, 2 * n},
                   [=](uint64_t a, uint64_t b, uint64_t c) {
                     return uint64_t(number(a, s, n) * number(b, s, n)) + c;
                   });
    }
}

static uint64_t clamp32(I128 value) {
  return uint64_t(int64_t(value > INT32_MAX   ? I128(INT32_MAX)
                          : value < INT32_MIN ? I128(INT32_MIN)
                                              : value));
}

TEST(Integer, Saturating) {
  checkInteger("add.sat.s32 %x, %a, %b;", 32, {32, 32},
               [](uint64_t a, uint64_t b, uint64_t) {
                 return clamp32(number(a, true, 32) + number(b, true, 32));
               });
  checkInteger("sub.sat.s32 %x, %a, %b;", 32, {32, 32},
               [](uint64_t a, uint64_t b, uint64_t) {
                 return clamp32(number(a, true, 32) - number(b, true, 32));
               });
  checkInteger("mad.hi.sat.s32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 return clamp32(
                     ((number(a, true, 32) * number(b, true, 32)) >> 32) +
                     number(c, true, 32));
               });
}

TEST(Integer, CarryChain) {
  // 128-bit sums and products through the carry flag.
  checkInteger("{ .reg .b64 %lo; add.cc.u64 %lo, %a, %b;\n"
               "addc.u64 %x, %c, 0; }",
               64, {64, 64, 64}, [](uint64_t a, uint64_t b, uint64_t c) {
                 return uint64_t((U128(a) + b) >> 64) + c;
               });
  checkInteger("{ .reg .b32 %lo; sub.cc.u32 %lo, %a, %b;\n"
               "subc.u32 %x, %c, 0; }",
               32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) { return c - (a < b); });
  checkInteger("{ .reg .b32 %lo; mad.lo.cc.u32 %lo, %a, %b, %c;\n"
               "madc.hi.u32 %x, %a, %b, 0; }",
               32, {32, 32, 32}, [](uint64_t a, uint64_t b, uint64_t c) {
                 return (a * b + c) >> 32;
               });
}

TEST(Integer, DivRem) {
  for (bool s : {false, true})
    for (unsigned n : {16u, 32u, 64u}) {
      std::string t = suffix(s, n);
      checkInteger("div" + t + " %x, %a, %b;", n, {n, n},
                   [=](uint64_t a, uint64_t b, uint64_t) {
                     return b == 0
                                ? ~uint64_t(0)
                                : uint64_t(number(a, s, n) / number(b, s, n));
                   });
      checkInteger("rem" + t + " %x, %a, %b;", n, {n, n},
                   [=](uint64_t a, uint64_t b, uint64_t) {
                     return b == 0
                                ? ~uint64_t(0)
                                : uint64_t(number(a, s, n) % number(b, s, n));
                   });
    }
}

TEST(Integer, MinMaxAbsNeg) {
  for (bool s : {false, true})
    for (unsigned n : {16u, 32u, 64u}) {
      std::string t = suffix(s, n);
      auto less = [=](uint64_t a, uint64_t b) {
        return number(a, s, n) < number(b, s, n);
      };
      checkInteger(
          "min" + t + " %x, %a, %b;", n, {n, n},
          [=](uint64_t a, uint64_t b, uint64_t) { return less(b, a) ? b : a; });
      checkInteger(
          "max" + t + " %x, %a, %b;", n, {n, n},
          [=](uint64_t a, uint64_t b, uint64_t) { return less(a, b) ? b : a; });
      checkInteger("sad" + t + " %x, %a, %b, %c;", n, {n, n, n},
                   [=](uint64_t a, uint64_t b, uint64_t c) {
                     return c + (less(a, b) ? b - a : a - b);
                   });
      if (!s)
        continue;
      checkInteger("abs" + t + " %x, %a;", n, {n},
                   [=](uint64_t a, uint64_t, uint64_t) {
                     return asSigned(a, n) < 0 ? -a : a;
                   });
      checkInteger("neg" + t + " %x, %a;", n, {n},
                   [](uint64_t a, uint64_t, uint64_t) { return -a; });
    }
  checkInteger("max.s16x2.relu %x, %a, %b;", 32, {32, 32},
               [](uint64_t a, uint64_t b, uint64_t) {
                 uint64_t result = 0;
                 for (unsigned i = 0; i < 32; i += 16) {
                   int64_t m = std::max(asSigned(lowBits(a >> i, 16), 16),
                                        asSigned(lowBits(b >> i, 16), 16));
                   result |= lowBits(std::max<int64_t>(m, 0), 16) << i;
                 }
                 return result;
               });
  checkInteger("add.u16x2 %x, %a, %b;", 32, {32, 32},
               [](uint64_t a, uint64_t b, uint64_t) {
                 return lowBits(a + b, 16) | lowBits((a >> 16) + (b >> 16), 16)
                                                 << 16;
               });
}

TEST(Integer, Logic) {
  for (unsigned n : {16u, 32u, 64u}) {
    std::string t = ".b" + std::to_string(n);
    checkInteger("and" + t + " %x, %a, %b;", n, {n, n},
                 [](uint64_t a, uint64_t b, uint64_t) { return a & b; });
    checkInteger("or" + t + " %x, %a, %b;", n, {n, n},
                 [](uint64_t a, uint64_t b, uint64_t) { return a | b; });
    checkInteger("xor" + t + " %x, %a, %b;", n, {n, n},
                 [](uint64_t a, uint64_t b, uint64_t) { return a ^ b; });
    checkInteger("not" + t + " %x, %a;", n, {n},
                 [](uint64_t a, uint64_t, uint64_t) { return ~a; });
    checkInteger(
        "cnot" + t + " %x, %a;", n, {n},
        [](uint64_t a, uint64_t, uint64_t) { return uint64_t(a == 0); });
  }
  for (unsigned table : {0x00u, 0x80u, 0x96u, 0xE8u, 0xCAu, 0xFEu, 0xFFu})
    checkInteger("lop3.b32 %x, %a, %b, %c, " + std::to_string(table) + ";", 32,
                 {32, 32, 32}, [=](uint64_t a, uint64_t b, uint64_t c) {
                   uint64_t r = 0;
                   for (unsigned i = 0; i < 32; ++i) {
                     unsigned row =
                         (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
                     r |= uint64_t(table >> row & 1) << i;
                   }
                   return r;
                 });
  checkInteger("and.pred %x, %a, !%b;", 1, {1, 1},
               [](uint64_t a, uint64_t b, uint64_t) { return a && !b; });
  checkInteger("xor.pred %x, %a, %b;", 1, {1, 1},
               [](uint64_t a, uint64_t b, uint64_t) { return a ^ b; });
  checkInteger("not.pred %x, %a;", 1, {1},
               [](uint64_t a, uint64_t, uint64_t) { return !a; });
}

TEST(Integer, Shifts) {
  for (unsigned n : {16u, 32u, 64u}) {
    auto in = std::to_string(n);
    checkInteger(
        "shl.b" + in + " %x, %a, %b;", n, {n, 32},
        [=](uint64_t a, uint64_t b, uint64_t) { return b >= n ? 0 : a << b; });
    checkInteger(
        "shr.u" + in + " %x, %a, %b;", n, {n, 32},
        [=](uint64_t a, uint64_t b, uint64_t) { return b >= n ? 0 : a >> b; });
    checkInteger("shr.s" + in + " %x, %a, %b;", n, {n, 32},
                 [=](uint64_t a, uint64_t b, uint64_t) {
                   return uint64_t(asSigned(a, n) >>
                                   std::min<uint64_t>(b, n - 1));
                 });
  }
  checkInteger("shf.l.wrap.b32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 return (U128(b << 32 | a) << (c % 32)) >> 32;
               });
  checkInteger("shf.l.clamp.b32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 return (U128(b << 32 | a) << std::min<uint64_t>(c, 32)) >> 32;
               });
  checkInteger("shf.r.wrap.b32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 return (b << 32 | a) >> (c % 32);
               });
  checkInteger("shf.r.clamp.b32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 return (b << 32 | a) >> std::min<uint64_t>(c, 32);
               });
}

static unsigned countBits(uint64_t value) {
  unsigned count = 0;
  for (unsigned i = 0; i < 64; ++i)
    count += value >> i & 1;
  return count;
}
/// The position of the highest set bit, or -1.
static int highestBit(uint64_t value) {
  int result = -1;
  for (int i = 0; i < 64; ++i)
    if (value >> i & 1)
      result = i;
  return result;
}

TEST(Integer, Counting) {
  for (unsigned n : {32u, 64u}) {
    auto in = std::to_string(n);
    checkInteger("popc.b" + in + " %x, %a;", 32, {n},
                 [](uint64_t a, uint64_t, uint64_t) { return countBits(a); });
    checkInteger(
        "clz.b" + in + " %x, %a;", 32, {n},
        [=](uint64_t a, uint64_t, uint64_t) { return n - 1 - highestBit(a); });
    checkInteger("bfind.u" + in + " %x, %a;", 32, {n},
                 [](uint64_t a, uint64_t, uint64_t) {
                   return uint64_t(int64_t(highestBit(a)));
                 });
    checkInteger("bfind.s" + in + " %x, %a;", 32, {n},
                 [=](uint64_t a, uint64_t, uint64_t) {
                   int64_t v = asSigned(a, n);
                   return uint64_t(int64_t(highestBit(v < 0 ? ~v : v)));
                 });
    checkInteger("bfind.shiftamt.u" + in + " %x, %a;", 32, {n},
                 [=](uint64_t a, uint64_t, uint64_t) {
                   return a ? n - 1 - highestBit(a) : ~uint64_t(0);
                 });
    checkInteger("brev.b" + in + " %x, %a;", n, {n},
                 [=](uint64_t a, uint64_t, uint64_t) {
                   uint64_t r = 0;
                   for (unsigned i = 0; i < n; ++i)
                     r = r << 1 | (a >> i & 1);
                   return r;
                 });
  }
}

TEST(Integer, BitFields) {
  for (unsigned n : {32u, 64u}) {
    auto in = std::to_string(n);
    for (bool s : {false, true})
      checkInteger("bfe" + suffix(s, n) + " %x, %a, %b, %c;", n, {n, 32, 32},
                   [=](uint64_t a, uint64_t b, uint64_t c) {
                     // The pseudo code of the PTX ISA; for 64 bits, sm_90
                     // does not cut off what lies above 255.
                     uint64_t most = n == 64 ? 0xFFFFFFFF : 0xFF;
                     uint64_t msb = n - 1, pos = b & most, len = c & most;
                     unsigned sbit;
                     if (!s || len == 0)
                       sbit = 0;
                     else
                       sbit = a >> std::min(pos + len - 1, msb) & 1;
                     uint64_t d = 0;
                     for (unsigned i = 0; i <= msb; ++i) {
                       bool bit = i < len && pos + i <= msb ? a >> (pos + i) & 1
                                                            : sbit;
                       d |= uint64_t(bit) << i;
                     }
                     return d;
                   });
    SCOPED_TRACE(in);
  }
  checkInteger("bfi.b32 %x, %a, %b, %c, 7;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 uint64_t f = b;
                 unsigned pos = c & 0xFF;
                 for (unsigned i = 0; i < 7 && pos + i <= 31; ++i)
                   f = (f & ~(uint64_t(1) << (pos + i))) | (a >> i & 1)
                                                               << (pos + i);
                 return f;
               });
  checkInteger("bfi.b64 %x, %a, %b, 11, %c;", 64, {64, 64, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 uint64_t f = b;
                 unsigned len = c & 0xFF;
                 for (unsigned i = 0; i < len && 11 + i <= 63; ++i)
                   f = (f & ~(uint64_t(1) << (11 + i))) | (a >> i & 1)
                                                              << (11 + i);
                 return f;
               });
  checkInteger("bmsk.clamp.b32 %x, %a, %b;", 32, {32, 32},
               [](uint64_t a, uint64_t b, uint64_t) {
                 uint64_t r = 0;
                 for (uint64_t i = 0; i < 32; ++i)
                   r |= uint64_t(i >= a && i - a < b) << i;
                 return r;
               });
}

TEST(Integer, Permute) {
  checkInteger("prmt.b32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 uint64_t all = b << 32 | a, r = 0;
                 for (unsigned i = 0; i < 4; ++i) {
                   unsigned sel = c >> (4 * i) & 15;
                   uint64_t byte = all >> (8 * (sel & 7)) & 255;
                   if (sel & 8)
                     byte = byte >> 7 ? 255 : 0;
                   r |= byte << (8 * i);
                 }
                 return r;
               });
  auto byteOf = [](uint64_t a, uint64_t b, unsigned i) {
    return (b << 32 | a) >> (8 * i) & 255;
  };
  checkInteger("prmt.b32.f4e %x, %a, %b, %c;", 32, {32, 32, 32},
               [=](uint64_t a, uint64_t b, uint64_t c) {
                 uint64_t r = 0;
                 for (unsigned i = 0; i < 4; ++i)
                   r |= byteOf(a, b, i + (c & 3)) << (8 * i);
                 return r;
               });
  checkInteger("prmt.b32.rc16 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t, uint64_t c) {
                 uint64_t half = c & 1 ? a >> 16 : a & 0xFFFF;
                 return half << 16 | half;
               });
}

TEST(Integer, DotProducts) {
  checkInteger("dp4a.s32.u32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 int64_t sum = c;
                 for (unsigned i = 0; i < 32; i += 8)
                   sum += asSigned(lowBits(a >> i, 8), 8) *
                          int64_t(lowBits(b >> i, 8));
                 return uint64_t(sum);
               });
  checkInteger("dp2a.hi.u32.s32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 int64_t sum = c;
                 for (unsigned i = 0; i < 2; ++i)
                   sum += int64_t(lowBits(a >> (16 * i), 16)) *
                          asSigned(lowBits(b >> (16 + 8 * i), 8), 8);
                 return uint64_t(sum);
               });
}

TEST(Integer, CompareAndSelect) {
  struct Operator {
    const char *name;
    bool (*holds)(I128, I128);
  };
  const Operator operators[] = {{"eq", [](I128 a, I128 b) { return a == b; }},
                                {"ne", [](I128 a, I128 b) { return a != b; }},
                                {"lt", [](I128 a, I128 b) { return a < b; }},
                                {"le", [](I128 a, I128 b) { return a <= b; }},
                                {"gt", [](I128 a, I128 b) { return a > b; }},
                                {"ge", [](I128 a, I128 b) { return a >= b; }}};
  for (const Operator &op : operators)
    for (bool s : {false, true})
      for (unsigned n : {16u, 32u, 64u}) {
        std::string t = suffix(s, n);
        auto holds = [=](uint64_t a, uint64_t b) {
          return op.holds(number(a, s, n), number(b, s, n));
        };
        checkInteger("setp." + std::string(op.name) + t + " %x, %a, %b;", 1,
                     {n, n}, [=](uint64_t a, uint64_t b, uint64_t) {
                       return uint64_t(holds(a, b));
                     });
        checkInteger("{ .reg .pred %q; setp." + std::string(op.name) + ".and" +
                         t + " %q|%x, %a, %b, !%c; }",
                     1, {n, n, 1}, [=](uint64_t a, uint64_t b, uint64_t c) {
                       return uint64_t(!holds(a, b) && !c);
                     });
      }
  checkInteger("set.lt.u32.s32 %x, %a, %b;", 32, {32, 32},
               [](uint64_t a, uint64_t b, uint64_t) {
                 return asSigned(a, 32) < asSigned(b, 32) ? ~uint64_t(0) : 0;
               });
  checkInteger("selp.b64 %x, %a, %b, %c;", 64, {64, 64, 1},
               [](uint64_t a, uint64_t b, uint64_t c) { return c ? a : b; });
  checkInteger("slct.b32.s32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 return asSigned(c, 32) >= 0 ? a : b;
               });
}

TEST(Integer, Conversions) {
  for (unsigned from : {8u, 16u, 32u, 64u})
    for (unsigned to : {8u, 16u, 32u, 64u})
      for (bool fromSigned : {false, true})
        for (bool toSigned : {false, true}) {
          unsigned fromReg = std::max(from, 16u), toReg = std::max(to, 16u);
          auto value = [=](uint64_t a) { return number(a, fromSigned, from); };
          auto widened = [=](I128 v) {
            // A narrow result is extended to the register.
            return uint64_t(number(lowBits(uint64_t(v), to), toSigned, to));
          };
          checkInteger("cvt" + suffix(toSigned, to) + suffix(fromSigned, from) +
                           " %x, %a;",
                       toReg, {fromReg}, [=](uint64_t a, uint64_t, uint64_t) {
                         return widened(value(lowBits(a, from)));
                       });
          checkInteger("cvt.sat" + suffix(toSigned, to) +
                           suffix(fromSigned, from) + " %x, %a;",
                       toReg, {fromReg}, [=](uint64_t a, uint64_t, uint64_t) {
                         I128 v = value(lowBits(a, from));
                         I128 low = toSigned ? -(I128(1) << (to - 1)) : 0;
                         I128 high = (I128(1) << (toSigned ? to - 1 : to)) - 1;
                         return widened(v < low ? low : v > high ? high : v);
                       });
        }
}

TEST(Integer, PackAndUnpack) {
  checkInteger("mov.b32 %x, {%a, %b};", 32, {16, 16},
               [](uint64_t a, uint64_t b, uint64_t) { return b << 16 | a; });
  checkInteger("mov.b64 %x, {%a, %b};", 64, {32, 32},
               [](uint64_t a, uint64_t b, uint64_t) { return b << 32 | a; });
  checkInteger("mov.b64 {_, %x}, %a;", 32, {64},
               [](uint64_t a, uint64_t, uint64_t) { return a >> 32; });
  checkInteger("{ .reg .b16 %u, %v; mov.b32 {%u, %v}, %a;\n"
               "mov.b32 %x, {%v, %u}; }",
               32, {32}, [](uint64_t a, uint64_t, uint64_t) {
                 return a << 16 | a >> 16;
               });
}
