//===- HostArray.h - Typed arrays in host memory and NumPy files ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_RUNTIME_HOSTARRAY_H
#define TILEDIALECT_RUNTIME_HOSTARRAY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile_dialect::runtime {

/// The element types that kernels take.
enum class ElementType : uint8_t {
  I1,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F8E4M3FN,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64,
};

/// The type of that name: i1, i8 … u64, f16, bf16, f32, f64, f8E4M3FN (also
/// e4m3) and f8E5M2 (also e5m2).
std::optional<ElementType> parseElementType(llvm::StringRef name);
llvm::StringRef elementTypeName(ElementType type);
/// The size in bytes.
unsigned elementBytes(ElementType type);
bool isFloat(ElementType type);
/// The bits of the value that is nearest to a number (ties to even; integers
/// wrap).
uint64_t encodeElement(ElementType type, double value);
/// The number that bits stand for, as a double (64-bit integers may round).
double decodeElement(ElementType type, uint64_t bits);

/// A dense array, the last dimension contiguous.
struct HostArray {
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> data;

  uint64_t count() const;
  uint64_t bits(uint64_t index) const;
  double at(uint64_t index) const { return decodeElement(type, bits(index)); }
  void set(uint64_t index, uint64_t bits);
  /// The same numbers in another type.
  HostArray convertedTo(ElementType other) const;
};

/// Reads a .npy file (format versions 1 to 3, little endian, C order).
llvm::Expected<HostArray> readNpy(llvm::StringRef path);
/// Writes a .npy file.  NumPy has no bf16 and no fp8: these are written as
/// float32, which holds their values exactly.
llvm::Error writeNpy(llvm::StringRef path, const HostArray &array);

/// How well an array agrees with what was expected.
struct Comparison {
  uint64_t count = 0, mismatches = 0;
  double maximalAbsoluteError = 0, maximalRelativeError = 0;
  /// The element with the largest error above its tolerance.
  uint64_t worstIndex = 0;
  double worstActual = 0, worstExpected = 0;
  std::vector<uint64_t> shape;

  bool matches() const { return mismatches == 0; }
  /// One line: the counts, the errors and the worst element.
  std::string str() const;
};

/// Compares |actual - expected| <= atol + rtol * |expected| element by element;
/// two NaN agree, and so do equal infinities.  The types may differ, the shapes
/// not, except that `expected` may have leading or trailing extents of one less
/// or more.
llvm::Expected<Comparison> compareArrays(const HostArray &actual,
                                         const HostArray &expected, double rtol,
                                         double atol);

} // namespace tile_dialect::runtime

#endif // TILEDIALECT_RUNTIME_HOSTARRAY_H
