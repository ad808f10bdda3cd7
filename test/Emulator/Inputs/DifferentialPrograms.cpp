//===- DifferentialPrograms.cpp - CUDA programs and what they compute -----===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the kernels of kernels.cu, print.cu, heap.cu, wmma.cu, gemm_mma.cu,
// gemm_wgmma.cu and cluster.cu. Beside the device's results ("program_NAME
// CASE") it writes what the host computes for them ("expected program_NAME
// CASE").
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include <algorithm>
#include <cmath>

using namespace differential;

namespace {

float halfValue(uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  double v = exponent ? std::ldexp(1024 + mantissa, exponent - 25)
                      : std::ldexp(mantissa, -24);
  return h >> 15 ? -v : v;
}

/// The half of a value that halves hold exactly or that rounds to one; no
/// overflow, no subnormal result.
uint16_t halfBits(double value) {
  if (value == 0)
    return 0;
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent);
  uint32_t units = uint32_t(std::nearbyint(std::ldexp(fraction, 11)));
  uint32_t bits = ((exponent + 14) << 10) + (units - 1024);
  return uint16_t(bits | (value < 0 ? 0x8000 : 0));
}

template <typename T> Words wordsOf(const std::vector<T> &values) {
  Words words((values.size() * sizeof(T) + 3) / 4);
  std::memcpy(words.data(), values.data(), values.size() * sizeof(T));
  return words;
}

/// One launch: buffers are placed one after the other behind the device's
/// `in` (inputs) and `out` (results), 256 bytes aligned.
class Program {
public:
  Program(Device &device, Recorder &recorder, const std::string &name)
      : device(device), recorder(recorder), name("program_" + name),
        nextIn(device.inAddress()), nextOut(device.outAddress()) {}

  template <typename T> uint64_t place(const std::vector<T> &values) {
    return put(nextIn, values.data(), values.size() * sizeof(T));
  }
  template <typename T> Program &input(const std::vector<T> &values) {
    return scalar(place(values));
  }
  /// A result that is zero, or `initial`, before the launch.
  template <typename T>
  uint64_t placeResult(const std::vector<T> &expected,
                       const std::vector<T> &initial = {}) {
    Words before = wordsOf(initial);
    before.resize((expected.size() * sizeof(T) + 3) / 4);
    uint64_t at = put(nextOut, before.data(), before.size() * 4);
    results.push_back({at, wordsOf(expected)});
    return at;
  }
  template <typename T> Program &result(const std::vector<T> &expected) {
    return scalar(placeResult(expected));
  }
  template <typename T> Program &scalar(T value) {
    arguments.push_back(bytesOf(value));
    return *this;
  }
  Program &map(const MapShape &shape, uint64_t address) {
    Bytes bytes(128);
    if (!device.makeMap(shape, address, bytes.data()))
      die(name + ": the tensor map is refused");
    arguments.push_back(bytes);
    return *this;
  }
  void run(const std::string &kernel, const Shape &shape) {
    std::string error = "skipped";
    if (!recorder.skips(name))
      recorder.check(name, error = device.launch(kernel, shape, arguments));
    for (size_t i = 0; i < results.size(); ++i) {
      Words words(results[i].expected.size());
      if (error.empty())
        device.read(results[i].address, words.data(), words.size() * 4);
      std::string label = name + " " + std::to_string(i);
      recorder.write(label, words);
      recorder.write("expected " + label, results[i].expected);
    }
  }

private:
  struct Result {
    uint64_t address;
    Words expected;
  };
  uint64_t put(uint64_t &next, const void *data, size_t bytes) {
    uint64_t at = next;
    device.write(at, data, bytes);
    next += (bytes + 255) / 256 * 256;
    return at;
  }

  Device &device;
  Recorder &recorder;
  std::string name;
  uint64_t nextIn, nextOut;
  std::vector<Bytes> arguments;
  std::vector<Result> results;
};

Shape shapeOf(unsigned gridX, unsigned gridY, unsigned blockX,
              unsigned blockY = 1, unsigned sharedBytes = 0) {
  Shape shape;
  shape.grid[0] = gridX;
  shape.grid[1] = gridY;
  shape.block[0] = blockX;
  shape.block[1] = blockY;
  shape.sharedBytes = sharedBytes;
  return shape;
}

//===----------------------------------------------------------------------===//
// kernels.cu
//===----------------------------------------------------------------------===//

