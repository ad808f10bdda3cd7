//===- KernelArgumentsTest.cpp - Arguments, arrays and NumPy files ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Runtime/KernelArguments.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tile_dialect::runtime;

static KernelArgument parse(const std::string &text) {
  auto argument = parseKernelArgument(text);
  if (argument)
    return std::move(*argument);
  ADD_FAILURE() << llvm::toString(argument.takeError());
  return KernelArgument();
}

static std::string parseFailure(const std::string &text) {
  auto argument = parseKernelArgument(text);
  if (!argument)
    return llvm::toString(argument.takeError());
  ADD_FAILURE() << "'" << text << "' has parsed";
  return "";
}

TEST(KernelArguments, Scalars) {
  EXPECT_EQ(parse("i32:-5").value.bits(0), 0xFFFFFFFBu);
  EXPECT_EQ(parse("u64:0x1122334455667788").value.bits(0), 0x1122334455667788u);
  EXPECT_EQ(parse("u64:18446744073709551615").value.bits(0), ~uint64_t(0));
  EXPECT_EQ(parse("f32:1.5").value.bits(0), 0x3FC00000u);
  EXPECT_EQ(parse("f16:-2").value.bits(0), 0xC000u);
  EXPECT_EQ(parse("bf16:3").value.bits(0), 0x4040u);
  EXPECT_EQ(parse("i1:1").value.data.size(), 1u);
  EXPECT_FALSE(parse("i32:5").isBuffer);
  EXPECT_EQ(parse("hex:0a0B0c").value.data, (std::vector<uint8_t>{10, 11, 12}));
}

TEST(KernelArguments, Generators) {
  KernelArgument iota = parse("i16[2x3]:iota(5,-2)");
  EXPECT_TRUE(iota.isBuffer);
  EXPECT_EQ(iota.value.shape, (std::vector<uint64_t>{2, 3}));
  for (unsigned i = 0; i < 6; ++i)
    EXPECT_EQ(iota.value.at(i), 5.0 - 2 * int(i));
  EXPECT_EQ(parse("e4m3[4]:const(448)").value.bits(3), 0x7Eu);
  EXPECT_EQ(parse("f8E5M2[4]:const(1)").value.bits(0), 0x3Cu);
  EXPECT_TRUE(parse("f32[4]:uninit").isUninitialized);
  EXPECT_EQ(parse("f32[4]:zero@12").misalignment, 12u);

  HostArray normal = parse("f64[100000]:normal(1,2,3)").value;
  double sum = 0, squares = 0;
  for (uint64_t i = 0; i < normal.count(); ++i) {
    sum += normal.at(i);
    squares += (normal.at(i) - 2) * (normal.at(i) - 2);
  }
  EXPECT_NEAR(sum / 100000, 2, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 100000), 3, 0.05);
  EXPECT_EQ(normal.data, parse("f64[100000]:normal(1,2,3)").value.data);
  EXPECT_NE(normal.data, parse("f64[100000]:normal(2,2,3)").value.data);

  HostArray uniform = parse("i32[1000]:uniform(3,-2,4)").value;
  bool seen[6] = {};
  for (uint64_t i = 0; i < uniform.count(); ++i) {
    int value = int(uniform.at(i));
    ASSERT_GE(value, -2);
    ASSERT_LT(value, 4);
    seen[value + 2] = true;
  }
  for (bool s : seen)
    EXPECT_TRUE(s);
}

