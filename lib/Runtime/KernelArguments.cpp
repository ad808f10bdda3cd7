//===- KernelArguments.cpp - Kernel arguments as texts ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Runtime/KernelArguments.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace tile_dialect::runtime;
using llvm::StringRef;
using llvm::Twine;

const char *const tile_dialect::runtime::kernelArgumentHelp =
    "a kernel argument, in order:\n"
    "  i32:5  f32:1.5            a scalar (i1 i8 u8 … u64 f16 bf16 f32 f64)\n"
    "  hex:0A00000000000000      a structure's bytes\n"
    "  f32[1024x64]:iota         a buffer 0, 1, 2 …; iota(START,STEP)\n"
    "  f16[64]:normal(SEED)      normal(SEED,MEAN,DEVIATION)\n"
    "  i32[64]:uniform(SEED,LOW,HIGH)   [0,1) if no bounds are given\n"
    "  f16[64]:const(2.5), f32[64]:zero, f32[64]:uninit\n"
    "  in.npy, bf16:in.npy       a buffer from a file, converted\n"
    "  …@BYTES                   misaligns a buffer; also e4m3, e5m2 elements";

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

namespace {
/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  /// Box and Muller's transform.
  double normal() {
    if (hasSpare) {
      hasSpare = false;
      return spare;
    }
    double radius = std::sqrt(-2 * std::log(1 - uniform()));
    double angle = 2 * M_PI * uniform();
    spare = radius * std::sin(angle);
    hasSpare = true;
    return radius * std::cos(angle);
  }

private:
  uint64_t state;
  bool hasSpare = false;
  double spare = 0;
};
} // namespace

static llvm::Expected<uint64_t> parseScalar(ElementType type, StringRef text) {
  if (!isFloat(type)) {
    int64_t value;
    uint64_t unsignedValue;
    if (!text.getAsInteger(0, value))
      unsignedValue = uint64_t(value);
    else if (text.getAsInteger(0, unsignedValue))
      return makeError("'" + text + "' is not an integer");
    unsigned bits = type == ElementType::I1 ? 1 : 8 * elementBytes(type);
    bool fits =
        bits == 64 || (int64_t(unsignedValue) < (int64_t(1) << bits) &&
                       int64_t(unsignedValue) >= -(int64_t(1) << (bits - 1)));
    if (!fits)
      return makeError("'" + text + "' does not fit " + elementTypeName(type));
    return bits == 64 ? unsignedValue
                      : unsignedValue & ((uint64_t(1) << bits) - 1);
  }
  double value;
  if (text.getAsDouble(value))
    return makeError("'" + text + "' is not a number");
  return encodeElement(type, value);
}

/// `name(a,b,c)` with numbers.
static llvm::Error parseGenerator(StringRef text, StringRef &name,
                                  llvm::SmallVectorImpl<double> &numbers) {
  auto [head, tail] = text.split('(');
  name = head;
  if (tail.empty())
    return llvm::Error::success();
  if (!tail.consume_back(")"))
    return makeError("expected ')' at the end of '" + text + "'");
  llvm::SmallVector<StringRef> parts;
  tail.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    double number;
    if (part.trim().getAsDouble(number))
      return makeError("'" + part + "' in '" + text + "' is not a number");
    numbers.push_back(number);
  }
  return llvm::Error::success();
}

static llvm::Error fillBuffer(KernelArgument &argument, StringRef text) {
  StringRef name;
  llvm::SmallVector<double> numbers;
  if (llvm::Error error = parseGenerator(text, name, numbers))
    return error;
  HostArray &array = argument.value;
  auto number = [&](unsigned i, double fallback) {
    return i < numbers.size() ? numbers[i] : fallback;
  };
  auto fill = [&](llvm::function_ref<double(uint64_t)> value) {
    for (uint64_t i = 0, e = array.count(); i != e; ++i)
      array.set(i, encodeElement(array.type, value(i)));
    return llvm::Error::success();
  };
  unsigned most;
  if (name == "iota")
    most = 2;
  else if (name == "normal" || name == "uniform")
    most = 3;
  else if (name == "const")
    most = 1;
  else if (name == "zero" || name == "uninit")
    most = 0;
  else
    return makeError(
        "'" + name +
        "' is no generator; expected iota, normal, uniform, const, "
        "zero or uninit");
  if (numbers.size() > most)
    return makeError("'" + name + "' takes at most " + Twine(most) +
                     " numbers, found " + Twine(numbers.size()));
  if (name == "iota")
    return fill(
        [&](uint64_t i) { return number(0, 0) + number(1, 1) * double(i); });
  if (name == "const")
    return fill([&](uint64_t) { return number(0, 0); });
  if (name == "normal") {
    Random random{uint64_t(number(0, 0))};
    return fill([&](uint64_t) {
      return number(1, 0) + number(2, 1) * random.normal();
    });
  }
  if (name == "uniform") {
    Random random{uint64_t(number(0, 0))};
    double low = number(1, 0), high = number(2, 1);
    bool floor = !isFloat(array.type);
    return fill([&](uint64_t) {
      double value = low + (high - low) * random.uniform();
      return floor ? std::floor(value) : value;
    });
  }
  argument.isUninitialized = name == "uninit";
  return llvm::Error::success();
}

