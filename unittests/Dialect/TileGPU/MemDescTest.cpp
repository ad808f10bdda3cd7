//===- MemDescTest.cpp - Where elements lie ---------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"
#include <vector>

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

class MemDescTest : public ::testing::Test {
protected:
  MemDescTest() : builder(&context) { context.loadDialect<TileGPUDialect>(); }

  MemDescType get(ArrayRef<int64_t> shape, Type element,
                  ArrayRef<int32_t> order, unsigned swizzle) {
    return MemDescType::get(shape, element,
                            SharedAttr::get(&context, order, swizzle),
                            /*mutableMemory=*/true);
  }

  MLIRContext context;
  Builder builder;
};

/// The example in the documentation of #tile_gpu.shared.
TEST_F(MemDescTest, DocumentedExample) {
  MemDescType type = get({64, 128}, builder.getF16Type(), {0, 1}, 128);
  EXPECT_EQ(type.getByteOffset({3, 80}), 8592);
}

TEST_F(MemDescTest, Dense) {
  MemDescType rowMajor = get({4, 8}, builder.getF32Type(), {0, 1}, 0);
  EXPECT_EQ(rowMajor.getByteOffset({2, 3}), (2 * 8 + 3) * 4);
  MemDescType columnMajor = get({4, 8}, builder.getF32Type(), {1, 0}, 0);
  EXPECT_EQ(columnMajor.getByteOffset({2, 3}), (3 * 4 + 2) * 4);
  MemDescType middle = get({2, 3, 4}, builder.getI8Type(), {2, 0, 1}, 0);
  EXPECT_EQ(middle.getByteOffset({1, 2, 3}), (3 * 2 + 1) * 3 + 2);
}

/// 128 bytes: chunk ^ (row mod 8); 64: two rows in a line of 128 bytes; 32:
/// four.
TEST_F(MemDescTest, ChunksOfRows) {
  for (unsigned swizzle : {32u, 64u, 128u}) {
    MemDescType type = get({32, swizzle}, builder.getI8Type(), {0, 1}, swizzle);
    int64_t chunks = swizzle / 16, rowsOfLine = 128 / swizzle;
    for (int64_t row = 0; row < 32; ++row)
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        EXPECT_EQ(type.getByteOffset({row, chunk * 16}),
                  row * swizzle + (chunk ^ (row / rowsOfLine % chunks)) * 16);
  }
}

/// Each element has bytes of its own, and all lie within the tile.
TEST_F(MemDescTest, IsOneToOne) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u})
    for (Type element : {Type(builder.getF16Type()), Type(builder.getI8Type()),
                         Type(builder.getF64Type()), Type(builder.getI1Type())})
      for (const std::vector<int32_t> &order :
           {std::vector<int32_t>{0, 1}, std::vector<int32_t>{1, 0}}) {
        MemDescType type = get({128, 256}, element, order, swizzle);
        int64_t size = type.getElementBytes();
        std::vector<bool> taken(type.getAllocTileBytes() / size, false);
        for (int64_t i = 0; i < 128; ++i)
          for (int64_t j = 0; j < 256; ++j) {
            int64_t offset = type.getByteOffset({i, j});
            ASSERT_EQ(offset % size, 0);
            ASSERT_LT(offset / size, static_cast<int64_t>(taken.size()));
            ASSERT_FALSE(taken[offset / size]);
            taken[offset / size] = true;
          }
      }
}

/// A permuted view finds each element where it was.
TEST_F(MemDescTest, TransposeMovesNothing) {
  SmallVector<int32_t> perm = {2, 0, 1};
  MemDescType type = get({16, 32, 64}, builder.getF16Type(), {1, 0, 2}, 128);
  MemDescType view = MemDescType::get({64, 16, 32}, builder.getF16Type(),
                                      type.getEncoding().transpose(perm), true);
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 32; ++j)
      for (int64_t k = 0; k < 64; ++k)
        ASSERT_EQ(type.getByteOffset({i, j, k}), view.getByteOffset({k, i, j}));
}

/// What the verifier of memdesc_subslice asks for makes the box look like a
/// tile of its own at a place aligned to the pattern.
TEST_F(MemDescTest, AlignedBoxHasItsOwnPattern) {
  for (unsigned swizzle : {32u, 64u, 128u}) {
    MemDescType type =
        get({64, 4 * swizzle}, builder.getI8Type(), {0, 1}, swizzle);
    MemDescType panel =
        get({64, swizzle}, builder.getI8Type(), {0, 1}, swizzle);
    for (int64_t row = 0; row < 64; row += 8)
      for (int64_t column = 0; column < 4 * swizzle; column += swizzle) {
        int64_t base = type.getByteOffset({row, column});
        EXPECT_EQ(base % type.getEncoding().getAlignment(), 0);
        for (int64_t i = 0; i < 8; ++i)
          for (int64_t j = 0; j < swizzle; ++j)
            ASSERT_EQ(type.getByteOffset({row + i, column + j}),
                      base + panel.getByteOffset({i, j}));
      }
  }
}

/// The text form always has a dimension; the C++ interface need not.
TEST_F(MemDescTest, OrderMustNameADimension) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diag) { message = diag.str(); });
  auto emitError = [&] { return mlir::emitError(builder.getUnknownLoc()); };
  EXPECT_FALSE(SharedAttr::getChecked(emitError, &context, {}, 0));
  EXPECT_EQ(message, "expected an order of at least one dimension");
}

TEST_F(MemDescTest, Sizes) {
  MemDescType ring = get({3, 16, 64}, builder.getF16Type(), {0, 1}, 128);
  EXPECT_TRUE(ring.isRing());
  EXPECT_EQ(ring.getAllocTileBytes(), 2048);
  EXPECT_EQ(ring.getAllocBytes(), 6144);
  EXPECT_EQ(ring.getTileShape(), ArrayRef<int64_t>({16, 64}));
  EXPECT_FALSE(get({16, 64}, builder.getF16Type(), {0, 1}, 0).isRing());
  EXPECT_EQ(get({16}, builder.getI1Type(), {0}, 0).getAllocBytes(), 16);
}

} // namespace
