//===- Types.h - PTX types and state spaces ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_TYPES_H
#define TILEDIALECT_LIB_EMULATOR_TYPES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tile_dialect::emulator {

/// The types that a PTX instruction or declaration can name.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F64,
  TF32,
  F32x2,
  U16x2,
  S16x2,
  U8x4,
  S8x4,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  E4M3x4,
  E5M2x4,
  E2M1,
  E2M3,
  E3M2,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  E2M1x4,
  E2M3x4,
  E3M2x4,
  UE8M0,
  UE8M0x2,
  UE4M3,
  B1,
  U4,
  S4,
};

/// The type of that name (without a dot), or Type::None.
Type parseType(llvm::StringRef name);
llvm::StringRef typeName(Type type);
/// The width in bits; 1 for predicates.
unsigned bitWidth(Type type);
bool isFloatType(Type type);
bool isSignedType(Type type);
bool isUnsignedType(Type type);
bool isBitsType(Type type);
inline bool isIntegerOrBits(Type type) {
  return isSignedType(type) || isUnsignedType(type) || isBitsType(type);
}

enum class Space : uint8_t {
  Generic,
  Global,
  Shared,
  SharedCluster,
  Local,
  Const,
  Param,
  Register,
};

/// Windows of the generic address space.  Each lies above every address that
/// a host allocator or Memory returns.  A shared address is a 32-bit offset in
/// which bits 24 and up hold the rank of the block in its cluster plus one, or
/// zero for the executing block itself.
constexpr uint64_t sharedWindow = 0xF0'0000'0000'0000ull;
constexpr uint64_t localWindow = 0xF1'0000'0000'0000ull;
constexpr uint64_t paramWindow = 0xF2'0000'0000'0000ull;
constexpr uint64_t windowBytes = 0x1'0000'0000ull;
/// The first bytes of shared memory are the system's, as on sm_90, so that no
/// variable has the address zero and the dynamic part is aligned to 1,024.
constexpr uint32_t reservedSharedBytes = 1024;
constexpr uint32_t sharedRankShift = 24;

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_TYPES_H