void runSoftmax(Device &device, Recorder &recorder) {
  for (unsigned columns : {32u, 100u, 1000u}) {
    Generator random(columns);
    std::vector<float> in(4 * columns), expected(4 * columns);
    for (float &v : in)
      v = (int32_t(random.next()) >> 8) * 0x1p-20f;
    for (unsigned row = 0; row < 4; ++row) {
      double sum = 0;
      for (unsigned i = 0; i < columns; ++i)
        sum += std::exp(double(in[row * columns + i]));
      for (unsigned i = 0; i < columns; ++i)
        expected[row * columns + i] =
            std::exp(double(in[row * columns + i])) / sum;
    }
    Program(device, recorder, "softmax_" + std::to_string(columns))
        .input(in)
        .result(expected)
        .scalar(int(columns))
        .run("softmax", shapeOf(4, 1, 128, 1, 16));
  }
}

void runGemm(Device &device, Recorder &recorder) {
  const int m = 37, n = 50, k = 70;
  Generator random(1);
  std::vector<uint16_t> a(m * k), b(k * n);
  // Few bits of mantissa, so that sums of products are exact.
  for (auto *list : {&a, &b})
    for (uint16_t &v : *list) {
      uint32_t bits = random.next();
      v = (bits & 1) << 15 | (13 + (bits >> 8) % 3) << 10 |
          (bits >> 16 & 7) << 7;
    }
  std::vector<float> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += double(halfValue(a[i * k + l])) * halfValue(b[l * n + j]);
      expected[i * n + j] = sum;
    }
  Program(device, recorder, "gemm")
      .input(a)
      .input(b)
      .result(expected)
      .scalar(m)
      .scalar(n)
      .scalar(k)
      .run("gemm", shapeOf(4, 3, 16, 16));
}

void runHistogram(Device &device, Recorder &recorder) {
  Generator random(2);
  std::vector<uint8_t> in(10001);
  std::vector<uint32_t> expected(256);
  for (uint8_t &v : in)
    ++expected[v = (random.next() >> 8) % 200];
  Program(device, recorder, "histogram")
      .input(in)
      .result(expected)
      .scalar(int(in.size()))
      .run("histogram", shapeOf(7, 1, 96));
}

void runFunctions(Device &device, Recorder &recorder) {
  std::vector<float> in(256), expected;
  for (unsigned i = 0; i < 256; ++i) {
    float xf = in[i] = (int(i) - 128) * 0.037f;
    double x = xf;
    for (double value :
         {std::sin(x), std::cos(double(xf * 1e5f)), std::exp(x),
          std::log(double(std::fabs(xf) + 0.1f)),
          std::pow(std::fabs(x), double(1.7f)), std::erf(x), std::tanh(x),
          std::exp(x), std::sqrt(x * x + 1), std::cbrt(x),
          std::fmod(x, double(0.7f)), std::atan2(x, 2.0), x / 3 + 1 / (x + 10),
          1 / (x + 20),
          std::floor(x) + std::nearbyint(x) + std::trunc(double(xf * 3)),
          std::lgamma(std::fabs(x) + 1)})
      expected.push_back(value);
  }
  Program(device, recorder, "functions")
      .input(in)
      .result(expected)
      .run("functions", shapeOf(4, 1, 64));
}

int64_t expectedInteger(unsigned which, int64_t a, int64_t b) {
  uint64_t ua = a, ub = b, reversed = 0;
  uint32_t la = a, lb = b;
  unsigned __int128 wide = (unsigned __int128)ua * ub + 99;
  switch (which) {
  case 0:
    return b ? a / b : 0;
  case 1:
    return b ? a % b : 0;
  case 2:
    return b ? int64_t(ua / ub) : 0;
  case 3:
    return int64_t(uint64_t((unsigned __int128)ua * ub >> 64));
  case 4:
    return __builtin_popcountll(ua) + (ub ? __builtin_clzll(ub) : 64) * 100 +
           __builtin_ffsll(a) * 10000;
  case 5:
    for (unsigned bit = 0; bit < 64; ++bit)
      reversed |= (ua >> bit & 1) << (63 - bit);
    // Bytes 0, 4, 1 and 5 of the pair (a, b).
    return int64_t(reversed ^ ((la & 255) | (lb & 255) << 8 |
                               (la >> 8 & 255) << 16 | (lb >> 8 & 255) << 24));
  case 6:
    return int32_t(a) % 7 + int32_t(b) / 13;
  default:
    return int64_t(uint64_t(wide >> 64) + uint64_t(wide));
  }
}

