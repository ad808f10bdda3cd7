//===- SparseKernels.h - The kernels of sparse.ptx in tests ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// generate_sparse_ptx.py describes each kernel in a line in front of it.  The
// tests fill its inputs with random words, infinities, NaN and zeros of both
// signs among them, and compute the results in double precision.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_UNITTESTS_EMULATOR_SPARSEKERNELS_H
#define TILEDIALECT_UNITTESTS_EMULATOR_SPARSEKERNELS_H

#include "EmulatorTest.h"
#include "FloatFormats.h"
#include "Types.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <random>

namespace tile_dialect::emulator::test {

/// A kernel of sparse.ptx.
struct SparseKernel {
  std::string name;
  /// The name at its underscores.
  std::vector<std::string> parts;
  unsigned threads = 0, outWords = 0;
  /// What `in` holds: kinds and words.
  std::vector<std::pair<std::string, unsigned>> inputs;
  unsigned m = 0, n = 0, k = 0;
  Type d = Type::None, a = Type::None, b = Type::None, c = Type::None;

  /// The first word of an input.
  unsigned begin(unsigned input) const {
    unsigned words = 0;
    for (unsigned i = 0; i < input; ++i)
      words += inputs[i].second;
    return words;
  }
};

inline std::vector<std::string> splitText(llvm::StringRef text, char at) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.trim().split(parts, at);
  return {parts.begin(), parts.end()};
}

inline const std::string &sparseText() {
  static const std::string text = readInput("Inputs/sparse.ptx");
  return text;
}

/// The kernels whose name contains a text.
inline std::vector<SparseKernel> sparseKernels(const std::string &filter) {
  std::vector<SparseKernel> kernels;
  std::stringstream lines(sparseText());
  std::string description;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("//: ", 0) == 0)
      description = line.substr(4);
    size_t at = line.find(".entry ");
    if (at == std::string::npos)
      continue;
    SparseKernel kernel;
    kernel.name = line.substr(at + 7, line.find('(') - at - 7);
    if (kernel.name.find(filter) != 0 &&
        kernel.name.find("_" + filter) == std::string::npos)
      continue;
    auto words = splitText(description, ' ');
    kernel.threads = std::stoul(words[0]);
    kernel.outWords = std::stoul(words[1]);
    for (size_t i = 2; i < words.size(); ++i) {
      auto fields = splitText(words[i], '*');
      kernel.inputs.push_back({fields[0], std::stoul(fields[1])});
    }
    kernel.parts = splitText(kernel.name, '_');
    std::sscanf(kernel.parts[1].c_str(), "m%un%uk%u", &kernel.m, &kernel.n,
                &kernel.k);
    kernel.d = parseType(kernel.parts[2]);
    kernel.a = parseType(kernel.parts[3]);
    kernel.b = parseType(kernel.parts[4]);
    kernel.c = parseType(kernel.parts[5]);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// The value of element `index` of packed memory.
inline double elementAt(Type type, const uint32_t *words, size_t index) {
  unsigned bits = bitWidth(type);
  const auto *bytes = reinterpret_cast<const uint8_t *>(words);
  uint64_t raw = 0;
  if (bits < 8)
    raw = bytes[index * bits / 8] >> index * bits % 8 & ((1u << bits) - 1);
  else
    std::memcpy(&raw, bytes + index * bits / 8, bits / 8);
  switch (type) {
  case Type::F16:
    return halfToFloat(raw);
  case Type::BF16:
    return floatFromBits(uint32_t(raw) << 16);
  case Type::TF32:
    return floatFromBits(uint32_t(raw) >> 13 << 13);
  case Type::F32:
    return floatFromBits(raw);
  case Type::F64:
    return doubleFromBits(raw);
  case Type::E4M3:
  case Type::E5M2:
    return decodeFloat(*smallFormat(type), raw);
  case Type::S8:
  case Type::S4:
  case Type::S32:
    return double(int64_t(raw << (64 - bits)) >> (64 - bits));
  default:
    return double(raw);
  }
}