TEST(KernelArguments, Mistakes) {
  EXPECT_NE(parseFailure("i8:200x").find("is not an integer"),
            std::string::npos);
  EXPECT_NE(parseFailure("i8:256").find("does not fit i8"), std::string::npos);
  EXPECT_NE(parseFailure("f32[0]:zero").find("is not a shape"),
            std::string::npos);
  EXPECT_NE(parseFailure("f32[2:zero").find("expected ']'"), std::string::npos);
  EXPECT_NE(parseFailure("f32[2]:iota(1,2,3)").find("at most 2 numbers"),
            std::string::npos);
  EXPECT_NE(parseFailure("f32[2]:iota(a)").find("is not a number"),
            std::string::npos);
  EXPECT_NE(parseFailure("five").find("is no argument"), std::string::npos);
  EXPECT_NE(parseFailure("hex:0g").find("is not hexadecimal"),
            std::string::npos);
  EXPECT_NE(parseFailure("/nowhere/x.npy").find("cannot read"),
            std::string::npos);
}

TEST(HostArray, NumpyFiles) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("array", "npy", path));
  for (const char *text :
       {"f32[3x5]:normal(1)", "i64[7]:iota", "f16[2x2x2]:iota",
        "u8[4]:const(200)", "i1[3]:const(1)"}) {
    HostArray array = parse(text).value;
    ASSERT_FALSE(bool(writeNpy(path, array)));
    auto read = readNpy(path);
    ASSERT_TRUE(bool(read));
    EXPECT_EQ(read->type, array.type);
    EXPECT_EQ(read->shape, array.shape);
    EXPECT_EQ(read->data, array.data);
  }
  // bf16 has no NumPy type: its values are kept as float32.
  HostArray array = parse("bf16[6]:normal(2)").value;
  ASSERT_FALSE(bool(writeNpy(path, array)));
  auto read = readNpy(path);
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->type, ElementType::F32);
  EXPECT_EQ(read->convertedTo(ElementType::BF16).data, array.data);
  KernelArgument converted = parse("bf16:" + path.str().str());
  EXPECT_TRUE(converted.isBuffer);
  EXPECT_EQ(converted.value.data, array.data);

  // What is no NumPy file, or one that is cut, is an error.
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(buffer));
  std::string bytes = (*buffer)->getBuffer().str();
  for (size_t size :
       {size_t(0), size_t(5), size_t(11), size_t(60), bytes.size() - 1}) {
    std::error_code error;
    {
      llvm::raw_fd_ostream os(path, error);
      os << llvm::StringRef(bytes).take_front(size);
    }
    auto broken = readNpy(path);
    EXPECT_FALSE(bool(broken)) << size;
    llvm::consumeError(broken.takeError());
  }
  llvm::sys::fs::remove(path);
}

TEST(HostArray, Comparisons) {
  HostArray a = parse("f32[2x4]:iota").value, b = a;
  auto compare = [&](double rtol, double atol) {
    auto result = compareArrays(a, b, rtol, atol);
    EXPECT_TRUE(bool(result));
    return *result;
  };
  EXPECT_TRUE(compare(0, 0).matches());
  b.set(6, encodeElement(ElementType::F32, 6.5));
  EXPECT_EQ(compare(0, 0.4).mismatches, 1u);
  EXPECT_EQ(compare(0, 0.4).worstIndex, 6u);
  EXPECT_NE(compare(0, 0.4).str().find("worst at [1, 2]: 6, expected 6.5"),
            std::string::npos);
  EXPECT_TRUE(compare(0, 0.5).matches());
  EXPECT_TRUE(compare(0.08, 0).matches());
  // NaN agrees with NaN only, infinity with the same infinity.
  a.set(1, encodeElement(ElementType::F32, NAN));
  EXPECT_FALSE(compare(1e9, 1e9).matches());
  b.set(1, encodeElement(ElementType::F32, NAN));
  a.set(2, encodeElement(ElementType::F32, INFINITY));
  EXPECT_FALSE(compare(1e9, 1e9).matches());
  b.set(2, encodeElement(ElementType::F32, INFINITY));
  EXPECT_TRUE(compare(0, 0.5).matches());
  b.shape = {4, 2};
  auto other = compareArrays(a, b, 0, 0);
  EXPECT_FALSE(bool(other));
  EXPECT_NE(llvm::toString(other.takeError()).find("the shapes differ"),
            std::string::npos);
}
