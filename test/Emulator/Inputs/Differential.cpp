//===- Differential.cpp - Runs kernels on a device and records results
//-----===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs every kernel of matrix.ptx, wgmma.ptx, tma.ptx and async.ptx with fixed
// pseudo-random inputs, the CUDA programs beside them, and the scalar kernels
// of generate_scalar_ptx.py, and writes all results to a file, in the emulator
// or, when compiled with -DON_GPU, through the CUDA driver.
// compare_differential.py compares two such files; run_differential.sh does all
// of it.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace differential;

namespace {

/// A word of packed elements of moderate size: no infinities, no NaN.
uint32_t moderate(const std::string &type, uint32_t bits) {
  if (type == "f16")
    return bits & 0xBFFFBFFF;
  if (type == "bf16") {
    uint32_t result = bits & 0x807F807F;
    return result | (0x3C0u + (bits >> 7 & 0x3F)) << 4 |
           (0x3C0u + (bits >> 23 & 0x3F)) << 20;
  }
  if (type == "tf32" || type == "f32")
    return (bits & 0x807FFFFF) | (0x78u + (bits >> 23 & 7)) << 23;
  if (type == "e4m3" || type == "e5m2")
    return bits & 0xBFBFBFBF;
  if (type == "s32")
    return int32_t(bits) >> 12;
  return bits;
}

std::vector<std::string> kernelsOf(const std::string &text,
                                   const std::string &prefix) {
  std::vector<std::string> names;
  for (size_t at = 0;
       (at = text.find(".entry " + prefix, at)) != std::string::npos;) {
    at += 7;
    names.push_back(text.substr(at, text.find('(', at) - at));
  }
  return names;
}

std::vector<Bytes> matrixArguments(Device &device, uint64_t a, uint64_t b,
                                   uint32_t scale) {
  return {bytesOf(device.inAddress()),
          bytesOf(device.outAddress()),
          bytesOf(a),
          bytesOf(b),
          bytesOf(scale),
          bytesOf(uint32_t(0))};
}

void runMma(Device &device, Recorder &recorder, const std::string &text) {
  device.loadText(text);
  for (const std::string &name : kernelsOf(text, "mma_")) {
    auto parts = split(name, '_');
    const std::string &d = parts[2], &a = parts[3];
    for (unsigned seed = 1; seed <= 2; ++seed) {
      Generator random(seed);
      Words in;
      if (a == "f64") {
        for (unsigned i = 0; i < 32 * 24; ++i) {
          double value =
              (int32_t(random.next()) + random.next() * 0x1p-32) * 0x1p-30;
          uint64_t bits;
          std::memcpy(&bits, &value, 8);
          in.push_back(uint32_t(bits));
          in.push_back(uint32_t(bits >> 32));
        }
      } else {
        // The accumulator's registers follow those of A and B.
        unsigned m = std::atoi(parts[1].c_str() + 1);
        unsigned k = std::atoi(parts[1].c_str() + parts[1].find('k') + 1);
        unsigned bits = a == "b1"                   ? 1
                        : a == "s4" || a == "u4"    ? 4
                        : a == "f16" || a == "bf16" ? 16
                        : a == "tf32"               ? 32
                                                    : 8;
        unsigned numA = m * k * bits / 1024, numB = 8 * k * bits / 1024;
        for (unsigned i = 0; i < 32 * (numA + numB + 8); ++i)
          in.push_back(moderate(i < 32 * numA            ? a
                                : i < 32 * (numA + numB) ? parts[4]
                                                         : parts[5],
                                random.next()));
        if (name.find("satfinite") != std::string::npos && seed == 2)
          for (unsigned i = 32 * (numA + numB); i < in.size(); ++i)
            in[i] = i & 1 ? 0x7FFFFF00 : 0x80000100;
      }
      recorder.record(name + " " + std::to_string(seed), name, 32, in,
                      32 * (d == "f64"   ? 8
                            : d == "f16" ? 2
                                         : 4),
                      matrixArguments(device, 0, 0, 0));
    }
  }
}

/// A descriptor whose operand begins `begin` bytes into the data.
uint64_t descriptor(unsigned begin, unsigned leading, unsigned stride,
                    unsigned baseOffset, unsigned mode) {
  return uint64_t(begin >> 4) | uint64_t(leading >> 4) << 16 |
         uint64_t(stride >> 4) << 32 | uint64_t(baseOffset) << 49 |
         uint64_t(mode) << 62;
}

/// An operand of `rows` rows for a swizzle of 16 * width bytes.
uint64_t operandFor(unsigned begin, unsigned rows, unsigned width,
                    bool transposed) {
  unsigned mode = width == 8 ? 1 : width == 4 ? 2 : width == 2 ? 3 : 0;
  if (width == 1)
    return transposed ? descriptor(begin, 128, 256, 0, mode)
                      : descriptor(begin, rows * 16, 128, 0, mode);
  if (transposed)
    return descriptor(begin, 2 * 128 * width, 128 * width, 0, mode);
  return descriptor(begin, 16, 128 * width, 0, mode);
}

void runWgmma(Device &device, Recorder &recorder, const std::string &text) {
  device.loadText(text);
  for (const std::string &name : kernelsOf(text, "wgmma_")) {
    auto parts = split(name, '_');
    unsigned n = std::atoi(parts[1].c_str() + 1);
    const std::string &d = parts[2], &a = parts[3];
    bool inRegisters = parts[5] == "r";
    bool transA = parts[6][1] == '1', transB = parts[6][2] == '1';
    unsigned numD = n / (d == "f16" ? 4 : 2);
    Generator random(n * 7 + transA * 2 + transB);
    Words in;
    for (unsigned i = 0; i < 128 * numD; ++i)
      in.push_back(moderate(d, random.next()));
    for (unsigned i = 0; i < (inRegisters ? 512u : 0u); ++i)
      in.push_back(moderate(a, random.next()));
    for (unsigned i = 0; i < 8192; ++i)
      in.push_back(moderate(a, random.next()));
    for (unsigned width : {1u, 2u, 4u, 8u}) {
      unsigned needed = n * 16 * width;
      if (width > 1 && n > 192)
        continue;
      unsigned begin = (32768 - needed) / 1024 * 1024;
      begin = begin > 8192 ? 8192 : begin;
      if (transB)
        begin = 8192;
      recorder.record(
          name + " w" + std::to_string(width), name, 128, in, 128 * numD,
          matrixArguments(device, operandFor(0, 64, width, transA),
                          operandFor(begin, n, width, transB), width != 2));
    }
    if (transA || transB || n > 64)
      continue;
    // The second half of a swizzled row, and patterns that begin elsewhere.
    recorder.record(name + " advance", name, 128, in, 128 * numD,
                    matrixArguments(device, descriptor(32, 16, 1024, 0, 1),
                                    descriptor(8192 + 64, 16, 1024, 0, 1), 1));
    recorder.record(name + " base", name, 128, in, 128 * numD,
                    matrixArguments(device, descriptor(3 * 128, 16, 1024, 3, 1),
                                    descriptor(8192 + 5 * 128, 16, 1024, 5, 1),
                                    1));
  }
}

struct TmaCase {
  const char *kernel;
  MapShape shape;
  std::vector<int32_t> at;
  unsigned elementBytes;
};

/// A dense tensor.
MapShape tensor(int type, unsigned bytes, std::vector<uint64_t> dim,
                std::vector<uint32_t> box, int swizzle = 0, int fill = 0,
                std::vector<uint32_t> step = {}) {
  MapShape shape;
  shape.type = type;
  shape.dim = dim;
  shape.box = box;
  shape.swizzle = swizzle;
  shape.fill = fill;
  shape.step = step.empty() ? std::vector<uint32_t>(dim.size(), 1) : step;
  uint64_t stride = dim[0] * bytes;
  for (size_t i = 1; i < dim.size(); ++i) {
    stride = (stride + 15) / 16 * 16;
    shape.stride.push_back(stride);
    stride *= dim[i];
  }
  return shape;
}

std::vector<TmaCase> tmaCases() {
  std::vector<TmaCase> cases;
  auto add = [&](const char *kernel, MapShape shape, std::vector<int32_t> at,
                 unsigned bytes) {
    cases.push_back({kernel, std::move(shape), std::move(at), bytes});
  };
  constexpr int u8 = 0, u32 = 2, s32 = 3, f16 = 6, f32 = 7, f64 = 8, bf16 = 9,
                f32ftz = 10, tf32 = 11, tf32ftz = 12;
  // The hardware refuses boxes that begin off a multiple of 16 bytes, and
  // stores that begin before the tensor.
  for (int swizzle = 0; swizzle < 4; ++swizzle) {
    uint32_t row = swizzle == 1 ? 16 : swizzle == 2 ? 32 : 64;
    MapShape wide = tensor(f16, 2, {200, 50}, {row, 20}, swizzle);
    // A row that is shorter than the swizzle.
    MapShape narrow = tensor(f16, 2, {200, 50}, {8, 20}, swizzle);
    add("tma_load_2d", wide, {8, 3}, 2);
    add("tma_load_2d", wide, {-8, -2}, 2);
    add("tma_load_2d", wide, {168, 40}, 2);
    add("tma_load_2d", wide, {400, 3}, 2);
    add("tma_load_2d", narrow, {8, 3}, 2);
    add("tma_load_3d", tensor(f16, 2, {96, 9, 7}, {row, 4, 3}, swizzle),
        {40, -1, 5}, 2);
    add("tma_store_2d", wide, {8, 3}, 2);
    add("tma_store_2d", wide, {168, 40}, 2);
    add("tma_store_2d", narrow, {8, 3}, 2);
  }
  add("tma_load_1d", tensor(f32, 4, {300}, {64}), {272}, 4);
  add("tma_load_1d", tensor(u8, 1, {1000}, {256}), {896}, 1);
  for (int fill = 0; fill < 2; ++fill) {
    add("tma_load_1d", tensor(f32, 4, {300}, {64}, 0, fill), {272}, 4);
    add("tma_load_1d", tensor(f32ftz, 4, {300}, {64}, 0, fill), {272}, 4);
    add("tma_load_1d", tensor(tf32, 4, {300}, {64}, 0, fill), {272}, 4);
    add("tma_load_1d", tensor(tf32ftz, 4, {300}, {64}, 0, fill), {272}, 4);
    add("tma_load_1d", tensor(f16, 2, {300}, {64}, 0, fill), {-8}, 2);
    add("tma_load_1d", tensor(bf16, 2, {300}, {64}, 0, fill), {-8}, 2);
    add("tma_load_1d", tensor(f64, 8, {300}, {32}, 0, fill), {-8}, 8);
  }
  add("tma_load_2d", tensor(f16, 2, {200, 50}, {64, 20}, 3, 1), {168, 40}, 2);
  add("tma_load_2d", tensor(f16, 2, {200, 50}, {64, 20}, 3, 0, {1, 2}), {8, 3},
      2);
  add("tma_load_2d", tensor(f16, 2, {200, 50}, {64, 21}, 0, 0, {2, 3}), {8, 3},
      2);
  add("tma_load_2d", tensor(u8, 1, {256, 20}, {64, 8}, 2), {224, -2}, 1);
  add("tma_load_4d", tensor(f32, 4, {20, 7, 6, 5}, {16, 2, 3, 2}, 2),
      {8, 6, -1, 3}, 4);
  add("tma_load_5d", tensor(f32, 4, {20, 7, 6, 5, 4}, {8, 2, 3, 2, 2}, 1),
      {8, 6, -1, 3, 1}, 4);
  add("tma_store_1d", tensor(f32, 4, {300}, {64}), {272}, 4);
  add("tma_store_1d", tensor(tf32, 4, {300}, {64}), {16}, 4);
  add("tma_store_1d", tensor(f32ftz, 4, {300}, {64}), {16}, 4);
  add("tma_store_2d", tensor(f16, 2, {200, 50}, {64, 20}, 3, 0, {1, 2}), {8, 3},
      2);
  add("tma_store_3d", tensor(u32, 4, {40, 7, 6}, {16, 2, 3}), {28, 6, 1}, 4);
  add("tma_store_4d", tensor(f32, 4, {20, 7, 6, 5}, {8, 2, 3, 2}, 1),
      {8, 2, 1, 1}, 4);
  add("tma_store_5d", tensor(f32, 4, {20, 7, 6, 5, 4}, {8, 2, 3, 2, 2}, 1),
      {8, 6, 5, 3, 1}, 4);
  for (const char *op : {"tma_add_2d", "tma_min_2d", "tma_max_2d", "tma_inc_2d",
                         "tma_dec_2d", "tma_and_2d", "tma_or_2d", "tma_xor_2d"})
    add(op, tensor(u32, 4, {40, 20}, {16, 8}), {28, 2}, 4);
  for (const char *op : {"tma_add_2d", "tma_min_2d", "tma_max_2d"}) {
    add(op, tensor(s32, 4, {40, 20}, {16, 8}), {4, 14}, 4);
    add(op, tensor(f16, 2, {40, 20}, {16, 8}), {8, 2}, 2);
    add(op, tensor(bf16, 2, {40, 20}, {16, 8}), {8, 2}, 2);
  }
  add("tma_add_2d", tensor(f32, 4, {40, 20}, {16, 8}, 2), {4, 2}, 4);
  return cases;
}

/// `only` selects one case, since a case that a GPU refuses ends the process;
/// zero takes all.
void runTma(Device &device, Recorder &recorder, const std::string &text,
            unsigned only) {
  device.loadText(text);
  unsigned number = 0;
  for (const TmaCase &test : tmaCases()) {
    const MapShape &shape = test.shape;
    bool isLoad = std::strstr(test.kernel, "load");
    const char *type = shape.type == 6   ? "f16"
                       : shape.type == 9 ? "bf16"
                       : shape.type == 7 ? "f32"
                                         : "u32";
    Generator random(++number);
    if (only && only != number)
      continue;
    Words in(65537), out(isLoad ? 4096 + 128 : 65536);
    for (uint32_t &word : in)
      word = moderate(type, random.next());
    for (uint32_t &word : out)
      word = moderate(type, random.next());
    // Ties of the rounding to tf32, and subnormals.
    for (size_t i = 0; shape.type >= 10 && i < in.size(); i += 3) {
      in[i] = 0x3F800000 + uint32_t(i) * 0x800;
      in[i + 1] = in[i + 1] & 0x807FFFFF;
      if (i + 2 < in.size())
        in[i + 2] = 0x7F800000 + (in[i + 2] >> 20 << 11);
    }
    Bytes map(128);
    uint64_t tensorAt = isLoad ? device.inAddress() : device.outAddress();
    std::string variant = "case" + std::to_string(number);
    if (!device.makeMap(shape, tensorAt, map.data())) {
      recorder.write(std::string(test.kernel) + " " + variant + " refused", {});
      continue;
    }
    uint32_t bytes = test.elementBytes;
    for (size_t i = 0; i < shape.box.size(); ++i) {
      uint32_t step = i == 0 ? 1 : shape.step[i];
      bytes *= (shape.box[i] + step - 1) / step;
    }
    std::vector<Bytes> arguments = {map, bytesOf(device.inAddress()),
                                    bytesOf(device.outAddress())};
    for (size_t i = 0; i < 5; ++i)
      arguments.push_back(bytesOf(i < test.at.size() ? test.at[i] : 0));
    arguments.push_back(bytesOf(bytes));
    recorder.record(test.kernel + (" " + variant), test.kernel, 128, in,
                    out.size(), arguments, out);
  }
}

void runAsync(Device &device, Recorder &recorder, const std::string &text) {
  device.loadText(text);
  Generator random(5);
  Words in(1024);
  for (uint32_t &word : in)
    word = random.next();
  std::vector<Bytes> arguments = {bytesOf(device.inAddress()),
                                  bytesOf(device.outAddress())};
  recorder.record("mbarrier_states", "mbarrier_states", 1, in, 16, arguments);
  recorder.record("matrix_moves", "matrix_moves", 32, in, 32 * 23, arguments);
  recorder.record("async_copies", "async_copies", 32, in, 640, arguments);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    die("usage: differential FOLDER-OF-PTX FOLDER-OF-SCALAR-PTX OUTPUT "
        "mma|sparse|async|wgmma|tma|programs|assert|scalar [CASE]");
  std::string where = argv[1], part = argv[4];
  Device device;
  Recorder recorder(device, argv[3]);
  auto wants = [&](const char *name) { return part == name; };
  if (wants("scalar"))
    runScalar(device, recorder, argv[2]);
  if (wants("programs"))
    runPrograms(device, recorder, where);
  if (wants("assert"))
    runAssert(device, recorder, where);
  if (wants("mma"))
    runMma(device, recorder, readFile(where + "/matrix.ptx"));
  if (wants("sparse"))
    runSparse(device, recorder, readFile(where + "/sparse.ptx"));
  if (wants("async"))
    runAsync(device, recorder, readFile(where + "/async.ptx"));
  if (wants("wgmma"))
    runWgmma(device, recorder, readFile(where + "/wgmma.ptx"));
  if (wants("tma"))
    runTma(device, recorder, readFile(where + "/tma.ptx"),
           argc > 5 ? std::atoi(argv[5]) : 0);
  return recorder.failures != 0;
}
