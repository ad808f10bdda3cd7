//===- DifferentialSparse.cpp - The kernels of sparse.ptx ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel has a line `//: THREADS OUT-WORDS KIND*WORDS ...` in front of it,
// see generate_sparse_ptx.py.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include <algorithm>
#include <cstdlib>
#include <sstream>

#ifdef ON_GPU
#include <cuda.h>
#include <dlfcn.h>
#else
#include "TileDialect/Emulator/TensorMap.h"
#endif

using namespace differential;

namespace {

/// Bits of packed elements of moderate size: no infinities, no NaN.
uint32_t moderateWord(const std::string &kind, uint32_t bits) {
  if (kind == "f16")
    return bits & 0xBFFFBFFF;
  if (kind == "bf16")
    return (bits & 0x807F807F) | (0x3C0u + (bits >> 7 & 0x3F)) << 4 |
           (0x3C0u + (bits >> 23 & 0x3F)) << 20;
  if (kind == "tf32" || kind == "f32")
    return (bits & 0x807FFFFF) | (0x78u + (bits >> 23 & 7)) << 23;
  if (kind == "e4m3" || kind == "e5m2")
    return bits & 0xBFBFBFBF;
  if (kind == "s32")
    return uint32_t(int32_t(bits) >> 12);
  return bits;
}

/// Eight groups of metadata.
uint32_t metadataWord(const std::string &kind, uint32_t bits) {
  static const uint32_t pairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
  uint32_t word = 0;
  for (unsigned i = 0; i < 8; ++i, bits /= 6)
    word |= (kind == "singles" ? (bits & 1 ? 0xEu : 0x4u) : pairs[bits % 6])
            << (4 * i);
  return word;
}

void addWords(const std::string &kind, unsigned count, Generator &random,
              Words &words) {
  if (kind == "f64") {
    for (unsigned i = 0; i < count; i += 2) {
      double value =
          (int32_t(random.next()) + random.next() * 0x1p-32) * 0x1p-30;
      uint64_t bits;
      std::memcpy(&bits, &value, 8);
      words.push_back(uint32_t(bits));
      words.push_back(uint32_t(bits >> 32));
    }
    return;
  }
  bool isMetadata = kind == "pairs" || kind == "singles";
  for (unsigned i = 0; i < count; ++i)
    words.push_back(isMetadata ? metadataWord(kind, random.next())
                               : moderateWord(kind, random.next()));
}

uint64_t operandDescriptor(unsigned begin, unsigned rows, bool isSwizzled,
                           bool isTransposed) {
  uint64_t leading = isTransposed ? 128 : rows * 16;
  uint64_t stride = isTransposed ? 256 : 128;
  if (isSwizzled) {
    leading = 4096;
    stride = 1024;
  }
  return uint64_t(begin >> 4) | leading >> 4 << 16 | stride >> 4 << 32 |
         uint64_t(isSwizzled) << 62;
}

void runKernel(
    Recorder &recorder, const std::string &name, std::stringstream &line,
    const std::function<std::vector<Bytes>(uint64_t, uint64_t)> &arguments) {
  unsigned threads = 0, outWords = 0;
  line >> threads >> outWords;
  std::vector<std::string> parts;
  for (std::string part; line >> part;)
    parts.push_back(part);
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Generator random(seed);
    Words in;
    for (const std::string &part : parts) {
      auto fields = split(part, '*');
      addWords(fields[0], std::atoi(fields[1].c_str()), random, in);
    }
    uint64_t a = 0, b = 0;
    if (name.rfind("wgmma_", 0) == 0) {
      auto fields = split(name, '_');
      unsigned n = std::atoi(fields[1].c_str() + 1);
      a = operandDescriptor(0, 64, seed == 2, fields[6][1] == '1');
      b = operandDescriptor(8192, n, seed == 2, fields[6][2] == '1');
    }
    recorder.record(name + " " + std::to_string(seed), name, threads, in,
                    outWords, arguments(a, b));
  }
}

/// The arguments of cuTensorMapEncodeIm2col.
struct Pixels {
  const char *name;
  std::vector<uint64_t> dim;
  std::vector<int32_t> lower, upper;
  std::vector<uint32_t> step;
  uint32_t channels = 16, pixels = 20;
  int swizzle = 0, fill = 0;
  /// Where a copy begins, and the offsets.
  std::vector<std::vector<int32_t>> begins;
  std::vector<uint32_t> offsets;
};

bool makePixelMap(const Pixels &shape, uint64_t address, uint8_t *bytes) {
  std::vector<uint64_t> stride;
  uint64_t size = 2;
  for (size_t i = 0; i + 1 < shape.dim.size(); ++i)
    stride.push_back(size *= shape.dim[i]);
#ifdef ON_GPU
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(
      library ? dlsym(library, "cuTensorMapEncodeIm2col") : nullptr);
  alignas(64) CUtensorMap map;
  if (!encode ||
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, shape.dim.size(),
             reinterpret_cast<void *>(address), shape.dim.data(), stride.data(),
             shape.lower.data(), shape.upper.data(), shape.channels,
             shape.pixels, shape.step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
             CUtensorMapSwizzle(shape.swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CUtensorMapFloatOOBfill(shape.fill)) != CUDA_SUCCESS)
    return false;
  std::memcpy(bytes, &map, 128);
  return true;
#else
  namespace emu = tile_dialect::emulator;
  emu::TensorMapIm2colArguments arguments;
  arguments.dataType = emu::TensorDataType::Float16;
  arguments.globalAddress = address;
  arguments.globalDim = shape.dim;
  arguments.globalStrides = stride;
  arguments.elementStrides = shape.step;
  arguments.swizzle = emu::TensorSwizzle(shape.swizzle);
  arguments.fill = emu::TensorFill(shape.fill);
  arguments.lowerCorner = shape.lower;
  arguments.upperCorner = shape.upper;
  arguments.channelsPerPixel = shape.channels;
  arguments.pixelsPerColumn = shape.pixels;
  llvm::Error error = emu::encodeTensorMapIm2col(bytes, arguments);
  bool isGood = !error;
  llvm::consumeError(std::move(error));
  return isGood;
#endif
}