void runIntegers(Device &device, Recorder &recorder) {
  const unsigned count = 128;
  Generator random(3);
  std::vector<int64_t> in(2 * count), expected;
  for (int64_t &v : in) {
    uint64_t high = random.next();
    v = int64_t(high << 32 | random.next()) >> (random.next() >> 8) % 64;
  }
  in[3] = 0;
  for (unsigned i = 0; i < count; ++i)
    for (unsigned which = 0; which < 8; ++which)
      expected.push_back(expectedInteger(which, in[2 * i], in[2 * i + 1]));
  Program(device, recorder, "integers")
      .input(in)
      .result(expected)
      .run("integers", shapeOf(1, 1, count));
}

/// Multiples of 1/4 up to 12.5: exact in bf16 and half; e4m3 rounds them.
void runNarrow(Device &device, Recorder &recorder) {
  const unsigned count = 100;
  std::vector<float> in(count);
  std::vector<uint8_t> e4m3(count);
  std::vector<uint16_t> bf16(count);
  std::vector<uint32_t> half(count);
  for (unsigned i = 0; i < count; ++i) {
    in[i] = (int(i) - 50) * 0.25f;
    float doubled = in[i] * 2;
    uint32_t bits;
    std::memcpy(&bits, &doubled, 4);
    bf16[i] = bits >> 16;
    half[i] = halfBits(in[i] * 2 + 1) | uint32_t(halfBits(in[i] * 3 - 1)) << 16;
    if (in[i] != 0) {
      int exponent;
      double fraction = std::frexp(std::fabs(in[i]), &exponent);
      e4m3[i] = ((exponent + 6) << 3) +
                (unsigned(std::nearbyint(std::ldexp(fraction, 4))) - 8);
      e4m3[i] |= in[i] < 0 ? 0x80 : 0;
    }
  }
  Program(device, recorder, "narrow")
      .input(in)
      .result(e4m3)
      .result(bf16)
      .result(half)
      .scalar(int(count))
      .run("narrow", shapeOf(1, 1, 128));
}

void runControl(Device &device, Recorder &recorder) {
  struct Packed {
    int offsets[4];
    double scale;
  } packed{{10, 20, 30, 40}, 0.5};
  std::vector<float> expected(64);
  const float ackermann[3] = {3, 4, 7};
  for (int i = 0; i < 64; ++i) {
    float value = (i % 3 ? 1 : 3) * float(i * i) + ackermann[i % 3];
    int table[8];
    for (int j = 0; j < 8; ++j)
      table[(j * 3 + i) % 8] = j;
    const float cases[6] = {value + 1,
                            value * 2,
                            value - table[i % 8],
                            value + packed.offsets[i % 4],
                            value * 0.5f,
                            value};
    expected[i] = cases[i % 6];
  }
  Program(device, recorder, "control")
      .result(expected)
      .scalar(packed)
      .run("control", shapeOf(1, 1, 64));
}

//===----------------------------------------------------------------------===//
// print.cu
//===----------------------------------------------------------------------===//

/// The order of the blocks' lines is open, so that lines are sorted.
Words sortedText(const std::string &text) {
  auto lines = split(text, '\n');
  std::sort(lines.begin(), lines.end());
  std::vector<char> bytes;
  for (const std::string &line : lines) {
    bytes.insert(bytes.end(), line.begin(), line.end());
    bytes.push_back('\n');
  }
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return wordsOf(bytes);
}

void runPrint(Device &device, Recorder &recorder) {
  std::string expected, error;
  for (int block = 0; block < 3; ++block)
    for (int thread = 0; thread < 2; ++thread) {
      char line[128];
      std::snprintf(line, sizeof(line),
                    "block %d thread %d: %5d|%-6.2f|%s|%llx|%c%%\n", block,
                    thread, 7, 2.5, "text", 0x123456789abcull, 'z');
      expected += line;
    }
  std::string printed = device.captured([&] {
    error = device.launch("print", shapeOf(3, 1, 2),
                          {bytesOf(int32_t(7)), bytesOf(2.5)});
  });
  recorder.check("program_print", error);
  recorder.write("program_print 0", sortedText(printed));
  recorder.write("expected program_print 0", sortedText(expected));
}

//===----------------------------------------------------------------------===//
// heap.cu, wmma.cu
//===----------------------------------------------------------------------===//

