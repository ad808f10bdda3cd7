//===- HostArray.cpp - Typed arrays in host memory and NumPy files ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Runtime/HostArray.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace tile_dialect::runtime;
using llvm::StringRef;
using llvm::Twine;

namespace {
struct TypeFacts {
  ElementType type;
  const char *name;
  unsigned bytes;
  /// The NumPy type that a file of it has.
  const char *numpy;
};
} // namespace

/// In the order of the enumeration.
static const TypeFacts typeFacts[] = {
    {ElementType::I1, "i1", 1, "|b1"},
    {ElementType::I8, "i8", 1, "|i1"},
    {ElementType::U8, "u8", 1, "|u1"},
    {ElementType::I16, "i16", 2, "<i2"},
    {ElementType::U16, "u16", 2, "<u2"},
    {ElementType::I32, "i32", 4, "<i4"},
    {ElementType::U32, "u32", 4, "<u4"},
    {ElementType::I64, "i64", 8, "<i8"},
    {ElementType::U64, "u64", 8, "<u8"},
    {ElementType::F8E4M3FN, "f8E4M3FN", 1, "<f4"},
    {ElementType::F8E5M2, "f8E5M2", 1, "<f4"},
    {ElementType::F16, "f16", 2, "<f2"},
    {ElementType::BF16, "bf16", 2, "<f4"},
    {ElementType::F32, "f32", 4, "<f4"},
    {ElementType::F64, "f64", 8, "<f8"},
};

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::optional<ElementType>
tile_dialect::runtime::parseElementType(StringRef name) {
  if (name == "e4m3")
    return ElementType::F8E4M3FN;
  if (name == "e5m2")
    return ElementType::F8E5M2;
  for (const TypeFacts &facts : typeFacts)
    if (name == facts.name)
      return facts.type;
  return std::nullopt;
}

StringRef tile_dialect::runtime::elementTypeName(ElementType type) {
  return typeFacts[unsigned(type)].name;
}

unsigned tile_dialect::runtime::elementBytes(ElementType type) {
  return typeFacts[unsigned(type)].bytes;
}

bool tile_dialect::runtime::isFloat(ElementType type) {
  return type >= ElementType::F8E4M3FN;
}

static const llvm::fltSemantics *semanticsOf(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
    return &llvm::APFloat::Float8E4M3FN();
  case ElementType::F8E5M2:
    return &llvm::APFloat::Float8E5M2();
  case ElementType::F16:
    return &llvm::APFloat::IEEEhalf();
  case ElementType::BF16:
    return &llvm::APFloat::BFloat();
  default:
    return nullptr;
  }
}

