//===- EncodingInterfaceTest.cpp - Layouts as encodings ---------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

namespace {

class EncodingInterfaceTest : public ::testing::Test {
protected:
  EncodingInterfaceTest() {
    Dialect *dialect = context.getOrLoadDialect<TileGPUDialect>();
    interface =
        dialect->getRegisteredInterface<tile::EncodingDialectInterface>();
  }

  RankedTensorType tile(ArrayRef<int64_t> shape, const Layout &layout) {
    return RankedTensorType::get(shape, Builder(&context).getF32Type(),
                                 LayoutAttr::get(&context, layout));
  }
  RankedTensorType plain(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Builder(&context).getF32Type());
  }
  const Layout &layoutOf(FailureOr<Attribute> encoding) {
    return cast<LayoutAttr>(*encoding).getLayout();
  }

  MLIRContext context;
  const tile::EncodingDialectInterface *interface = nullptr;
  const Layout rows{2, {{0, 1}}, {{0, 2}, {1, 0}}, {{2, 0}}};
};

TEST_F(EncodingInterfaceTest, AttributeOwnsTheLayout) {
  LayoutAttr attr;
  {
    Layout temporary = rows;
    attr = LayoutAttr::get(&context, temporary);
  }
  EXPECT_TRUE(attr.getLayout() == rows);
  EXPECT_EQ(attr, LayoutAttr::get(&context, rows));
  EXPECT_EQ(&attr.getLayout(), &LayoutAttr::get(&context, rows).getLayout());
  EXPECT_NE(attr, LayoutAttr::get(&context, rows.transpose({1, 0})));
  EXPECT_EQ(attr.getNumLanes(), 4);
  EXPECT_EQ(attr.getNumWarps(), 2);
  EXPECT_EQ(attr.getNumBlocks(), 1);
}

/// Layouts of rank 0 differ by the number of their threads alone.
TEST_F(EncodingInterfaceTest, RankZero) {
  Layout two(0, {}, {{}}, {}), four(0, {}, {{}, {}}, {});
  EXPECT_NE(LayoutAttr::get(&context, two), LayoutAttr::get(&context, four));
  EXPECT_EQ(LayoutAttr::get(&context, four).getNumLanes(), 4);
}

TEST_F(EncodingInterfaceTest, ShapeRules) {
  RankedTensorType type = tile({4, 4}, rows);
  EXPECT_TRUE(layoutOf(interface->projectOut(type, 1)) == rows.projectOut(1));
  EXPECT_TRUE(layoutOf(interface->expandDims(type, 1)) == rows.expandDims(1));
  EXPECT_TRUE(layoutOf(interface->transpose(type, {1, 0})) ==
              rows.transpose({1, 0}));
  EXPECT_TRUE(layoutOf(interface->join(type)) == rows.join());
  EXPECT_TRUE(layoutOf(interface->split(tile({4, 4, 2}, rows.join()))) == rows);
  EXPECT_TRUE(layoutOf(interface->reshape(type, {16})) ==
              *rows.reshape({4, 4}, {16}));
}

TEST_F(EncodingInterfaceTest, Broadcast) {
  RankedTensorType result = tile({4, 4}, rows);
  EXPECT_TRUE(interface->isBroadcast(tile({4, 1}, rows.collapse(1)), result));
  EXPECT_TRUE(interface->isBroadcast(tile({1, 4}, rows.collapse(0)), result));
  // Lane bit 1 and the warp bit have changed places: elements would move.
  Layout swapped(2, {}, {{0, 0}, {2, 0}}, {{1, 0}});
  EXPECT_FALSE(interface->isBroadcast(tile({4, 1}, swapped), result));
}

TEST_F(EncodingInterfaceTest, EquivalentForms) {
  // The repetition over rows, written as a basis or not. Over columns too, they
  // come in another order.
  Layout repeated(2, {{0, 1}}, {{1, 0}, {2, 0}}, {});
  Layout unrolled(2, {{0, 1}, {4, 0}}, {{1, 0}, {2, 0}}, {});
  auto a = LayoutAttr::get(&context, repeated);
  auto b = LayoutAttr::get(&context, unrolled);
  EXPECT_TRUE(interface->isEquivalent(a, b, {8, 2}));
  EXPECT_FALSE(interface->isEquivalent(a, b, {8, 4}));
  EXPECT_FALSE(interface->isEquivalent(a, Attribute(), {8, 2}));
}

/// What cannot be answered fails, without a crash.
TEST_F(EncodingInterfaceTest, Failures) {
  EXPECT_TRUE(failed(interface->projectOut(plain({4, 4}), 0)));
  EXPECT_TRUE(failed(interface->projectOut(tile({4, 4}, rows), 2)));
  EXPECT_TRUE(failed(interface->expandDims(tile({4, 4}, rows), 3)));
  EXPECT_TRUE(failed(interface->transpose(tile({4, 4}, rows), {0})));
  EXPECT_TRUE(failed(interface->join(plain({4, 4}))));
  EXPECT_TRUE(failed(interface->reshape(plain({4, 4}), {16})));
  EXPECT_TRUE(failed(interface->split(plain({4, 2}))));
  EXPECT_FALSE(interface->isBroadcast(plain({4, 1}), tile({4, 4}, rows)));
}

} // namespace
