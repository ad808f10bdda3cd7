//===- Types.cpp - PTX types and state spaces ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Types.h"
#include "llvm/ADT/StringMap.h"

using namespace tile_dialect::emulator;

namespace {
enum class Family : uint8_t { Bits, Unsigned, Signed, Float, Predicate };

struct TypeFacts {
  Type type;
  const char *name;
  uint8_t bits;
  Family family;
};
} // namespace

/// In the order of the enumeration after Type::None.
static const TypeFacts typeFacts[] = {
    {Type::Pred, "pred", 1, Family::Predicate},
    {Type::B8, "b8", 8, Family::Bits},
    {Type::B16, "b16", 16, Family::Bits},
    {Type::B32, "b32", 32, Family::Bits},
    {Type::B64, "b64", 64, Family::Bits},
    {Type::B128, "b128", 128, Family::Bits},
    {Type::U8, "u8", 8, Family::Unsigned},
    {Type::U16, "u16", 16, Family::Unsigned},
    {Type::U32, "u32", 32, Family::Unsigned},
    {Type::U64, "u64", 64, Family::Unsigned},
    {Type::S8, "s8", 8, Family::Signed},
    {Type::S16, "s16", 16, Family::Signed},
    {Type::S32, "s32", 32, Family::Signed},
    {Type::S64, "s64", 64, Family::Signed},
    {Type::F16, "f16", 16, Family::Float},
    {Type::F16x2, "f16x2", 32, Family::Float},
    {Type::BF16, "bf16", 16, Family::Float},
    {Type::BF16x2, "bf16x2", 32, Family::Float},
    {Type::F32, "f32", 32, Family::Float},
    {Type::F64, "f64", 64, Family::Float},
    {Type::TF32, "tf32", 32, Family::Float},
    {Type::F32x2, "f32x2", 64, Family::Float},
    {Type::U16x2, "u16x2", 32, Family::Unsigned},
    {Type::S16x2, "s16x2", 32, Family::Signed},
    {Type::U8x4, "u8x4", 32, Family::Unsigned},
    {Type::S8x4, "s8x4", 32, Family::Signed},
    {Type::E4M3, "e4m3", 8, Family::Float},
    {Type::E5M2, "e5m2", 8, Family::Float},
    {Type::E4M3x2, "e4m3x2", 16, Family::Float},
    {Type::E5M2x2, "e5m2x2", 16, Family::Float},
    {Type::E4M3x4, "e4m3x4", 32, Family::Float},
    {Type::E5M2x4, "e5m2x4", 32, Family::Float},
    {Type::E2M1, "e2m1", 4, Family::Float},
    {Type::E2M3, "e2m3", 8, Family::Float},
    {Type::E3M2, "e3m2", 8, Family::Float},
    {Type::E2M1x2, "e2m1x2", 8, Family::Float},
    {Type::E2M3x2, "e2m3x2", 16, Family::Float},
    {Type::E3M2x2, "e3m2x2", 16, Family::Float},
    {Type::E2M1x4, "e2m1x4", 16, Family::Float},
    {Type::E2M3x4, "e2m3x4", 32, Family::Float},
    {Type::E3M2x4, "e3m2x4", 32, Family::Float},
    {Type::UE8M0, "ue8m0", 8, Family::Float},
    {Type::UE8M0x2, "ue8m0x2", 16, Family::Float},
    {Type::UE4M3, "ue4m3", 8, Family::Float},
    {Type::B1, "b1", 1, Family::Bits},
    {Type::U4, "u4", 4, Family::Unsigned},
    {Type::S4, "s4", 4, Family::Signed},
};

static const TypeFacts &factsOf(Type type) {
  return typeFacts[unsigned(type) - 1];
}

Type tile_dialect::emulator::parseType(llvm::StringRef name) {
  static const llvm::StringMap<Type> map = [] {
    llvm::StringMap<Type> result;
    for (const TypeFacts &facts : typeFacts)
      result[facts.name] = facts.type;
    return result;
  }();
  auto it = map.find(name);
  return it == map.end() ? Type::None : it->second;
}

llvm::StringRef tile_dialect::emulator::typeName(Type type) {
  return type == Type::None ? "none" : factsOf(type).name;
}

unsigned tile_dialect::emulator::bitWidth(Type type) {
  return type == Type::None ? 0 : factsOf(type).bits;
}

static bool isFamily(Type type, Family family) {
  return type != Type::None && factsOf(type).family == family;
}

bool tile_dialect::emulator::isFloatType(Type type) {
  return isFamily(type, Family::Float);
}
bool tile_dialect::emulator::isSignedType(Type type) {
  return isFamily(type, Family::Signed);
}
bool tile_dialect::emulator::isUnsignedType(Type type) {
  return isFamily(type, Family::Unsigned);
}
bool tile_dialect::emulator::isBitsType(Type type) {
  return isFamily(type, Family::Bits);
}