static llvm::Error parseShape(StringRef text, std::vector<uint64_t> &shape) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, 'x');
  uint64_t count = 1;
  for (StringRef part : parts) {
    uint64_t extent;
    if (part.trim().getAsInteger(10, extent) || extent == 0 ||
        count > (uint64_t(1) << 40) / extent)
      return makeError("'" + text + "' is not a shape such as 128x64");
    count *= extent;
    shape.push_back(extent);
  }
  return llvm::Error::success();
}

llvm::Expected<KernelArgument>
tile_dialect::runtime::parseKernelArgument(StringRef text) {
  KernelArgument argument;
  StringRef body = text;
  size_t at = body.rfind('@');
  if (at != StringRef::npos &&
      !body.drop_front(at + 1).getAsInteger(0, argument.misalignment)) {
    if (argument.misalignment >= 512)
      return makeError("'" + text + "': the misalignment is below 512");
    body = body.take_front(at);
  }
  if (body.ends_with(".npy")) {
    argument.isBuffer = true;
    auto [typeText, path] = body.split(':');
    std::optional<ElementType> type = parseElementType(typeText);
    auto array = readNpy(type && !path.empty() ? path : body);
    if (!array)
      return array.takeError();
    argument.value = std::move(*array);
    if (type && !path.empty() && *type != argument.value.type)
      argument.value = argument.value.convertedTo(*type);
    return argument;
  }
  auto [head, tail] = body.split(':');
  if (tail.empty())
    return makeError("'" + text +
                     "' is no argument; expected TYPE:VALUE, "
                     "TYPE[SHAPE]:GENERATOR or FILE.npy");
  if (head == "hex") {
    std::string bytes;
    if (!llvm::tryGetFromHex(tail, bytes))
      return makeError("'" + text + "': '" + tail + "' is not hexadecimal");
    argument.value.type = ElementType::U8;
    argument.value.shape = {bytes.size()};
    argument.value.data.assign(bytes.begin(), bytes.end());
    return argument;
  }
  auto [typeText, shapeText] = head.split('[');
  std::optional<ElementType> type = parseElementType(typeText);
  if (!type)
    return makeError("'" + text + "': '" + typeText +
                     "' is not an element type");
  argument.value.type = *type;
  auto inText = [&](llvm::Error error) {
    return makeError("'" + text + "': " + llvm::toString(std::move(error)));
  };
  if (shapeText.empty()) {
    auto bits = parseScalar(*type, tail);
    if (!bits)
      return inText(bits.takeError());
    argument.value.data.resize(elementBytes(*type));
    argument.value.set(0, *bits);
    return argument;
  }
  argument.isBuffer = true;
  if (!shapeText.consume_back("]"))
    return makeError("'" + text + "': expected ']'");
  if (llvm::Error error = parseShape(shapeText, argument.value.shape))
    return inText(std::move(error));
  uint64_t bytes = argument.value.count() * elementBytes(*type);
  // A vector that gets no memory ends the program.  Volatile, or compilers
  // drop the question.
  void *volatile probe = std::malloc(bytes);
  std::free(probe);
  if (!probe)
    return makeError("'" + text + "': there is no memory for " +
                     llvm::Twine(bytes) + " bytes");
  argument.value.data.resize(bytes);
  if (llvm::Error error = fillBuffer(argument, tail))
    return inText(std::move(error));
  return argument;
}

llvm::Expected<std::pair<unsigned, std::string>>
tile_dialect::runtime::parseIndexed(StringRef text) {
  auto [head, tail] = text.split(':');
  unsigned index;
  if (head.getAsInteger(10, index) || tail.empty())
    return makeError("'" + text + "': expected INDEX:TEXT");
  return std::make_pair(index, tail.str());
}

llvm::Expected<std::vector<uint32_t>>
tile_dialect::runtime::parseExtents(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, text.contains(',') ? ',' : 'x');
  std::vector<uint32_t> result;
  for (StringRef part : parts) {
    uint32_t extent;
    if (part.trim().getAsInteger(10, extent))
      return makeError("'" + text + "': expected X, X,Y or X,Y,Z");
    result.push_back(extent);
  }
  if (result.size() > 3)
    return makeError("'" + text + "': expected at most three extents");
  result.resize(3, 1);
  return result;
}

std::string tile_dialect::runtime::formatArray(const HostArray &array,
                                               uint64_t limit) {
  std::string text;
  llvm::raw_string_ostream os(text);
  uint64_t count = array.count(), shown = std::min(count, limit);
  uint64_t row = array.shape.empty() ? 1 : array.shape.back();
  os << '[';
  for (uint64_t i = 0; i < shown; ++i) {
    if (i > 0)
      os << (i % row == 0 && array.shape.size() > 1 ? ";\n " : ", ");
    if (isFloat(array.type))
      os << llvm::format("%.9g", array.at(i));
    else if (array.type == ElementType::U64)
      os << array.bits(i);
    else
      os << int64_t(array.type == ElementType::I64 ? int64_t(array.bits(i))
                                                   : int64_t(array.at(i)));
  }
  if (shown < count)
    os << ", … " << count - shown << " more";
  os << ']';
  return text;
}
