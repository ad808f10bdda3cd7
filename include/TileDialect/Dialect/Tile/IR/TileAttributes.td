//===- TileAttributes.td - Attributes of the tile dialect --*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILEATTRIBUTES_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILEATTRIBUTES_TD

include "TileDialect/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/EnumAttr.td"

class Tile_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::mlir::tile";
}
class Tile_EnumAttr<Tile_Enum enum, string mnemonic>
    : EnumAttr<Tile_Dialect, enum, mnemonic>;

def Tile_AxisEnum : Tile_Enum<"Axis", "grid axis", [
  I32EnumCase<"X", 0, "x">, I32EnumCase<"Y", 1, "y">, I32EnumCase<"Z", 2, "z">]>;
def Tile_Axis : Tile_EnumAttr<Tile_AxisEnum, "axis">;

def Tile_CacheModifierEnum : Tile_Enum<"CacheModifier",
  "cache operator of a load or store (PTX ISA, Cache Operators)", [
  I32EnumCase<"None", 0, "none">, I32EnumCase<"CA", 1, "ca">,
  I32EnumCase<"CG", 2, "cg">, I32EnumCase<"CV", 3, "cv">,
  I32EnumCase<"WB", 4, "wb">, I32EnumCase<"CS", 5, "cs">,
  I32EnumCase<"WT", 6, "wt">]>;
def Tile_CacheModifier : Tile_EnumAttr<Tile_CacheModifierEnum, "cache">;

def Tile_EvictionPolicyEnum : Tile_Enum<"EvictionPolicy",
  "eviction priority of a load or store (PTX ISA, Cache Eviction Priority Hints)", [
  I32EnumCase<"Normal", 0, "evict_normal">, I32EnumCase<"First", 1, "evict_first">,
  I32EnumCase<"Last", 2, "evict_last">, I32EnumCase<"NoAllocate", 3, "no_allocate">]>;
def Tile_EvictionPolicy : Tile_EnumAttr<Tile_EvictionPolicyEnum, "eviction">;

def Tile_PaddingEnum : Tile_Enum<"Padding", "value of elements outside a tensor", [
  I32EnumCase<"Zero", 0, "zero">, I32EnumCase<"NaN", 1, "nan">]>;
def Tile_Padding : Tile_EnumAttr<Tile_PaddingEnum, "padding">;

def Tile_MemSemanticEnum : Tile_Enum<"MemSemantic", "memory order of an atomic", [
  I32EnumCase<"Relaxed", 0, "relaxed">, I32EnumCase<"Acquire", 1, "acquire">,
  I32EnumCase<"Release", 2, "release">, I32EnumCase<"AcquireRelease", 3, "acq_rel">]>;
def Tile_MemSemantic : Tile_EnumAttr<Tile_MemSemanticEnum, "sem">;

def Tile_MemScopeEnum : Tile_Enum<"MemScope", "threads that an atomic is ordered with", [
  I32EnumCase<"CTA", 0, "cta">, I32EnumCase<"GPU", 1, "gpu">,
  I32EnumCase<"System", 2, "sys">]>;
def Tile_MemScope : Tile_EnumAttr<Tile_MemScopeEnum, "scope">;

def Tile_RMWKindEnum : Tile_Enum<"RMWKind", "read-modify-write operation", [
  I32EnumCase<"Add", 0, "add">, I32EnumCase<"FAdd", 1, "fadd">,
  I32EnumCase<"Max", 2, "max">, I32EnumCase<"Min", 3, "min">,
  I32EnumCase<"UMax", 4, "umax">, I32EnumCase<"UMin", 5, "umin">,
  I32EnumCase<"FMax", 6, "fmax">, I32EnumCase<"FMin", 7, "fmin">,
  I32EnumCase<"And", 8, "and">, I32EnumCase<"Or", 9, "or">,
  I32EnumCase<"Xor", 10, "xor">, I32EnumCase<"Exchange", 11, "xchg">]>;
def Tile_RMWKind : Tile_EnumAttr<Tile_RMWKindEnum, "rmw">;

def Tile_InputPrecisionEnum : Tile_Enum<"InputPrecision",
  "how the f32 operands of a dot are multiplied", [
  I32EnumCase<"TF32", 0, "tf32">, I32EnumCase<"TF32x3", 1, "tf32x3">,
  I32EnumCase<"IEEE", 2, "ieee">, I32EnumCase<"BF16x3", 3, "bf16x3">,
  I32EnumCase<"BF16x6", 4, "bf16x6">]>;
def Tile_InputPrecision : Tile_EnumAttr<Tile_InputPrecisionEnum, "precision">;

def Tile_ScaledFormatEnum : Tile_Enum<"ScaledFormat",
  "element format of a dot_scaled operand (OCP Microscaling Formats)", [
  I32EnumCase<"E2M1", 0, "e2m1">, I32EnumCase<"E4M3", 1, "e4m3">,
  I32EnumCase<"E5M2", 2, "e5m2">, I32EnumCase<"BF16", 3, "bf16">,
  I32EnumCase<"FP16", 4, "fp16">]>;
def Tile_ScaledFormat : Tile_EnumAttr<Tile_ScaledFormatEnum, "format">;

def Tile_RoundingEnum : Tile_Enum<"Rounding", "rounding of a floating-point narrowing", [
  I32EnumCase<"NearestEven", 0, "rtne">, I32EnumCase<"TowardZero", 1, "rtz">]>;
def Tile_Rounding : Tile_EnumAttr<Tile_RoundingEnum, "rounding">;

#endif // TILEDIALECT_DIALECT_TILE_IR_TILEATTRIBUTES_TD
