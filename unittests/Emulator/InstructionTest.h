//===- InstructionTest.h - Compares single instructions with a reference ---*-
// C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_UNITTESTS_EMULATOR_INSTRUCTIONTEST_H
#define TILEDIALECT_UNITTESTS_EMULATOR_INSTRUCTIONTEST_H

#include "EmulatorTest.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

namespace tile_dialect::emulator::test {

using Reference = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

inline uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}
inline int64_t asSigned(uint64_t value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}
inline float asFloat(uint64_t bits) {
  uint32_t word = bits;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}
inline uint64_t fromFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline double asDouble(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}
inline uint64_t fromDouble(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

/// Values at the edges of integers, and random ones of all magnitudes.
inline std::vector<uint64_t> integerValues(unsigned seed, unsigned count) {
  std::vector<uint64_t> values = {0,
                                  1,
                                  2,
                                  3,
                                  5,
                                  7,
                                  31,
                                  32,
                                  33,
                                  0x7F,
                                  0x80,
                                  0xFF,
                                  0x7FFF,
                                  0x8000,
                                  0xFFFF,
                                  0x7FFFFFFF,
                                  0x80000000,
                                  0xFFFFFFFF,
                                  0x7FFFFFFFFFFFFFFF,
                                  0x8000000000000000,
                                  ~uint64_t(0),
                                  ~uint64_t(1)};
  std::mt19937_64 random(seed);
  while (values.size() < count)
    values.push_back(random() >> (random() % 64));
  std::shuffle(values.begin(), values.end(), random);
  values.resize(count);
  return values;
}

/// Runs `instruction`, which computes %x from %a, %b and %c, for each triple
/// and returns the results.  Widths are in bits; 1 means a predicate, 0 not
/// used.
inline std::vector<uint64_t>
compute(const std::string &instruction, unsigned bits,
        std::vector<unsigned> sourceBits,
        std::vector<std::vector<uint64_t>> inputs) {
  auto declare = [](const char *name, unsigned width) {
    std::string type = width == 1 ? "pred" : "b" + std::to_string(width);
    return "  .reg ." + type + " " + name + ";\n";
  };
  static const char *const names[] = {"%a", "%b", "%c"};
  sourceBits.resize(3, 0);
  inputs.resize(3);
  size_t count = 1;
  for (auto &input : inputs)
    count = std::max(count, input.size());
  std::string body = "  .reg .b64 %w, %pt;\n" + declare("%x", bits);
  for (unsigned i = 0; i < 3; ++i) {
    inputs[i].resize(count);
    if (!sourceBits[i])
      continue;
    body += declare(names[i], sourceBits[i]);
    body += "  ld.param.u64 %pt, [in" + std::to_string(i) +
            "];\n  mad.wide.u32 %pt, %t, 8, %pt;\n  ld.global.u64 %w, [%pt];\n";
    if (sourceBits[i] == 1)
      body += "  and.b64 %w, %w, 1;\n  setp.ne.u64 " + std::string(names[i]) +
              ", %w, 0;\n";
    else
      body += "  cvt.u" + std::to_string(sourceBits[i]) + ".u64 " + names[i] +
              ", %w;\n";
  }
  body += "  " + instruction + "\n";
  if (bits == 1)
    body += "  selp.u64 %w, 1, 0, %x;\n";
  else
    body += "  cvt.u64.u" + std::to_string(bits) + " %w, %x;\n";
  body += "  st.global.u64 [%out], %w;\n";
  std::string text =
      wrapBody(body, 8, ", .param .u64 in0, .param .u64 in1, .param .u64 in2");
  size_t at = text.find("mov.u32 %t, %tid.x;");
  text.replace(at, 19,
               "mov.u32 %t, %ctaid.x;\n mad.lo.u32 %t, %t, 32, 0;\n"
               " add.u32 %t, %t, %tid.x;");
  size_t blocks = (count + 31) / 32;
  for (auto &input : inputs)
    input.resize(blocks * 32);
  std::vector<uint64_t> out(blocks * 32);
  Runner runner(text);
  runner.map(out);
  for (auto &input : inputs)
    runner.map(input);
  runner.run("k", Dim3{uint32_t(blocks), 1, 1}, Dim3{32, 1, 1});
  out.resize(count);
  return out;
}

/// Checks that the instruction gives what the reference gives, bit for bit.
inline void checkInstruction(const std::string &instruction, unsigned bits,
                             std::vector<unsigned> sourceBits,
                             std::vector<std::vector<uint64_t>> inputs,
                             const Reference &reference) {
  SCOPED_TRACE(instruction);
  std::vector<uint64_t> results =
      compute(instruction, bits, sourceBits, inputs);
  inputs.resize(3);
  sourceBits.resize(3, 64);
  for (size_t i = 0; i < results.size(); ++i) {
    uint64_t v[3];
    for (unsigned s = 0; s < 3; ++s)
      v[s] = i < inputs[s].size() ? lowBits(inputs[s][i], sourceBits[s]) : 0;
    uint64_t expected = lowBits(reference(v[0], v[1], v[2]), bits);
    ASSERT_EQ(results[i], expected)
        << std::hex << "for 0x" << v[0] << ", 0x" << v[1] << ", 0x" << v[2];
  }
}

/// The same with integer values for all sources.
inline void checkInteger(const std::string &instruction, unsigned bits,
                         std::vector<unsigned> sourceBits,
                         const Reference &reference) {
  std::vector<std::vector<uint64_t>> inputs;
  for (unsigned s = 0; s < sourceBits.size(); ++s)
    inputs.push_back(integerValues(s + 1, 256));
  checkInstruction(instruction, bits, sourceBits, inputs, reference);
}

} // namespace tile_dialect::emulator::test

#endif // TILEDIALECT_UNITTESTS_EMULATOR_INSTRUCTIONTEST_H