/// A word of packed elements: moderate ones, now and then a special one.
inline uint32_t randomElements(Type type, std::mt19937 &random,
                               bool withSpecials) {
  uint32_t bits = random();
  bool isSpecial = withSpecials && random() % 64 == 0;
  static const uint32_t halves[] = {0x7C008000, 0xFC000000, 0x7E018000};
  static const uint32_t brains[] = {0x7F808000, 0xFF800000, 0x7FC18000};
  static const uint32_t floats[] = {0x7F800000, 0xFF800000, 0x7FC00001,
                                    0x80000000};
  switch (type) {
  case Type::F16:
    return isSpecial ? halves[random() % 3] : bits & 0xBFFFBFFF;
  case Type::BF16:
    return isSpecial
               ? brains[random() % 3]
               : (bits & 0x807F807F) | (0x3C0u + (bits >> 7 & 0x3F)) << 4 |
                     (0x3C0u + (bits >> 23 & 0x3F)) << 20;
  case Type::TF32:
  case Type::F32:
    return isSpecial ? floats[random() % 4]
                     : (bits & 0x807FFFFF) | (0x78u + (bits >> 23 & 7)) << 23;
  case Type::E4M3:
  case Type::E5M2:
    return isSpecial ? 0x7F800000u : bits & 0xBFBFBFBF;
  case Type::S32:
    return withSpecials ? (bits & 1 ? 0x7FFFFF00 : 0x80000100)
                        : uint32_t(int32_t(bits) >> 12);
  default:
    return bits;
  }
}

/// Eight groups of metadata.
inline uint32_t randomMetadata(bool singles, std::mt19937 &random) {
  static const uint32_t pairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
  uint32_t word = 0;
  for (unsigned i = 0; i < 8; ++i)
    word |= (singles ? (random() % 2 ? 0xEu : 0x4u) : pairs[random() % 6])
            << (4 * i);
  return word;
}

inline std::vector<uint32_t> randomInputs(const SparseKernel &kernel,
                                          unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> words;
  for (const auto &[kind, count] : kernel.inputs) {
    bool singles = kind == "singles", isMetadata = singles || kind == "pairs";
    Type type = isMetadata ? Type::None : parseType(kind);
    for (unsigned i = 0; i < count; ++i) {
      if (type == Type::F64) {
        double value = (int32_t(random()) + random() * 0x1p-32) * 0x1p-30;
        if (seed % 2 == 0 && random() % 64 == 0)
          value = random() % 2 ? INFINITY : -0.0;
        uint64_t bits = bitsOfDouble(value);
        words.push_back(uint32_t(bits));
        words.push_back(uint32_t(bits >> 32));
        ++i;
        continue;
      }
      words.push_back(isMetadata ? randomMetadata(singles, random)
                                 : randomElements(type, random, seed % 2 == 0));
    }
  }
  return words;
}

/// A sum as the type of D holds it, compared with what a kernel wrote.
inline void expectResult(Type type, double exact, double actual, bool saturate,
                         const std::string &what) {
  if (type == Type::S32) {
    double wrapped = saturate
                         ? std::fmin(std::fmax(exact, INT32_MIN), INT32_MAX)
                         : double(int32_t(uint32_t(int64_t(exact))));
    EXPECT_EQ(actual, wrapped) << what;
    return;
  }
  if (std::isnan(exact)) {
    EXPECT_TRUE(std::isnan(actual)) << what;
    return;
  }
  if (type == Type::F16 && std::fabs(exact) >= 65520) {
    EXPECT_EQ(actual, std::copysign(INFINITY, exact)) << what;
    return;
  }
  if (std::isinf(exact)) {
    EXPECT_EQ(actual, exact) << what;
    return;
  }
  // Half a unit in the last place, or of the smallest subnormal.
  double relative = type == Type::F16   ? 0x1.01p-11
                    : type == Type::F32 ? 0x1.01p-24
                                        : 0x1p-50;
  double least = type == Type::F16 ? 0x1p-25 : 0x1p-149;
  EXPECT_NEAR(actual, exact, std::fmax(std::fabs(exact) * relative, least))
      << what;
}

inline std::vector<uint32_t> runSparseKernel(const SparseKernel &kernel,
                                             std::vector<uint32_t> &in,
                                             uint64_t descriptorA = 0,
                                             uint64_t descriptorB = 0,
                                             bool scale = true) {
  static Runner *runner = nullptr;
  static bool isParsed = false;
  if (!isParsed) {
    runner = new Runner(sparseText());
    isParsed = true;
  }
  std::vector<uint32_t> out(kernel.outWords, 0xDEADBEEF);
  runner->arguments = Arguments();
  runner->map(in)
      .map(out)
      .add(descriptorA)
      .add(descriptorB)
      .add(uint32_t(scale));
  runner->add(uint32_t(0));
  runner->run(kernel.name, Dim3{1, 1, 1}, Dim3{kernel.threads, 1, 1});
  return out;
}

} // namespace tile_dialect::emulator::test

#endif // TILEDIALECT_UNITTESTS_EMULATOR_SPARSEKERNELS_H