uint64_t tile_dialect::runtime::encodeElement(ElementType type, double value) {
  uint64_t bits = 0;
  if (const llvm::fltSemantics *semantics = semanticsOf(type)) {
    llvm::APFloat number(value);
    bool losesInfo;
    number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return number.bitcastToAPInt().getZExtValue();
  }
  switch (type) {
  case ElementType::F32: {
    float narrow = value;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  case ElementType::F64:
    std::memcpy(&bits, &value, 8);
    return bits;
  case ElementType::I1:
    return value != 0;
  default:
    break;
  }
  // Saturate what a conversion to an integer leaves undefined.
  if (std::isnan(value))
    return 0;
  if (value >= 0x1p63)
    bits = value >= 0x1p64 ? ~uint64_t(0) : uint64_t(value);
  else
    bits = value <= -0x1p63 ? uint64_t(1) << 63 : uint64_t(int64_t(value));
  unsigned bytes = elementBytes(type);
  return bytes == 8 ? bits : bits & ((uint64_t(1) << (8 * bytes)) - 1);
}

double tile_dialect::runtime::decodeElement(ElementType type, uint64_t bits) {
  if (const llvm::fltSemantics *semantics = semanticsOf(type)) {
    llvm::APFloat number(*semantics, llvm::APInt(8 * elementBytes(type), bits));
    bool losesInfo;
    number.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }
  switch (type) {
  case ElementType::F32: {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  case ElementType::F64: {
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  case ElementType::I1:
    return bits != 0;
  case ElementType::I8:
    return int8_t(bits);
  case ElementType::I16:
    return int16_t(bits);
  case ElementType::I32:
    return int32_t(bits);
  case ElementType::I64:
    return double(int64_t(bits));
  default:
    return double(bits);
  }
}

uint64_t HostArray::count() const {
  uint64_t result = 1;
  for (uint64_t extent : shape)
    result *= extent;
  return result;
}

uint64_t HostArray::bits(uint64_t index) const {
  uint64_t result = 0;
  unsigned bytes = elementBytes(type);
  std::memcpy(&result, data.data() + index * bytes, bytes);
  return result;
}

void HostArray::set(uint64_t index, uint64_t value) {
  unsigned bytes = elementBytes(type);
  std::memcpy(data.data() + index * bytes, &value, bytes);
}

HostArray HostArray::convertedTo(ElementType other) const {
  HostArray result;
  result.type = other;
  result.shape = shape;
  result.data.resize(count() * elementBytes(other));
  bool bothIntegers = !isFloat(type) && !isFloat(other);
  for (uint64_t i = 0, e = count(); i != e; ++i) {
    if (bothIntegers && other != ElementType::I1) {
      // Through 64 bits, so that nothing rounds.
      uint64_t value = bits(i);
      bool isSigned = type == ElementType::I8 || type == ElementType::I16 ||
                      type == ElementType::I32;
      if (isSigned)
        value = uint64_t(int64_t(at(i)));
      result.set(i, value);
      continue;
    }
    result.set(i, encodeElement(other, at(i)));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// NumPy files
//===----------------------------------------------------------------------===//

/// The text between quotes or the token after `key` in the header's dictionary.
static std::optional<StringRef> headerValue(StringRef header, StringRef key) {
  size_t at = header.find(key);
  if (at == StringRef::npos)
    return std::nullopt;
  StringRef rest = header.drop_front(at + key.size()).ltrim("'\": ");
  if (rest.starts_with("("))
    return rest.drop_front().take_until([](char c) { return c == ')'; });
  return rest.take_until(
      [](char c) { return c == '\'' || c == '"' || c == ','; });
}

llvm::Expected<HostArray> tile_dialect::runtime::readNpy(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '" + path +
                     "': " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  auto bad = [&](const Twine &why) {
    return makeError("'" + path +
                     "' is not a NumPy file that can be read: " + why);
  };
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY"))
    return bad("no NumPy magic");
  unsigned version = uint8_t(bytes[6]);
  size_t headerBytes = uint8_t(bytes[8]) | size_t(uint8_t(bytes[9])) << 8;
  size_t begin = 10;
  if (version >= 2) {
    if (bytes.size() < 12)
      return bad("it ends in the header");
    headerBytes |= size_t(uint8_t(bytes[10])) << 16 | size_t(uint8_t(bytes[11]))
                                                          << 24;
    begin = 12;
  }
  if (bytes.size() < begin + headerBytes)
    return bad("it ends in the header");
  StringRef header = bytes.substr(begin, headerBytes);
  auto descr = headerValue(header, "descr");
  auto order = headerValue(header, "fortran_order");
  auto shape = headerValue(header, "shape");
  if (!descr || !order || !shape)
    return bad("an entry of the header is missing");
  if (order->starts_with("True"))
    return bad("it is in Fortran order");
  HostArray result;
  static const std::pair<const char *, ElementType> types[] = {
      {"|b1", ElementType::I1},  {"|i1", ElementType::I8},
      {"|u1", ElementType::U8},  {"<i2", ElementType::I16},
      {"<u2", ElementType::U16}, {"<i4", ElementType::I32},
      {"<u4", ElementType::U32}, {"<i8", ElementType::I64},
      {"<u8", ElementType::U64}, {"<f2", ElementType::F16},
      {"<f4", ElementType::F32}, {"<f8", ElementType::F64}};
  bool known = false;
  for (auto [name, type] : types) {
    if (*descr != name)
      continue;
    result.type = type;
    known = true;
  }
  if (!known)
    return bad("its type '" + *descr + "' is not known");
  llvm::SmallVector<StringRef> extents;
  shape->split(extents, ',', -1, /*KeepEmpty=*/false);
  uint64_t count = 1;
  for (StringRef text : extents) {
    uint64_t extent;
    if (text.trim().empty())
      continue;
    if (text.trim().getAsInteger(10, extent) ||
        (extent && count > (uint64_t(1) << 48) / extent))
      return bad("its shape is malformed");
    result.shape.push_back(extent);
    count *= extent;
  }
  uint64_t size = count * elementBytes(result.type);
  StringRef data = bytes.drop_front(begin + headerBytes);
  if (data.size() < size)
    return bad("it has " + Twine(data.size()) + " bytes of data, expected " +
               Twine(size));
  result.data.assign(data.bytes_begin(), data.bytes_begin() + size);
  return result;
}

llvm::Error tile_dialect::runtime::writeNpy(StringRef path,
                                            const HostArray &array) {
  ElementType stored = array.type;
  if (stored == ElementType::BF16 || stored == ElementType::F8E4M3FN ||
      stored == ElementType::F8E5M2)
    return writeNpy(path, array.convertedTo(ElementType::F32));
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return makeError("cannot write '" + path + "': " + error.message());
  std::string header = "{'descr': '";
  header += typeFacts[unsigned(stored)].numpy;
  header += "', 'fortran_order': False, 'shape': (";
  for (uint64_t extent : array.shape)
    header += std::to_string(extent) + ", ";
  header += "), }";
  // The data starts at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  os << "\x93NUMPY" << '\1' << '\0' << char(header.size() & 0xFF)
     << char(header.size() >> 8) << header;
  os.write(reinterpret_cast<const char *>(array.data.data()),
           array.data.size());
  os.flush();
  if (os.has_error()) {
    std::string message = os.error().message();
    os.clear_error();
    return makeError("cannot write '" + path + "': " + message);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static std::vector<uint64_t> withoutUnits(const std::vector<uint64_t> &shape) {
  std::vector<uint64_t> result;
  for (uint64_t extent : shape)
    if (extent != 1)
      result.push_back(extent);
  return result;
}

static std::string shapeText(const std::vector<uint64_t> &shape) {
  std::string text;
  for (uint64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

llvm::Expected<Comparison>
tile_dialect::runtime::compareArrays(const HostArray &actual,
                                     const HostArray &expected, double rtol,
                                     double atol) {
  if (withoutUnits(actual.shape) != withoutUnits(expected.shape))
    return makeError("the shapes differ: " + shapeText(actual.shape) +
                     " was computed, " + shapeText(expected.shape) +
                     " is expected");
  Comparison result;
  result.count = actual.count();
  result.shape = actual.shape;
  double worstExcess = -1;
  for (uint64_t i = 0; i < result.count; ++i) {
    double a = actual.at(i), e = expected.at(i);
    if (a == e || (std::isnan(a) && std::isnan(e)))
      continue;
    double error = std::fabs(a - e);
    if (std::isnan(error))
      error = INFINITY;
    double relative = e != 0 ? error / std::fabs(e) : INFINITY;
    double tolerance = atol + rtol * std::fabs(e);
    if (std::isinf(e))
      tolerance = 0;
    result.maximalAbsoluteError = std::max(result.maximalAbsoluteError, error);
    if (e != 0)
      result.maximalRelativeError =
          std::max(result.maximalRelativeError, relative);
    result.mismatches += error > tolerance;
    double excess = error - tolerance;
    if (excess > worstExcess ||
        (std::isinf(error) && !std::isinf(worstExcess))) {
      worstExcess = excess;
      result.worstIndex = i;
      result.worstActual = a;
      result.worstExpected = e;
    }
  }
  return result;
}

std::string Comparison::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << mismatches << " of " << count << " elements differ";
  if (maximalAbsoluteError == 0)
    return text;
  std::vector<uint64_t> position(shape.size());
  uint64_t rest = worstIndex;
  for (size_t d = shape.size(); d > 0; --d) {
    position[d - 1] = rest % shape[d - 1];
    rest /= shape[d - 1];
  }
  os << "; max abs error " << llvm::format("%.6g", maximalAbsoluteError)
     << ", max rel error " << llvm::format("%.6g", maximalRelativeError)
     << "; worst at [";
  llvm::interleaveComma(position, os);
  os << "]: " << llvm::format("%.9g", worstActual) << ", expected "
     << llvm::format("%.9g", worstExpected);
  return text;
}