void runHeap(Device &device, Recorder &recorder) {
  std::vector<int> sums(256), reversed(256);
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < i % 7; ++j)
      sums[i] += i + j;
    reversed[i] = (63 - i % 64) * 3 + i / 64;
  }
  Program(device, recorder, "heap_lists")
      .result(sums)
      .run("lists", shapeOf(4, 1, 64));
  Program(device, recorder, "heap_shared")
      .result(reversed)
      .run("shared_block", shapeOf(4, 1, 64));
}

std::vector<int> smallIntegers(unsigned count, unsigned seed) {
  Generator random(seed);
  std::vector<int> values(count);
  for (int &value : values)
    value = int((random.next() >> 8) % 15) - 7;
  return values;
}

template <typename T, typename F>
std::vector<T> converted(const std::vector<int> &values, F convert) {
  std::vector<T> result;
  for (int value : values)
    result.push_back(T(convert(value)));
  return result;
}

/// One tile: A is rows x depth, B is columns x depth, the result row-major.
template <typename T>
std::vector<T> tileProduct(const std::vector<int> &a, const std::vector<int> &b,
                           unsigned rows, unsigned columns, unsigned depth,
                           int start) {
  std::vector<T> result;
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j) {
      int sum = start;
      for (unsigned l = 0; l < depth; ++l)
        sum += a[i * depth + l] * b[j * depth + l];
      result.push_back(T(sum));
    }
  return result;
}

void runWmma(Device &device, Recorder &recorder) {
  const int m = 32, n = 64, k = 48;
  std::vector<int> a = smallIntegers(m * k, 5), b = smallIntegers(k * n, 6),
                   c = smallIntegers(m * n, 7);
  std::vector<float> expected(m * n);
  for (int i = 0; i < m * n; ++i) {
    int sum = 0;
    for (int l = 0; l < k; ++l)
      sum += a[i / n * k + l] * b[l * n + i % n];
    expected[i] = 0.5f * sum + 2.0f * c[i];
  }
  auto same = [](int value) { return value; };
  Program gemm(device, recorder, "wmma_gemm");
  gemm.input(converted<uint16_t>(a, halfBits))
      .input(converted<uint16_t>(b, halfBits))
      .scalar(gemm.placeResult(expected, converted<float>(c, same)))
      .scalar(m)
      .scalar(n)
      .scalar(k)
      .scalar(0.5f)
      .scalar(2.0f)
      .run("gemm_half", shapeOf(2, 2, 64));
  Program(device, recorder, "wmma_tf32")
      .input(converted<float>(a, same))
      .input(converted<float>(b, same))
      .result(tileProduct<float>(a, b, 16, 16, 8, 0))
      .run("tile_tf32", shapeOf(1, 1, 32));
  Program(device, recorder, "wmma_double")
      .input(converted<double>(a, same))
      .input(converted<double>(b, same))
      .result(tileProduct<double>(a, b, 8, 8, 4, -1))
      .run("tile_double", shapeOf(1, 1, 32));
  Program(device, recorder, "wmma_bytes")
      .input(converted<int8_t>(a, same))
      .input(converted<int8_t>(b, same))
      .result(tileProduct<int>(a, b, 8, 32, 16, 5))
      .run("tile_bytes", shapeOf(1, 1, 32));
}

//===----------------------------------------------------------------------===//
// gemm_mma.cu, gemm_wgmma.cu, cluster.cu
//===----------------------------------------------------------------------===//

MapShape denseMap(int type, unsigned bytes, uint64_t columns, uint64_t rows,
                  uint32_t width, uint32_t height, int swizzle) {
  MapShape shape;
  shape.type = type;
  shape.dim = {columns, rows};
  shape.stride = {columns * bytes};
  shape.box = {width, height};
  shape.step = {1, 1};
  shape.swizzle = swizzle;
  return shape;
}

/// Small multiples of 1/8, whose products have exact sums.
struct Product {
  unsigned m = 256, n = 256, k = 512;
  std::vector<uint16_t> a, b;
  std::vector<float> expected;

  /// `transposed`: B is n x k.
  explicit Product(bool transposed) : a(m * k), b(k * n), expected(m * n) {
    Generator random(4);
    std::vector<int> left(m * k), right(k * n);
    auto fill = [&](std::vector<int> &values, std::vector<uint16_t> &bits) {
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = int((random.next() >> 8) % 17) - 8;
        bits[i] = halfBits(values[i] / 8.0);
      }
    };
    fill(left, a);
    fill(right, b);
    for (unsigned i = 0; i < m; ++i)
      for (unsigned j = 0; j < n; ++j) {
        int sum = 0;
        for (unsigned l = 0; l < k; ++l)
          sum += left[i * k + l] * right[transposed ? j * k + l : l * n + j];
        expected[i * n + j] = sum / 64.0f;
      }
  }
};