const Pixels pixelCases[] = {
    {"window",
     {32, 7, 6, 3},
     {-1, -1},
     {-1, -1},
     {1, 1, 1, 1},
     16,
     20,
     0,
     0,
     {{0, -1, -1, 0}, {8, 3, 2, 1}, {16, 5, 4, 2}, {0, 0, 0, 2}},
     {2, 1}},
    {"stride",
     {16, 9, 8, 2},
     {0, 0},
     {-2, -2},
     {1, 2, 2, 1},
     16,
     20,
     0,
     0,
     {{0, 0, 0, 0}, {8, 4, 2, 1}},
     {1, 2}},
    {"line",
     {64, 30, 4},
     {-2},
     {1},
     {1, 1, 1},
     64,
     16,
     3,
     0,
     {{0, -2, 0}, {0, 25, 1}, {8, 29, 3}},
     {2}},
    {"volume",
     {16, 5, 4, 3, 2},
     {-1, 0, -1},
     {0, -1, -1},
     {1, 1, 2, 1, 1},
     8,
     33,
     0,
     0,
     {{0, -1, 0, -1, 0}, {8, 2, 2, 0, 1}},
     {1, 0, 2}},
    {"nan",
     {32, 7, 6, 3},
     {-1, -1},
     {-1, -1},
     {1, 1, 1, 1},
     32,
     30,
     2,
     1,
     {{0, -1, -1, 0}, {16, 2, 3, 2}},
     {0, 2}},
};

/// Kernels of tensor copies: the map, in, out, coordinates, bytes, offsets.
void runPixels(Device &device, Recorder &recorder, const std::string &kernel) {
  auto parts = split(kernel, '_');
  size_t rank = std::atoi(parts[2].c_str());
  bool isStore = parts[1] == "im2colstore";
  for (const Pixels &shape : pixelCases) {
    // A store whose walk comes to a negative coordinate ends the kernel.
    bool isBelow =
        *std::min_element(shape.lower.begin(), shape.lower.end()) < 0;
    if (shape.dim.size() != rank || (isStore && (shape.swizzle || isBelow)))
      continue;
    Bytes map(128);
    if (!makePixelMap(shape, isStore ? device.outAddress() : device.inAddress(),
                      map.data()))
      die("an im2col tensor map was refused");
    for (size_t i = 0; i < shape.begins.size(); ++i) {
      Generator random(i + 1);
      Words in(8192);
      for (uint32_t &word : in)
        word = random.next();
      auto begin = shape.begins[i];
      begin.resize(5);
      std::vector<Bytes> arguments = {map, bytesOf(device.inAddress()),
                                      bytesOf(device.outAddress())};
      for (int32_t at : begin)
        arguments.push_back(bytesOf(at));
      arguments.push_back(bytesOf(shape.channels * shape.pixels * 2));
      auto offsets = shape.offsets;
      offsets.resize(3);
      for (uint32_t offset : offsets)
        arguments.push_back(bytesOf(offset));
      recorder.record(kernel + " " + shape.name + std::to_string(i), kernel,
                      128, in, 4096 + 128, arguments);
    }
  }
}

void runReplace(Device &device, Recorder &recorder, const std::string &kernel) {
  MapShape shape;
  shape.dim = {64, 8};
  shape.stride = {128};
  shape.box = {16, 4};
  shape.step = {1, 1};
  Bytes map(128);
  if (!device.makeMap(shape, device.inAddress(), map.data()))
    die("a tensor map was refused");
  std::vector<Bytes> arguments = {map, bytesOf(device.inAddress()),
                                  bytesOf(device.outAddress())};
  for (int32_t at : {0, -2, 1, 0, 0})
    arguments.push_back(bytesOf(at));
  arguments.push_back(bytesOf(uint32_t(8 * 2 * 2 * 4)));
  Generator random(1);
  Words in(8192);
  for (uint32_t &word : in)
    word = random.next();
  recorder.record(kernel + " fields", kernel, 128, in, 4096 + 128, arguments);
}

} // namespace

void differential::runSparse(Device &device, Recorder &recorder,
                             const std::string &text) {
  device.loadText(text);
  auto arguments = [&](uint64_t a, uint64_t b) -> std::vector<Bytes> {
    return {bytesOf(device.inAddress()),
            bytesOf(device.outAddress()),
            bytesOf(a),
            bytesOf(b),
            bytesOf(uint32_t(1)),
            bytesOf(uint32_t(0))};
  };
  std::stringstream lines(text);
  std::string description;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("//: ", 0) == 0)
      description = line.substr(4);
    size_t at = line.find(".entry ");
    if (at == std::string::npos)
      continue;
    std::string name = line.substr(at + 7, line.find('(') - at - 7);
    std::stringstream words(description);
    if (name.rfind("tma_im2col", 0) == 0)
      runPixels(device, recorder, name);
    else if (name.rfind("tma_replace", 0) == 0)
      runReplace(device, recorder, name);
    else
      runKernel(recorder, name, words, arguments);
  }
}
