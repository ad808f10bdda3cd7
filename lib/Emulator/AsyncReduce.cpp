//===- AsyncReduce.cpp - Element-wise operations of reducing copies ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "FloatFormats.h"
#include <type_traits>

using namespace tile_dialect::emulator;

ReduceOp tile_dialect::emulator::takeReduceOp(InstDecoder &d) {
  int op = d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  if (op < 0) {
    d.fail("expected an operation such as .add");
    return ReduceOp::None;
  }
  return ReduceOp(op + 1);
}

template <typename T> static T combineIntegers(ReduceOp op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case ReduceOp::None:
    break;
  case ReduceOp::Add:
    return T(U(a) + U(b));
  case ReduceOp::Min:
    return a < b ? a : b;
  case ReduceOp::Max:
    return a < b ? b : a;
  case ReduceOp::Inc:
    return U(a) >= U(b) ? T(0) : T(U(a) + 1);
  case ReduceOp::Dec:
    return a == 0 || U(a) > U(b) ? b : T(U(a) - 1);
  case ReduceOp::And:
    return a & b;
  case ReduceOp::Or:
    return a | b;
  case ReduceOp::Xor:
    return a ^ b;
  }
  return b;
}

/// A number wins over NaN.
template <typename T> static T combineFloats(ReduceOp op, T a, T b) {
  if (op == ReduceOp::Add)
    return a + b;
  if (a != a)
    return b;
  if (b != b)
    return a;
  return (op == ReduceOp::Min) == (a < b) ? a : b;
}

template <typename Word, typename F>
static void update(uint8_t *memory, F combine) {
  auto *word = reinterpret_cast<Word *>(memory);
  Word before = __atomic_load_n(word, __ATOMIC_RELAXED);
  Word after = combine(before);
  while (!__atomic_compare_exchange_n(word, &before, after, true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    after = combine(before);
}

template <typename T>
static void reduceIntegers(ReduceOp op, uint8_t *memory, const uint8_t *value) {
  T b;
  std::memcpy(&b, value, sizeof(T));
  update<T>(memory, [=](T a) { return combineIntegers<T>(op, a, b); });
}

bool tile_dialect::emulator::hasReduceOp(ReduceOp op, Type type) {
  bool isFloat = type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
                 type == Type::F64;
  switch (op) {
  case ReduceOp::None:
    return false;
  case ReduceOp::Add:
    return isFloat || isUnsignedType(type) || isSignedType(type);
  case ReduceOp::Min:
  case ReduceOp::Max:
    return type == Type::F16 || type == Type::BF16 || isUnsignedType(type) ||
           isSignedType(type);
  case ReduceOp::Inc:
  case ReduceOp::Dec:
    return type == Type::U32;
  case ReduceOp::And:
  case ReduceOp::Or:
  case ReduceOp::Xor:
    return !isFloat && bitWidth(type) >= 32;
  }
  return false;
}

bool tile_dialect::emulator::reduceElement(ReduceOp op, Type type,
                                           uint8_t *memory,
                                           const uint8_t *value) {
  switch (type) {
  case Type::U32:
  case Type::B32:
    reduceIntegers<uint32_t>(op, memory, value);
    return true;
  case Type::S32:
    reduceIntegers<int32_t>(op, memory, value);
    return true;
  case Type::U64:
  case Type::B64:
    reduceIntegers<uint64_t>(op, memory, value);
    return true;
  case Type::S64:
    reduceIntegers<int64_t>(op, memory, value);
    return true;
  case Type::F16: {
    uint16_t b;
    std::memcpy(&b, value, 2);
    update<uint16_t>(memory, [=](uint16_t a) {
      return floatToHalf(combineFloats(op, halfToFloat(a), halfToFloat(b)));
    });
    return true;
  }
  case Type::BF16: {
    uint16_t b;
    std::memcpy(&b, value, 2);
    update<uint16_t>(memory, [=](uint16_t a) {
      return floatToBfloat(
          combineFloats(op, bfloatToFloat(a), bfloatToFloat(b)));
    });
    return true;
  }
  case Type::F32: {
    uint32_t b;
    std::memcpy(&b, value, 4);
    update<uint32_t>(memory, [=](uint32_t a) {
      return bitsOfFloat(combineFloats(op, floatFromBits(a), floatFromBits(b)));
    });
    return true;
  }
  case Type::F64: {
    uint64_t b;
    std::memcpy(&b, value, 8);
    update<uint64_t>(memory, [=](uint64_t a) {
      return bitsOfDouble(
          combineFloats(op, doubleFromBits(a), doubleFromBits(b)));
    });
    return true;
  }
  default:
    return false;
  }
}
