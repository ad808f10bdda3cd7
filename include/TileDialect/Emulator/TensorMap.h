//===- TensorMap.h - Tensor maps of the emulator ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The encoding of a CUtensorMap is opaque; the emulator has its own of the same
// size and alignment.  A launcher passes it to kernels in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_EMULATOR_TENSORMAP_H
#define TILEDIALECT_EMULATOR_TENSORMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace tile_dialect::emulator {

/// The numbers of the enumerations are those of cuda.h (CUtensorMapDataType
/// and so on).
enum class TensorDataType : uint8_t {
  UInt8,
  UInt16,
  UInt32,
  Int32,
  UInt64,
  Int64,
  Float16,
  Float32,
  Float64,
  BFloat16,
  Float32FTZ,
  TFloat32,
  TFloat32FTZ,
};
enum class TensorInterleave : uint8_t { None, Bytes16, Bytes32 };
enum class TensorSwizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };
enum class TensorFill : uint8_t { Zero, NaN };

/// The arguments of cuTensorMapEncodeTiled.  Dimension 0 is the contiguous one.
struct TensorMapArguments {
  TensorDataType dataType = TensorDataType::Float16;
  uint64_t globalAddress = 0;
  /// `rank` extents of the tensor; `rank` - 1 strides in bytes, of dimensions 1
  /// and up; `rank` extents of the box and strides of the elements in it.
  llvm::ArrayRef<uint64_t> globalDim;
  llvm::ArrayRef<uint64_t> globalStrides;
  llvm::ArrayRef<uint32_t> boxDim;
  llvm::ArrayRef<uint32_t> elementStrides;
  TensorInterleave interleave = TensorInterleave::None;
  TensorSwizzle swizzle = TensorSwizzle::None;
  /// CUtensorMapL2promotion; changes nothing here.
  uint8_t l2Promotion = 0;
  TensorFill fill = TensorFill::Zero;
};

/// The arguments of cuTensorMapEncodeIm2col, in so far as they differ: a tensor
/// of rank 3 to 5 whose dimension 0 are channels and whose last one are images.
/// `boxDim` of the base is not used.
struct TensorMapIm2colArguments : TensorMapArguments {
  /// `rank` - 2 corners of the box of pixels, of dimensions 1 and up: offsets
  /// from the tensor's first pixel, and from its last.
  llvm::ArrayRef<int32_t> lowerCorner, upperCorner;
  uint32_t channelsPerPixel = 0, pixelsPerColumn = 0;
};

constexpr unsigned tensorMapBytes = 128;
constexpr unsigned maximalTensorRank = 5;
constexpr unsigned maximalSpatialRank = maximalTensorRank - 2;

/// The bytes of an element.
unsigned elementBytes(TensorDataType type);

/// Writes the emulator's tensor map, 128 bytes, to `out`.  Arguments that
/// cuTensorMapEncodeTiled refuses (CUDA_ERROR_INVALID_VALUE) are an error, and
/// interleaved layouts, which are not emulated.
llvm::Error encodeTensorMap(uint8_t *out, const TensorMapArguments &arguments);

llvm::Error encodeTensorMapIm2col(uint8_t *out,
                                  const TensorMapIm2colArguments &arguments);

/// The fields that `tensormap.replace` can change.
enum class TensorMapField : uint8_t {
  GlobalAddress,
  /// The rank less one.
  Rank,
  ElementType,
  InterleaveLayout,
  SwizzleMode,
  FillMode,
  // With an ordinal:
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
};

/// Changes a field of a tensor map; `value` is encoded as the PTX ISA says
/// (table "tensormap.replace").  False if there is no tensor map, or no such
/// ordinal or value.  What fields mean together is checked at their use.
bool replaceTensorMapField(uint8_t *map, TensorMapField field, unsigned ordinal,
                           uint64_t value);

/// A decoded tensor map.
struct TensorMap {
  TensorDataType dataType = TensorDataType::UInt8;
  unsigned rank = 0;
  uint64_t address = 0;
  uint64_t dim[maximalTensorRank] = {};
  /// In bytes; stride[0] is the size of an element.
  uint64_t stride[maximalTensorRank] = {};
  uint32_t box[maximalTensorRank] = {};
  uint32_t elementStride[maximalTensorRank] = {};
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorFill fill = TensorFill::Zero;
  /// The box are `box[1]` pixels of `box[0]` channels; else extents.
  bool isIm2col = false;
  /// The corners of the box of pixels.
  int32_t lower[maximalSpatialRank] = {}, upper[maximalSpatialRank] = {};

  /// False if the bytes were not written by encodeTensorMap, or were changed to
  /// something that it refuses.
  static bool decode(const uint8_t *bytes, TensorMap &map);

  /// Elements of the box that are moved in a dimension (tile mode).
  uint32_t boxElements(unsigned dimension) const;
  /// Bytes of all elements of the box: what a load adds to the mbarrier.
  uint64_t boxBytes() const;
  /// Bytes from one row of the box in shared memory to the next: the row's own,
  /// or the swizzle's width where that is larger.
  uint32_t rowPitch() const;
};

/// The byte that a swizzled tensor copy or wgmma uses in place of `offset`,
/// which counts from the beginning of shared memory: 16-byte chunks are
/// permuted by the number of the 128-byte line.
inline uint32_t swizzleOffset(TensorSwizzle swizzle, uint32_t offset) {
  switch (swizzle) {
  case TensorSwizzle::None:
    return offset;
  case TensorSwizzle::Bytes32:
    return offset ^ (offset >> 3 & 0x10);
  case TensorSwizzle::Bytes64:
    return offset ^ (offset >> 3 & 0x30);
  case TensorSwizzle::Bytes128:
    return offset ^ (offset >> 3 & 0x70);
  }
  return offset;
}

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_EMULATOR_TENSORMAP_H
