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
  /// `isIm2col`, and whether `tensormap.replace` has changed a field.
  uint8_t isIm2col, isEdited, interleave;
  int16_t lower[maximalSpatialRank], upper[maximalSpatialRank];
  uint32_t check;
};
static_assert(sizeof(Encoding) == tensorMapBytes, "the size of a CUtensorMap");

/// By the numbers of element types in PTX.
constexpr TensorDataType elementTypes[] = {
    TensorDataType::UInt8,      TensorDataType::UInt16,
    TensorDataType::UInt32,     TensorDataType::Int32,
    TensorDataType::UInt64,     TensorDataType::Int64,
    TensorDataType::Float16,    TensorDataType::Float32,
    TensorDataType::Float32FTZ, TensorDataType::Float64,
    TensorDataType::BFloat16,   TensorDataType::TFloat32,
    TensorDataType::TFloat32FTZ};

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
  if (arguments.elementStrides.size() != rank ||
      arguments.globalStrides.size() != rank - 1)
    return invalid("a tensor of rank " + Twine(rank) + " needs " + Twine(rank) +
                   " element strides and " + Twine(rank - 1) + " strides");
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

llvm::Error checkDims(const TensorMapArguments &arguments) {
  for (size_t i = 0; i < arguments.globalDim.size(); ++i) {
    uint64_t dim = arguments.globalDim[i];
    if (dim == 0 || dim > uint64_t(1) << 32)
      return invalid("extent " + Twine(i) + " must be 1 to 2^32, found " +
                     Twine(dim));
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
  if (arguments.globalAddress % 16 != 0)
    return invalid("the address must be a multiple of 16");
  return llvm::Error::success();
}

llvm::Error checkBox(const TensorMapArguments &arguments) {
  for (size_t i = 0; i < arguments.boxDim.size(); ++i)
    if (uint32_t box = arguments.boxDim[i]; box == 0 || box > 256)
      return invalid("box extent " + Twine(i) + " must be 1 to 256, found " +
                     Twine(box));
  return llvm::Error::success();
}

llvm::Error checkRow(const TensorMapArguments &arguments, uint32_t elements) {
  uint64_t rowBytes = uint64_t(elements) * elementBytes(arguments.dataType);
  if (rowBytes % 16 != 0)
    return invalid("a row of the box must be a multiple of 16 bytes, found " +
                   Twine(rowBytes));
  unsigned width = swizzleBytes(arguments.swizzle);
  if (width && rowBytes > width)
    return invalid("a row of the box has " + Twine(rowBytes) +
                   " bytes, more than the " + Twine(width) + " of the swizzle");
  return llvm::Error::success();
}

llvm::Error checkPixels(const TensorMapIm2colArguments &arguments) {
  size_t rank = arguments.globalDim.size();
  if (rank < 3)
    return invalid("the rank must be 3 to 5 for im2col, found " + Twine(rank));
  if (arguments.lowerCorner.size() != rank - 2 ||
      arguments.upperCorner.size() != rank - 2)
    return invalid("a tensor of rank " + Twine(rank) + " needs " +
                   Twine(rank - 2) + " values of each corner");
  const int32_t limit = rank == 3 ? 32768 : rank == 4 ? 128 : 16;
  for (auto corner : {arguments.lowerCorner, arguments.upperCorner})
    for (int32_t value : corner)
      if (value < -limit || value >= limit)
        return invalid("the corners of the box of pixels must be " +
                       Twine(-limit) + " to " + Twine(limit - 1) + ", found " +
                       Twine(value));
  if (arguments.channelsPerPixel == 0 || arguments.channelsPerPixel > 256)
    return invalid("the channels of a pixel must be 1 to 256, found " +
                   Twine(arguments.channelsPerPixel));
  if (arguments.pixelsPerColumn == 0 || arguments.pixelsPerColumn > 1024)
    return invalid("the pixels of a column must be 1 to 1024, found " +
                   Twine(arguments.pixelsPerColumn));
  return llvm::Error::success();
}

/// What both modes store in the same way.
Encoding encodeCommon(const TensorMapArguments &arguments) {
  Encoding encoding = {};
  std::memcpy(encoding.mark, markText, sizeof(markText));
  encoding.address = arguments.globalAddress;
  encoding.rank = arguments.globalDim.size();
  for (unsigned i = 0; i < encoding.rank; ++i) {
    encoding.dim[i] = arguments.globalDim[i];
    encoding.elementStride[i] = arguments.elementStrides[i];
    if (i > 0)
      encoding.stride[i - 1] = arguments.globalStrides[i - 1];
  }
  encoding.dataType = uint8_t(arguments.dataType);
  encoding.swizzle = uint8_t(arguments.swizzle);
  encoding.fill = uint8_t(arguments.fill);
  encoding.l2Promotion = arguments.l2Promotion;
  return encoding;
}

void writeEncoding(Encoding &encoding, uint8_t *out) {
  encoding.check = checkSum(encoding);
  std::memcpy(out, &encoding, sizeof(encoding));
}

bool readEncoding(const uint8_t *bytes, Encoding &encoding) {
  std::memcpy(&encoding, bytes, sizeof(encoding));
  return std::memcmp(encoding.mark, markText, sizeof(markText)) == 0 &&
         encoding.check == checkSum(encoding);
}

/// Whether a map that was changed is one that cuTensorMapEncodeTiled makes.
bool isValidTile(const Encoding &encoding) {
  if (encoding.rank > maximalTensorRank)
    return false;
  uint32_t box[maximalTensorRank], steps[maximalTensorRank];
  std::copy(std::begin(encoding.box), std::end(encoding.box), box);
  std::copy(std::begin(encoding.elementStride),
            std::end(encoding.elementStride), steps);
  TensorMapArguments arguments;
  arguments.dataType = TensorDataType(encoding.dataType);
  arguments.globalAddress = encoding.address;
  arguments.globalDim = {encoding.dim, encoding.rank};
  arguments.globalStrides = {encoding.stride,
                             size_t(std::max<int>(encoding.rank, 1) - 1)};
  arguments.boxDim = {box, encoding.rank};
  arguments.elementStrides = {steps, encoding.rank};
  arguments.interleave = TensorInterleave(encoding.interleave);
  arguments.swizzle = TensorSwizzle(encoding.swizzle);
  arguments.fill = TensorFill(encoding.fill);
  uint8_t scratch[tensorMapBytes];
  llvm::Error error = encodeTensorMap(scratch, arguments);
  bool isValid = !error;
  llvm::consumeError(std::move(error));
  return isValid;
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
  if (arguments.boxDim.size() != arguments.globalDim.size())
    return invalid("a tensor of rank " + Twine(arguments.globalDim.size()) +
                   " needs as many box extents");
  if (llvm::Error error = checkDims(arguments))
    return error;
  if (llvm::Error error = checkBox(arguments))
    return error;
  if (llvm::Error error = checkRow(arguments, arguments.boxDim[0]))
    return error;
  Encoding encoding = encodeCommon(arguments);
  std::copy(arguments.boxDim.begin(), arguments.boxDim.end(), encoding.box);
  writeEncoding(encoding, out);
  return llvm::Error::success();
}

llvm::Error tile_dialect::emulator::encodeTensorMapIm2col(
    uint8_t *out, const TensorMapIm2colArguments &arguments) {
  if (llvm::Error error = checkRanks(arguments))
    return error;
  if (llvm::Error error = checkDims(arguments))
    return error;
  if (llvm::Error error = checkPixels(arguments))
    return error;
  if (llvm::Error error = checkRow(arguments, arguments.channelsPerPixel))
    return error;
  Encoding encoding = encodeCommon(arguments);
  encoding.isIm2col = 1;
  encoding.box[0] = arguments.channelsPerPixel;
  encoding.box[1] = arguments.pixelsPerColumn;
  std::copy(arguments.lowerCorner.begin(), arguments.lowerCorner.end(),
            encoding.lower);
  std::copy(arguments.upperCorner.begin(), arguments.upperCorner.end(),
            encoding.upper);
  writeEncoding(encoding, out);
  return llvm::Error::success();
}

bool tile_dialect::emulator::replaceTensorMapField(uint8_t *map,
                                                   TensorMapField field,
                                                   unsigned ordinal,
                                                   uint64_t value) {
  Encoding encoding;
  if (!readEncoding(map, encoding) || encoding.isIm2col ||
      ordinal >= maximalTensorRank)
    return false;
  auto set = [&](auto &place, uint64_t limit) {
    place = value;
    return value <= limit;
  };
  bool known = true;
  switch (field) {
  case TensorMapField::GlobalAddress:
    encoding.address = value;
    break;
  case TensorMapField::Rank:
    known = set(encoding.rank, maximalTensorRank - 1);
    ++encoding.rank;
    break;
  case TensorMapField::ElementType:
    known = value < std::size(elementTypes);
    encoding.dataType = known ? uint8_t(elementTypes[value]) : 0;
    break;
  case TensorMapField::InterleaveLayout:
    known = set(encoding.interleave, 2);
    break;
  case TensorMapField::SwizzleMode:
    known = set(encoding.swizzle, 3);
    break;
  case TensorMapField::FillMode:
    known = set(encoding.fill, 1);
    break;
  case TensorMapField::BoxDim:
    known = set(encoding.box[ordinal], 256);
    break;
  case TensorMapField::GlobalDim:
    encoding.dim[ordinal] = value;
    break;
  case TensorMapField::GlobalStride:
    known = ordinal < maximalTensorRank - 1;
    if (known)
      encoding.stride[ordinal] = value;
    break;
  case TensorMapField::ElementStride:
    known = set(encoding.elementStride[ordinal], 8);
    break;
  }
  encoding.isEdited = 1;
  if (known)
    writeEncoding(encoding, map);
  return known;
}

bool TensorMap::decode(const uint8_t *bytes, TensorMap &map) {
  Encoding encoding;
  if (!readEncoding(bytes, encoding) ||
      (encoding.isEdited && !isValidTile(encoding)))
    return false;
  map.dataType = TensorDataType(encoding.dataType);
  map.rank = encoding.rank;
  map.address = encoding.address;
  map.swizzle = TensorSwizzle(encoding.swizzle);
  map.fill = TensorFill(encoding.fill);
  map.isIm2col = encoding.isIm2col;
  map.stride[0] = elementBytes(map.dataType);
  for (unsigned i = 0; i < map.rank; ++i) {
    map.dim[i] = encoding.dim[i];
    map.box[i] = encoding.box[i];
    // The hardware does not stride in the contiguous dimension.
    map.elementStride[i] = i == 0 ? 1 : encoding.elementStride[i];
    if (i > 0)
      map.stride[i] = encoding.stride[i - 1];
  }
  std::copy(std::begin(encoding.lower), std::end(encoding.lower), map.lower);
  std::copy(std::begin(encoding.upper), std::end(encoding.upper), map.upper);
  return true;
}

uint32_t TensorMap::boxElements(unsigned dimension) const {
  uint32_t step = elementStride[dimension];
  return (box[dimension] + step - 1) / step;
}

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes(dataType);
  if (isIm2col)
    return bytes * box[0] * box[1];
  for (unsigned i = 0; i < rank; ++i)
    bytes *= boxElements(i);
  return bytes;
}

uint32_t TensorMap::rowPitch() const {
  uint32_t bytes = boxElements(0) * elementBytes(dataType);
  return std::max(bytes, swizzleBytes(swizzle));
}