void runMmaGemm(Device &device, Recorder &recorder) {
  Product product(false);
  uint32_t shared = 3 * (128 * 32 + 32 * 128) * 2;
  Program(device, recorder, "gemm_mma")
      .input(product.a)
      .input(product.b)
      .result(product.expected)
      .scalar(product.n)
      .scalar(product.k)
      .run("gemm", shapeOf(2, 2, 128, 1, shared));
}

void runWgmmaGemm(Device &device, Recorder &recorder) {
  constexpr int f16 = 6, swizzle128 = 3;
  Product product(true);
  std::vector<uint16_t> expected;
  for (float value : product.expected)
    expected.push_back(halfBits(value));
  uint32_t shared = 3 * 2 * 128 * 64 * 2 + 128 * 128 * 2 + 48;
  Program program(device, recorder, "gemm_wgmma");
  program
      .map(denseMap(f16, 2, product.k, product.m, 64, 128, swizzle128),
           program.place(product.a))
      .map(denseMap(f16, 2, product.k, product.n, 64, 128, swizzle128),
           program.place(product.b))
      .map(denseMap(f16, 2, product.n, product.m, 128, 128, 0),
           program.placeResult(expected))
      .scalar(product.k)
      .run("gemm", shapeOf(product.n / 128, product.m / 128, 384, 1, shared));
}

void runClusters(Device &device, Recorder &recorder) {
  constexpr int s32 = 3;
  std::vector<int> tensor(256), copies, ranks, in(8 * 128), ring, shared;
  for (int i = 0; i < 256; ++i)
    tensor[i] = i * 3;
  for (unsigned i = 0; i < in.size(); ++i)
    in[i] = i * 7;
  for (int block = 0; block < 8; ++block) {
    copies.insert(copies.end(), tensor.begin(), tensor.end());
    ranks.push_back(block % 4);
    int before = block / 4 * 4 + (block + 3) % 4;
    for (int i = 0; i < 128; ++i)
      ring.push_back(in[before * 128 + i]);
    for (int t = 0; t < 32; ++t)
      ring.push_back(before % 4 * 1000 + t);
    int rank = block % 4 % 2 + block / 4 * 2;
    for (int t = 0; t < 32; ++t)
      shared.push_back((rank + 1) % 4 * 100 + 31 - t);
    shared.push_back(rank == 0 ? 4 * 31 * 16 + 32 * 600 : 0);
  }
  Program multicast(device, recorder, "multicast");
  multicast.map(denseMap(s32, 4, 64, 4, 64, 1, 0), multicast.place(tensor))
      .result(copies)
      .result(ranks)
      .run("multicast", shapeOf(8, 1, 32));
  Program(device, recorder, "ring")
      .input(in)
      .result(ring)
      .run("ring", shapeOf(8, 1, 32));
  Program(device, recorder, "distributed")
      .result(shared)
      .run("distributed", shapeOf(4, 2, 32));
}

} // namespace

void differential::runPrograms(Device &device, Recorder &recorder,
                               const std::string &where) {
  device.loadText(readFile(where + "/kernels.ptx"));
  runSoftmax(device, recorder);
  runGemm(device, recorder);
  runHistogram(device, recorder);
  runFunctions(device, recorder);
  runIntegers(device, recorder);
  runNarrow(device, recorder);
  runControl(device, recorder);
  device.loadText(readFile(where + "/heap.ptx"));
  runHeap(device, recorder);
  device.loadText(readFile(where + "/wmma.ptx"));
  runWmma(device, recorder);
  device.loadText(readFile(where + "/gemm_mma.ptx"));
  runMmaGemm(device, recorder);
  device.loadText(readFile(where + "/gemm_wgmma.ptx"));
  runWgmmaGemm(device, recorder);
  device.loadText(readFile(where + "/cluster.ptx"));
  runClusters(device, recorder);
  device.loadText(readFile(where + "/print.ptx"));
  runPrint(device, recorder);
}

void differential::runAssert(Device &device, Recorder &recorder,
                             const std::string &where) {
  device.loadText(readFile(where + "/print.ptx"));
  std::string error;
  device.captured([&] {
    error = device.launch("fails", shapeOf(1, 1, 4),
                          {bytesOf(int32_t(7)), bytesOf(2.5)});
  });
  recorder.write("program_assert 0", {error.empty()});
  recorder.write("expected program_assert 0", {0});
}
