//===- TensorMap.cpp - Tensor maps of the emulator ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Emulator/TensorMap.h"
#include "TileDialect/Emulator/Report.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cstring>

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

/// The 128 bytes.
struct Encoding {
  char mark[8];
  uint64_t address;
  uint64_t dim[maximalTensorRank];
  uint64_t stride[maximalTensorRank - 1];
  uint16_t box[maximalTensorRank];
  uint8_t elementStride[maximalTensorRank];
  uint8_t rank, dataType, swizzle, fill, l2Promotion;
  uint32_t check;
  uint8_t unused[16];
};
static_assert(sizeof(Encoding) == tensorMapBytes, "the size of a CUtensorMap");

constexpr char markText[8] = {'T', 'i', 'l', 'e', 'T', 'M', 'a', 'p'};

/// FNV-1a over what lies before the field itself.
uint32_t checkSum(const Encoding &encoding) {
  uint32_t hash = 2166136261u;
  const auto *bytes = reinterpret_cast<const uint8_t *>(&encoding);
  for (size_t i = 0; i < offsetof(Encoding, check); ++i)
    hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

llvm::Error invalid(const Twine &message) {
  return makeError(Report::Kind::InvalidLaunch, "tensor map: " + message);
}

unsigned swizzleBytes(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::None ? 0 : 16u << unsigned(swizzle);
}

bool isFloat(TensorDataType type) { return type >= TensorDataType::Float16; }

llvm::Error checkRanks(const TensorMapArguments &arguments) {
  size_t rank = arguments.globalDim.size();
  if (rank == 0 || rank > maximalTensorRank)
    return invalid("the rank must be 1 to 5, found " + Twine(rank));
  if (arguments.boxDim.size() != rank ||
      arguments.elementStrides.size() != rank ||
      arguments.globalStrides.size() != rank - 1)
    return invalid("a tensor of rank " + Twine(rank) + " needs " + Twine(rank) +
                   " box extents and element strides and " + Twine(rank - 1) +
                   " strides");
  if (arguments.dataType > TensorDataType::TFloat32FTZ)
    return invalid("unknown data type " + Twine(int(arguments.dataType)));
  if (arguments.swizzle > TensorSwizzle::Bytes128)
    return invalid("unknown swizzle " + Twine(int(arguments.swizzle)));
  if (arguments.interleave != TensorInterleave::None)
    return invalid("interleaved layouts are not emulated");
  if (arguments.fill == TensorFill::NaN && !isFloat(arguments.dataType))
    return invalid("out-of-bounds elements can be NaN in floats only");
  return llvm::Error::success();
}

llvm::Error checkExtents(const TensorMapArguments &arguments) {
  for (size_t i = 0; i < arguments.globalDim.size(); ++i) {
    uint64_t dim = arguments.globalDim[i];
    if (dim == 0 || dim > uint64_t(1) << 32)
      return invalid("extent " + Twine(i) + " must be 1 to 2^32, found " +
                     Twine(dim));
    uint32_t box = arguments.boxDim[i];
    if (box == 0 || box > 256)
      return invalid("box extent " + Twine(i) + " must be 1 to 256, found " +
                     Twine(box));
    uint32_t step = arguments.elementStrides[i];
    if (step == 0 || step > 8)
      return invalid("element stride " + Twine(i) + " must be 1 to 8, found " +
                     Twine(step));
  }
  for (size_t i = 0; i < arguments.globalStrides.size(); ++i) {
    uint64_t stride = arguments.globalStrides[i];
    if (stride % 16 != 0 || stride >= uint64_t(1) << 40)
      return invalid("stride " + Twine(i + 1) +
                     " must be a multiple of 16 bytes below 2^40, found " +
                     Twine(stride));
  }
  return llvm::Error::success();
}

} // namespace

unsigned tile_dialect::emulator::elementBytes(TensorDataType type) {
  switch (type) {
  case TensorDataType::UInt8:
    return 1;
  case TensorDataType::UInt16:
  case TensorDataType::Float16:
  case TensorDataType::BFloat16:
    return 2;
  case TensorDataType::UInt64:
  case TensorDataType::Int64:
  case TensorDataType::Float64:
    return 8;
  default:
    return 4;
  }
}

llvm::Error
tile_dialect::emulator::encodeTensorMap(uint8_t *out,
                                        const TensorMapArguments &arguments) {
  if (llvm::Error error = checkRanks(arguments))
    return error;
  if (arguments.globalAddress % 16 != 0)
    return invalid("the address must be a multiple of 16");
  if (llvm::Error error = checkExtents(arguments))
    return error;
  uint64_t rowBytes =
      uint64_t(arguments.boxDim[0]) * elementBytes(arguments.dataType);
  if (rowBytes % 16 != 0)
    return invalid("a row of the box must be a multiple of 16 bytes, found " +
                   Twine(rowBytes));
  unsigned width = swizzleBytes(arguments.swizzle);
  if (width && rowBytes > width)
    return invalid("a row of the box has " + Twine(rowBytes) +
                   " bytes, more than the " + Twine(width) + " of the swizzle");
  Encoding encoding = {};
  std::memcpy(encoding.mark, markText, sizeof(markText));
  encoding.address = arguments.globalAddress;
  encoding.rank = arguments.globalDim.size();
  for (unsigned i = 0; i < encoding.rank; ++i) {
    encoding.dim[i] = arguments.globalDim[i];
    encoding.box[i] = arguments.boxDim[i];
    encoding.elementStride[i] = arguments.elementStrides[i];
    if (i > 0)
      encoding.stride[i - 1] = arguments.globalStrides[i - 1];
  }
  encoding.dataType = uint8_t(arguments.dataType);
  encoding.swizzle = uint8_t(arguments.swizzle);
  encoding.fill = uint8_t(arguments.fill);
  encoding.l2Promotion = arguments.l2Promotion;
  encoding.check = checkSum(encoding);
  std::memcpy(out, &encoding, sizeof(encoding));
  return llvm::Error::success();
}

bool TensorMap::decode(const uint8_t *bytes, TensorMap &map) {
  Encoding encoding;
  std::memcpy(&encoding, bytes, sizeof(encoding));
  if (std::memcmp(encoding.mark, markText, sizeof(markText)) != 0 ||
      encoding.check != checkSum(encoding))
    return false;
  map.dataType = TensorDataType(encoding.dataType);
  map.rank = encoding.rank;
  map.address = encoding.address;
  map.swizzle = TensorSwizzle(encoding.swizzle);
  map.fill = TensorFill(encoding.fill);
  map.stride[0] = elementBytes(map.dataType);
  for (unsigned i = 0; i < map.rank; ++i) {
    map.dim[i] = encoding.dim[i];
    map.box[i] = encoding.box[i];
    // The hardware does not stride in the contiguous dimension.
    map.elementStride[i] = i == 0 ? 1 : encoding.elementStride[i];
    if (i > 0)
      map.stride[i] = encoding.stride[i - 1];
  }
  return true;
}

uint32_t TensorMap::boxElements(unsigned dimension) const {
  uint32_t step = elementStride[dimension];
  return (box[dimension] + step - 1) / step;
}

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes(dataType);
  for (unsigned i = 0; i < rank; ++i)
    bytes *= boxElements(i);
  return bytes;
}

uint32_t TensorMap::rowPitch() const {
  uint32_t bytes = boxElements(0) * elementBytes(dataType);
  return std::max(bytes, swizzleBytes(swizzle));
}
