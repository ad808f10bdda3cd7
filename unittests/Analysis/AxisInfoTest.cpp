//===- AxisInfoTest.cpp - Axis info against brute force ---------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/AxisInfo.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MathExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace mlir;
using namespace mlir::tile;
using testing::ElementsAre;

namespace {

class AxisInfoTest : public testing::Test {
protected:
  AxisInfoTest() {
    context.loadDialect<TileDialect, arith::ArithDialect, func::FuncDialect,
                        scf::SCFDialect>();
  }

  /// The facts about the operand of the op with the attribute `probe`.
  AxisInfo probe(StringRef body) {
    std::string source =
        "func.func @f(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},"
        " %n: i32 {tile.divisibility = array<i32: 16>}, %m: i32, %c: i1) {" +
        body.str() + "\nreturn\n}";
    module = parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module) << source;
    AxisInfo result;
    if (!module)
      return result;
    info.emplace(*module);
    module->walk([&](Operation *op) {
      if (op->hasAttr("probe"))
        result = info->getAxisInfo(op->getOperand(0));
    });
    return result;
  }

  Value getProbed() {
    Value value;
    module->walk([&](Operation *op) {
      if (op->hasAttr("probe"))
        value = op->getOperand(0);
    });
    return value;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<ModuleAxisInfo> info;
};

TEST_F(AxisInfoTest, PointersOfAVectorKernel) {
  AxisInfo axis = probe(R"(
    %pid = tile.program_id x : i32
    %size = arith.constant 1024 : i32
    %first = arith.muli %pid, %size : i32
    %firsts = tile.splat %first : tensor<1024xi32>
    %range = tile.arange 0, 1024 : tensor<1024xi32>
    %index = arith.addi %firsts, %range : tensor<1024xi32>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>>
    %ptrs = tile.addptr %ps, %index : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    tile.print "" (%ptrs : tensor<1024x!tile.ptr<f32>>) {probe}
  )");
  EXPECT_THAT(axis.getContiguity(), ElementsAre(1024));
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(16));
  EXPECT_THAT(axis.getConstancy(), ElementsAre(1));
  EXPECT_EQ(info->getPointerContiguity(getProbed()), 4);
  EXPECT_EQ(info->getPointerAlignment(getProbed()), 16);
}

TEST_F(AxisInfoTest, MaskOfAMultiple) {
  AxisInfo axis = probe(R"(
    %range = tile.arange 0, 128 : tensor<128xi32>
    %ns = tile.splat %n : tensor<128xi32>
    %mask = arith.cmpi slt, %range, %ns : tensor<128xi32>
    tile.print "" (%mask : tensor<128xi1>) {probe}
  )");
  EXPECT_THAT(axis.getConstancy(), ElementsAre(16));
  EXPECT_EQ(info->getMaskAlignment(getProbed()), 16);
}

TEST_F(AxisInfoTest, MaskOfAnyNumber) {
  AxisInfo axis = probe(R"(
    %range = tile.arange 0, 128 : tensor<128xi32>
    %ns = tile.splat %m : tensor<128xi32>
    %mask = arith.cmpi slt, %range, %ns : tensor<128xi32>
    tile.print "" (%mask : tensor<128xi1>) {probe}
  )");
  EXPECT_THAT(axis.getConstancy(), ElementsAre(1));
}

TEST_F(AxisInfoTest, LoopCarriedPointers) {
  AxisInfo axis = probe(R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tile.arange 0, 64 : tensor<64xi32>
    %ps = tile.splat %p : tensor<64x!tile.ptr<f32>>
    %start = tile.addptr %ps, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %step = arith.constant dense<2> : tensor<64xi32>
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%q = %start)
        -> tensor<64x!tile.ptr<f32>> : i32 {
      %next = tile.addptr %q, %step : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      tile.print "" (%q : tensor<64x!tile.ptr<f32>>) {probe}
      scf.yield %next : tensor<64x!tile.ptr<f32>>
    }
  )");
  EXPECT_THAT(axis.getContiguity(), ElementsAre(64));
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(8));
}

TEST_F(AxisInfoTest, LoopThatHalvesANumberEnds) {
  AxisInfo axis = probe(R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %start = arith.constant 1073741824 : i32
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%q = %start) -> i32 : i32 {
      %next = arith.divui %q, %c2 : i32
      scf.yield %next : i32
    }
    tile.print "" (%end : i32) {probe}
  )");
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(1));
  EXPECT_EQ(axis.getConstantValue(), std::nullopt);
}

TEST_F(AxisInfoTest, InductionVariable) {
  AxisInfo axis = probe(R"(
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    scf.for %i = %c0 to %n step %step : i32 {
      tile.print "" (%i : i32) {probe}
    }
  )");
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(64));
}

TEST_F(AxisInfoTest, WhileLoopJoinsItsValues) {
  AxisInfo axis = probe(R"(
    %start = arith.constant 64 : i32
    %end = scf.while (%a = %start) : (i32) -> i32 {
      %go = arith.cmpi slt, %a, %n : i32
      scf.condition(%go) %a : i32
    } do {
    ^bb0(%b: i32):
      %c24 = arith.constant 24 : i32
      %next = arith.addi %b, %c24 : i32
      scf.yield %next : i32
    }
    tile.print "" (%end : i32) {probe}
  )");
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(8));
}

TEST_F(AxisInfoTest, IfJoinsItsBranches) {
  AxisInfo axis = probe(R"(
    %r = scf.if %c -> tensor<32xi32> {
      %a = tile.arange 0, 32 : tensor<32xi32>
      scf.yield %a : tensor<32xi32>
    } else {
      %a = tile.arange 4, 36 : tensor<32xi32>
      scf.yield %a : tensor<32xi32>
    }
    tile.print "" (%r : tensor<32xi32>) {probe}
  )");
  EXPECT_THAT(axis.getContiguity(), ElementsAre(32));
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(4));
}

TEST_F(AxisInfoTest, StatedFacts) {
  AxisInfo axis = probe(R"(
    %ms = tile.splat %m : tensor<64xi32>
    %range = tile.arange 0, 64 : tensor<64xi32>
    %r = arith.remsi %range, %ms {tile.contiguity = array<i32: 32>,
      tile.divisibility = array<i32: 32>} : tensor<64xi32>
    tile.print "" (%r : tensor<64xi32>) {probe}
  )");
  EXPECT_THAT(axis.getContiguity(), ElementsAre(32));
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(32));
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// %index = pid * 64 + [0, 64), and %ns, which is %n everywhere.
constexpr StringLiteral kWrappedIndex = R"(
    %pid = tile.program_id x : i32
    %c64 = arith.constant 64 : i32
    %first = arith.muli %pid, %c64 : i32
    %firsts = tile.splat %first : tensor<64xi32>
    %range = tile.arange 0, 64 : tensor<64xi32>
    %index = arith.addi %firsts, %range : tensor<64xi32>
    %ns = tile.splat %n : tensor<64xi32>
)";

TEST_F(AxisInfoTest, IndexModuloAnArgument) {
  AxisInfo axis = probe(kWrappedIndex.str() + R"(
    %wrapped = arith.remsi %index, %ns : tensor<64xi32>
    %ps = tile.splat %p : tensor<64x!tile.ptr<f32>>
    %ptrs = tile.addptr %ps, %wrapped : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    tile.print "" (%ptrs : tensor<64x!tile.ptr<f32>>) {probe}
  )");
  EXPECT_THAT(axis.getContiguity(), ElementsAre(16));
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(16));
  EXPECT_EQ(info->getPointerContiguity(getProbed()), 4);
}

TEST_F(AxisInfoTest, IndexDividedByAnArgument) {
  AxisInfo axis = probe(kWrappedIndex.str() + R"(
    %row = arith.divsi %index, %ns : tensor<64xi32>
    tile.print "" (%row : tensor<64xi32>) {probe}
  )");
  EXPECT_THAT(axis.getConstancy(), ElementsAre(16));
  // %n may be negative, so the quotient may be too.
  EXPECT_TRUE(axis.mayBeNegative());
}

TEST_F(AxisInfoTest, ArgumentsMayBeNegative) {
  std::string sum = R"(
    %range = tile.arange 0, 512 : tensor<512xi32>
    %ns = tile.splat %n : tensor<512xi32>
    %x = arith.addi %range, %ns : tensor<512xi32>
    %c512 = arith.constant dense<512> : tensor<512xi32>
  )";
  AxisInfo remainder = probe(sum + R"(
    %r = arith.remsi %x, %c512 : tensor<512xi32>
    tile.print "" (%r : tensor<512xi32>) {probe}
  )");
  EXPECT_THAT(remainder.getContiguity(), ElementsAre(1));
  AxisInfo quotient = probe(sum + R"(
    %r = arith.divsi %x, %c512 : tensor<512xi32>
    tile.print "" (%r : tensor<512xi32>) {probe}
  )");
  EXPECT_THAT(quotient.getConstancy(), ElementsAre(1));
  AxisInfo floor = probe(sum + R"(
    %r = arith.floordivsi %x, %c512 : tensor<512xi32>
    tile.print "" (%r : tensor<512xi32>) {probe}
  )");
  EXPECT_THAT(floor.getConstancy(), ElementsAre(16));
  AxisInfo floorByArgument = probe(sum + R"(
    %r = arith.floordivsi %range, %ns : tensor<512xi32>
    tile.print "" (%r : tensor<512xi32>) {probe}
  )");
  EXPECT_THAT(floorByArgument.getConstancy(), ElementsAre(1));
}

TEST_F(AxisInfoTest, MaximumWithZeroTellsTheSign) {
  AxisInfo axis = probe(R"(
    %c0 = arith.constant 0 : i32
    %count = arith.maxsi %n, %c0 : i32
    %range = tile.arange 0, 512 : tensor<512xi32>
    %counts = tile.splat %count : tensor<512xi32>
    %r = arith.floordivsi %range, %counts : tensor<512xi32>
    tile.print "" (%r : tensor<512xi32>) {probe}
  )");
  EXPECT_THAT(axis.getConstancy(), ElementsAre(16));
  EXPECT_FALSE(axis.mayBeNegative());
}

TEST_F(AxisInfoTest, PromisesOfSigns) {
  auto mayBeNegative = [&](StringRef condition) {
    return probe(R"(
      %cm1 = arith.constant -1 : i32
      %c0 = arith.constant 0 : i32
      %c5 = arith.constant 5 : i32
      %other = arith.constant true
      %x = arith.subi %m, %n : i32
    )" + condition.str() +
                 R"(
      tile.assume %is
      tile.print "" (%x : i32) {probe})")
        .mayBeNegative();
  };
  for (StringRef condition : {
           "%is = arith.cmpi sge, %x, %c0 : i32",
           "%is = arith.cmpi sgt, %x, %cm1 : i32",
           "%is = arith.cmpi sge, %x, %c5 : i32",
           "%is = arith.cmpi sle, %c0, %x : i32",
           "%is = arith.cmpi slt, %cm1, %x : i32",
           "%is = arith.cmpi eq, %x, %c5 : i32",
           "%is = arith.cmpi ult, %x, %c5 : i32",
           "%is = arith.cmpi ule, %x, %c5 : i32",
           "%is = arith.cmpi uge, %c5, %x : i32",
           "%a = arith.cmpi sge, %x, %c0 : i32\n"
           "%b = arith.andi %other, %c : i1\n"
           "%is = arith.andi %b, %a : i1",
       })
    EXPECT_FALSE(mayBeNegative(condition)) << condition.str();
  for (StringRef condition : {
           "%is = arith.cmpi sge, %x, %cm1 : i32",
           "%is = arith.cmpi sle, %x, %c5 : i32",
           "%is = arith.cmpi sge, %c0, %x : i32",
           "%is = arith.cmpi eq, %x, %cm1 : i32",
           "%is = arith.cmpi ne, %x, %c5 : i32",
           "%is = arith.cmpi ult, %x, %cm1 : i32",
           "%is = arith.cmpi uge, %x, %c5 : i32",
           "%is = arith.cmpi sge, %x, %n : i32",
           "%a = arith.cmpi sge, %x, %c0 : i32\n"
           "%is = arith.ori %a, %c : i1",
       })
    EXPECT_TRUE(mayBeNegative(condition)) << condition.str();
}

TEST_F(AxisInfoTest, PromisesOfMultiples) {
  auto getDivisibility = [&](StringRef condition) {
    return probe(R"(
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c48 = arith.constant 48 : i32
    )" + condition.str() +
                 R"(
      tile.assume %is
      tile.print "" (%m : i32) {probe})")
        .getDivisibility(0);
  };
  EXPECT_EQ(getDivisibility("%r = arith.remsi %m, %c48 : i32\n"
                            "%is = arith.cmpi eq, %r, %c0 : i32"),
            16);
  EXPECT_EQ(getDivisibility("%r = arith.remui %m, %c48 : i32\n"
                            "%is = arith.cmpi eq, %c0, %r : i32"),
            16);
  EXPECT_EQ(getDivisibility("%r = arith.remsi %m, %c48 : i32\n"
                            "%is = arith.cmpi eq, %r, %c1 : i32"),
            1);
  EXPECT_EQ(getDivisibility("%r = arith.remsi %m, %c48 : i32\n"
                            "%is = arith.cmpi ne, %r, %c0 : i32"),
            1);
}

/// A branch may not be taken, so that its promises say nothing of values from
/// outside. A loop's body promises what holds in each iteration.
TEST_F(AxisInfoTest, PromisesInRegions) {
  EXPECT_TRUE(probe(R"(
    %c0 = arith.constant 0 : i32
    scf.if %c {
      %is = arith.cmpi sge, %m, %c0 : i32
      tile.assume %is
      tile.print "" (%m : i32) {probe}
    }
  )")
                  .mayBeNegative());
  EXPECT_FALSE(probe(R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%q = %m) -> i32 : i32 {
      %is = arith.cmpi sge, %q, %c0 : i32
      tile.assume %is
      %next = arith.subi %q, %n : i32
      tile.print "" (%q : i32) {probe}
      scf.yield %next : i32
    }
  )")
                   .mayBeNegative());
}

/// Why signed remainders need the sign of the dividend: the block of g numbers
/// that begins at a negative multiple of the divisor is no run, whatever g
/// divides. (Blocks that begin elsewhere are.)
TEST_F(AxisInfoTest, RemaindersOfNegativeBlocks) {
  for (int64_t group : {2, 4, 8, 16}) {
    for (int64_t divisor = group; divisor <= 4 * group; divisor += group) {
      for (int64_t first = -8 * group; first < 8 * group; first += group) {
        bool isRun = true;
        for (int64_t i = 1; i < group; ++i)
          isRun &= (first + i) % divisor == first % divisor + i;
        EXPECT_EQ(isRun, first >= 0 || first % divisor != 0)
            << first << " by " << divisor;
      }
    }
  }
}

TEST_F(AxisInfoTest, SignsOfScalars) {
  auto mayBeNegative = [&](StringRef body, StringRef type = "i32") {
    return probe(R"(
      %c0 = arith.constant 0 : i32
      %c3 = arith.constant 3 : i32
      %cm3 = arith.constant -3 : i32
      %pid = tile.program_id y : i32
      %programs = tile.num_programs z : i32
      %long = arith.extui %n : i32 to i64
    )" + body.str() +
                 "\ntile.print \"\" (%x : " + type.str() + ") {probe}")
        .mayBeNegative();
  };
  for (StringRef body : {
           "%x = arith.addi %pid, %programs : i32",
           "%x = arith.muli %pid, %c3 : i32",
           "%x = arith.shli %pid, %c3 : i32",
           "%x = arith.divsi %pid, %programs : i32",
           "%x = arith.ceildivsi %pid, %programs : i32",
           "%x = arith.ceildivui %pid, %n : i32",
           "%x = arith.divui %pid, %n : i32",
           "%x = arith.divui %n, %c3 : i32",
           "%x = arith.remsi %pid, %n : i32",
           "%x = arith.remui %pid, %n : i32",
           "%x = arith.remui %n, %c3 : i32",
           "%x = arith.andi %n, %c3 : i32",
           "%x = arith.andi %pid, %n : i32",
           "%x = arith.ori %pid, %c3 : i32",
           "%x = arith.xori %pid, %c3 : i32",
           "%x = arith.shrui %n, %c3 : i32",
           "%x = arith.shrsi %pid, %n : i32",
           "%x = arith.maxsi %n, %c0 : i32",
           "%x = arith.minsi %pid, %c3 : i32",
           "%x = arith.minui %n, %c3 : i32",
           "%x = arith.maxui %pid, %c3 : i32",
           "%x = arith.select %c, %pid, %c3 : i32",
           "%x = arith.extui %c : i1 to i32",
       })
    EXPECT_FALSE(mayBeNegative(body)) << body.str();
  EXPECT_FALSE(mayBeNegative("%x = arith.trunci %c3 : i32 to i16", "i16"));
  EXPECT_FALSE(mayBeNegative("%x = arith.extsi %pid : i32 to i64", "i64"));
  EXPECT_FALSE(mayBeNegative("%x = arith.addi %long, %long : i64", "i64"));
  for (StringRef body : {
           "%x = arith.addi %pid, %n : i32",
           "%x = arith.addi %pid, %cm3 : i32",
           "%x = arith.subi %programs, %pid : i32",
           "%x = arith.muli %pid, %cm3 : i32",
           "%x = arith.divsi %pid, %n : i32",
           "%x = arith.divsi %n, %c3 : i32",
           "%x = arith.floordivsi %pid, %cm3 : i32",
           "%x = arith.ceildivsi %n, %c3 : i32",
           "%x = arith.divui %n, %pid : i32",
           "%x = arith.remsi %n, %c3 : i32",
           "%x = arith.remui %n, %m : i32",
           "%x = arith.andi %n, %m : i32",
           "%x = arith.ori %pid, %n : i32",
           "%x = arith.xori %pid, %n : i32",
           "%x = arith.shrui %n, %pid : i32",
           "%x = arith.shrui %n, %c0 : i32",
           "%x = arith.shrsi %n, %c3 : i32",
           "%x = arith.maxsi %n, %cm3 : i32",
           "%x = arith.minsi %pid, %n : i32",
           "%x = arith.minui %n, %m : i32",
           "%x = arith.maxui %pid, %n : i32",
           "%x = arith.select %c, %pid, %n : i32",
           "%x = arith.extsi %c : i1 to i32",
           "%x = arith.trunci %long : i64 to i32",
       })
    EXPECT_TRUE(mayBeNegative(body)) << body.str();
}

TEST_F(AxisInfoTest, SignsOfInductionVariables) {
  auto mayBeNegative = [&](StringRef loop) {
    return probe(R"(
      %c0 = arith.constant 0 : i32
      %c4 = arith.constant 4 : i32
      %cm4 = arith.constant -4 : i32
    )" + loop.str() +
                 " {\ntile.print \"\" (%i : i32) {probe}\n}")
        .mayBeNegative();
  };
  EXPECT_FALSE(mayBeNegative("scf.for %i = %c0 to %n step %c4 : i32"));
  EXPECT_FALSE(
      mayBeNegative("scf.for unsigned %i = %c0 to %c4 step %c4 : i32"));
  EXPECT_TRUE(mayBeNegative("scf.for unsigned %i = %c0 to %n step %c4 : i32"));
  EXPECT_TRUE(mayBeNegative("scf.for %i = %cm4 to %n step %c4 : i32"));
  EXPECT_TRUE(mayBeNegative("scf.for %i = %c0 to %n step %m : i32"));
}

TEST_F(AxisInfoTest, LoopThatCountsDownMayBecomeNegative) {
  AxisInfo axis = probe(R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cm8 = arith.constant -8 : i32
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%q = %c0) -> i32 : i32 {
      %next = arith.addi %q, %cm8 : i32
      scf.yield %next : i32
    }
    tile.print "" (%end : i32) {probe}
  )");
  EXPECT_TRUE(axis.mayBeNegative());
  EXPECT_THAT(axis.getDivisibility(), ElementsAre(8));
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

/// A value of a random program and its elements, row-major.
struct Known {
  Value value;
  SmallVector<int64_t> shape;
  unsigned width;
  std::vector<int64_t> elements;
};

int64_t signExtend(int64_t value, unsigned width) {
  return width >= 64 ? value
                     : static_cast<int64_t>(static_cast<uint64_t>(value)
                                            << (64 - width)) >>
                           (64 - width);
}

int64_t zeroExtend(int64_t value, unsigned width) {
  return width >= 64 ? value : value & ((int64_t(1) << width) - 1);
}

/// Builds a random program of tile ops and evaluates it on the side.
class RandomProgram {
public:
  RandomProgram(MLIRContext *context, unsigned seed, bool mayWrap)
      : builder(context), loc(builder.getUnknownLoc()), random(seed),
        mayWrap(mayWrap) {
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> types(3, builder.getI32Type());
    func = func::FuncOp::create(builder, loc, "f",
                                builder.getFunctionType(types, {}));
    builder.setInsertionPointToEnd(func.addEntryBlock());
    for (unsigned i = 0; i < types.size(); ++i) {
      int64_t divisibility = int64_t(1) << pick(6);
      func.setArgAttr(
          i, kDivisibilityAttrName,
          builder.getDenseI32ArrayAttr({static_cast<int32_t>(divisibility)}));
      int64_t value = divisibility * pick(mayWrap ? (1 << 25) : 40);
      scalars.push_back({func.getArgument(i), pick(2) ? value : -value});
    }
    scalars.push_back({ProgramIdOp::create(builder, loc, Axis::X), pick(20)});
    extent = 8 * (1 + pick(4));
    for (unsigned i = 0; i < 6; ++i)
      addSource();
    for (unsigned i = 0; i < 30; ++i)
      addOp();
  }

  /// Checks the facts about every value.
  void check() {
    ModuleAxisInfo info(*module);
    for (const Known &known : values)
      checkValue(known, info.getAxisInfo(known.value));
  }

private:
  int64_t pick(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random);
  }
  const Known &pickValue() { return values[pick(values.size())]; }

  RankedTensorType getType(ArrayRef<int64_t> shape, unsigned width) {
    return RankedTensorType::get(shape, builder.getIntegerType(width));
  }
  int64_t count(ArrayRef<int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<int64_t>());
  }

  void addSource() {
    unsigned kind = pick(3);
    if (kind == 0) {
      int64_t start = pick(3) == 0 ? pick(9) : 8 * pick(4);
      if (pick(4) == 0)
        start = -start;
      Known known{ArangeOp::create(builder, loc, getType({extent}, 32), start,
                                   start + extent),
                  {extent},
                  32,
                  {}};
      for (int64_t i = 0; i < extent; ++i)
        known.elements.push_back(start + i);
      values.push_back(known);
      return;
    }
    auto [scalar, number] = scalars[pick(scalars.size())];
    if (kind == 1) {
      number = pick(2) ? pick(40) : (int64_t(1) << pick(6));
      if (pick(4) == 0)
        number = -number;
      scalar = arith::ConstantOp::create(builder, loc,
                                         builder.getI32IntegerAttr(number));
    }
    values.push_back(
        {SplatOp::create(builder, loc, getType({extent}, 32), scalar),
         {extent},
         32,
         std::vector<int64_t>(extent, number)});
  }

  void addOp() {
    Known source = pickValue();
    switch (pick(10)) {
    case 0:
      return addShapeOp(source);
    case 1:
      return addCast(source);
    case 2:
      return addSelect(source);
    default:
      return addBinary(source);
    }
  }

  std::optional<Known> findLike(const Known &other, bool sameWidth = true) {
    SmallVector<const Known *> fitting;
    for (const Known &known : values)
      if (known.shape == other.shape && known.width != 1 &&
          (!sameWidth || known.width == other.width))
        fitting.push_back(&known);
    if (fitting.empty())
      return std::nullopt;
    return *fitting[pick(fitting.size())];
  }

  template <typename Op>
  void emitBinary(const Known &lhs, const Known &rhs,
                  function_ref<std::optional<int64_t>(int64_t, int64_t)> fn) {
    Known result{{}, lhs.shape, lhs.width, {}};
    for (auto [a, b] : llvm::zip_equal(lhs.elements, rhs.elements)) {
      std::optional<int64_t> value = fn(a, b);
      if (!value)
        return;
      int64_t wrapped = signExtend(*value, lhs.width);
      if (wrapped != *value && !mayWrap)
        return;
      result.elements.push_back(wrapped);
    }
    result.value = Op::create(builder, loc, lhs.value, rhs.value);
    values.push_back(result);
  }

  void addBinary(const Known &lhs) {
    if (lhs.width == 1)
      return;
    std::optional<Known> found = findLike(lhs);
    if (!found)
      return;
    const Known &rhs = *found;
    unsigned width = lhs.width;
    using Result = std::optional<int64_t>;
    // Programs that do not wrap have no overflow of 64 bits either.
    auto wrap = [&](int64_t value, bool overflows) {
      return overflows && !mayWrap ? Result() : Result(value);
    };
    auto divide = [](int64_t a, int64_t b) {
      return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
    };
    switch (pick(24)) {
    case 0:
    case 1:
    case 2:
      return emitBinary<arith::AddIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        int64_t result;
        bool overflows = llvm::AddOverflow(a, b, result);
        return wrap(result, overflows);
      });
    case 3:
      return emitBinary<arith::SubIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        int64_t result;
        bool overflows = llvm::SubOverflow(a, b, result);
        return wrap(result, overflows);
      });
    case 4:
      return emitBinary<arith::MulIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        int64_t result;
        bool overflows = llvm::MulOverflow(a, b, result);
        return wrap(result, overflows);
      });
    case 5:
      return emitBinary<arith::DivUIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        uint64_t divisor = zeroExtend(b, width);
        return divisor ? Result(uint64_t(zeroExtend(a, width)) / divisor)
                       : Result();
      });
    case 6:
      return emitBinary<arith::RemUIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        uint64_t divisor = zeroExtend(b, width);
        return divisor ? Result(uint64_t(zeroExtend(a, width)) % divisor)
                       : Result();
      });
    // A wrapped index that is negative is not what signed division is taken to
    // see, so these ops are for programs that do not wrap.
    case 7:
      return emitBinary<arith::DivSIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        return b && !mayWrap ? Result(divide(a, b)) : Result();
      });
    case 8:
      return emitBinary<arith::RemSIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        return b && !mayWrap ? Result(b == -1 ? 0 : a % b) : Result();
      });
    case 9:
      return emitBinary<arith::AndIOp>(
          lhs, rhs, [](int64_t a, int64_t b) { return Result(a & b); });
    case 10:
      return emitBinary<arith::OrIOp>(
          lhs, rhs, [](int64_t a, int64_t b) { return Result(a | b); });
    case 11:
      return emitBinary<arith::ShLIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        if (uint64_t(b) >= width)
          return Result();
        int64_t result = static_cast<int64_t>(uint64_t(a) << b);
        return wrap(result, result >> b != a);
      });
    case 12:
      return emitBinary<arith::ShRSIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        return uint64_t(b) < width ? Result(a >> b) : Result();
      });
    case 13:
      return emitBinary<arith::ShRUIOp>(lhs, rhs, [&](int64_t a, int64_t b) {
        return uint64_t(b) < width ? Result(uint64_t(zeroExtend(a, width)) >> b)
                                   : Result();
      });
    case 14:
      return emitBinary<arith::MinSIOp>(lhs, rhs, [](int64_t a, int64_t b) {
        return Result(std::min(a, b));
      });
    case 15:
      return emitBinary<arith::MaxSIOp>(lhs, rhs, [](int64_t a, int64_t b) {
        return Result(std::max(a, b));
      });
    case 16:
      return emitBinary<arith::MinUIOp>(lhs, rhs, [](int64_t a, int64_t b) {
        return Result(uint64_t(a) < uint64_t(b) ? a : b);
      });
    case 17:
      return emitBinary<arith::MaxUIOp>(lhs, rhs, [](int64_t a, int64_t b) {
        return Result(uint64_t(a) < uint64_t(b) ? b : a);
      });
    case 18:
      return emitBinary<arith::XOrIOp>(
          lhs, rhs, [](int64_t a, int64_t b) { return Result(a ^ b); });
    case 19:
      return emitBinary<arith::FloorDivSIOp>(
          lhs, rhs, [&](int64_t a, int64_t b) {
            if (!b || mayWrap)
              return Result();
            int64_t quotient = divide(a, b);
            bool isRounded = b != -1 && a % b != 0 && (a < 0) != (b < 0);
            return Result(quotient - isRounded);
          });
    case 20:
      return emitBinary<arith::CeilDivSIOp>(
          lhs, rhs, [&](int64_t a, int64_t b) {
            if (!b || mayWrap)
              return Result();
            int64_t quotient = divide(a, b);
            bool isRounded = b != -1 && a % b != 0 && (a < 0) == (b < 0);
            return Result(quotient + isRounded);
          });
    default:
      return addCompare(lhs, rhs);
    }
  }

  void addCompare(const Known &lhs, const Known &rhs) {
    using Predicate = arith::CmpIPredicate;
    auto predicate = static_cast<Predicate>(pick(10));
    Known result{{}, lhs.shape, 1, {}};
    for (auto [a, b] : llvm::zip_equal(lhs.elements, rhs.elements))
      result.elements.push_back(
          arith::applyCmpPredicate(predicate, APInt(lhs.width, a, true, true),
                                   APInt(lhs.width, b, true, true)));
    result.value =
        arith::CmpIOp::create(builder, loc, predicate, lhs.value, rhs.value);
    values.push_back(result);
  }

  void addSelect(const Known &condition) {
    if (condition.width != 1)
      return;
    std::optional<Known> a = findLike(condition, /*sameWidth=*/false);
    std::optional<Known> b = a ? findLike(*a) : std::nullopt;
    if (!b)
      return;
    Known result = *a;
    for (size_t i = 0; i < result.elements.size(); ++i)
      if (!condition.elements[i])
        result.elements[i] = b->elements[i];
    result.value = arith::SelectOp::create(builder, loc, condition.value,
                                           a->value, b->value);
    values.push_back(result);
  }

  void addCast(const Known &source) {
    Known result = source;
    unsigned kind = pick(3);
    if (kind == 2 && source.width > 16) {
      result.width = 16;
      for (int64_t &element : result.elements) {
        int64_t wrapped = signExtend(element, 16);
        if (wrapped != element && !mayWrap)
          return;
        element = wrapped;
      }
      result.value = arith::TruncIOp::create(
          builder, loc, getType(source.shape, 16), source.value);
    } else if (source.width < 64) {
      result.width = 64;
      for (int64_t &element : result.elements)
        element = kind == 0 ? signExtend(element, source.width)
                            : zeroExtend(element, source.width);
      auto type = getType(source.shape, 64);
      if (kind == 0)
        result.value = arith::ExtSIOp::create(builder, loc, type, source.value);
      else
        result.value = arith::ExtUIOp::create(builder, loc, type, source.value);
    } else {
      return;
    }
    values.push_back(result);
  }

  void addShapeOp(const Known &source) {
    Known result = source;
    SmallVector<int64_t> &shape = result.shape;
    if (shape.size() == 1) {
      unsigned kind = pick(3);
      if (kind == 0) {
        shape = {shape[0] / 4, 4};
        result.value = ReshapeOp::create(
            builder, loc, getType(shape, source.width), source.value);
      } else if (kind == 1) {
        unsigned axis = pick(2);
        Value expanded = ExpandDimsOp::create(builder, loc, source.value, axis);
        shape = axis == 0 ? SmallVector<int64_t>{8, shape[0]}
                          : SmallVector<int64_t>{shape[0], 8};
        result.value = BroadcastOp::create(
            builder, loc, getType(shape, source.width), expanded);
        result.elements.clear();
        for (int64_t i = 0; i < shape[0]; ++i)
          for (int64_t j = 0; j < shape[1]; ++j)
            result.elements.push_back(source.elements[axis == 0 ? j : i]);
      } else {
        shape = {shape[0] * 2};
        result.value = CatOp::create(builder, loc, getType(shape, source.width),
                                     source.value, source.value, 0);
        llvm::append_range(result.elements, source.elements);
      }
    } else if (pick(2)) {
      shape = {shape[1], shape[0]};
      result.value =
          TransOp::create(builder, loc, source.value, ArrayRef<int32_t>{1, 0});
      for (int64_t i = 0; i < shape[0]; ++i)
        for (int64_t j = 0; j < shape[1]; ++j)
          result.elements[i * shape[1] + j] = source.elements[j * shape[0] + i];
    } else {
      shape = {shape[0] * shape[1]};
      result.value = ReshapeOp::create(
          builder, loc, getType(shape, source.width), source.value);
    }
    if (count(shape) <= 1024)
      values.push_back(result);
  }

  void checkValue(const Known &known, const AxisInfo &info) {
    auto text = [&] {
      std::string result;
      llvm::raw_string_ostream os(result);
      os << known.value << "\n" << info << "\n" << *module;
      return result;
    };
    ASSERT_EQ(info.getRank(), known.shape.size()) << text();
    if (auto constant = info.getConstantValue())
      for (int64_t element : known.elements)
        ASSERT_EQ(element, *constant) << text();
    // Wrapped sums of numbers that are not negative are taken not to occur.
    if (!info.mayBeNegative() && !mayWrap)
      for (int64_t element : known.elements)
        ASSERT_GE(element, 0) << text();
    int64_t stride = 1;
    for (int dim = known.shape.size() - 1; dim >= 0; --dim) {
      ASSERT_NO_FATAL_FAILURE(checkDim(known, info, dim, stride, text));
      stride *= known.shape[dim];
    }
  }

  void checkDim(const Known &known, const AxisInfo &info, unsigned dim,
                int64_t stride, function_ref<std::string()> text) {
    int64_t run = info.getContiguity(dim), equal = info.getConstancy(dim);
    int64_t divisibility = info.getDivisibility(dim);
    ASSERT_EQ(known.shape[dim] % run, 0) << text();
    ASSERT_EQ(known.shape[dim] % equal, 0) << text();
    int64_t exact = std::gcd(run, divisibility);
    bool isBool = known.width == 1;
    for (size_t i = 0; i < known.elements.size(); ++i) {
      int64_t index = i / stride % known.shape[dim];
      auto at = [&](int64_t other) {
        return known.elements[i + (other - index) * stride];
      };
      int64_t element = known.elements[i];
      ASSERT_EQ(at(index / equal * equal), element) << text();
      if (isBool)
        continue;
      ASSERT_EQ(at(index / exact * exact) + index % exact, element) << text();
      int64_t first = at(index / run * run);
      ASSERT_EQ((first + index % run - element) & 0xffff, 0) << text();
      if (index % run == 0)
        ASSERT_EQ(element & (std::min(divisibility, int64_t(1) << 62) - 1), 0)
            << text();
    }
  }

  OpBuilder builder;
  Location loc;
  std::mt19937 random;
  bool mayWrap;
  /// Of the first dimension that programs start from.
  int64_t extent;
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;
  std::vector<std::pair<Value, int64_t>> scalars;
  std::vector<Known> values;
};

TEST_F(AxisInfoTest, RandomProgramsThatDoNotWrap) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    RandomProgram program(&context, seed, /*mayWrap=*/false);
    program.check();
    if (HasFatalFailure())
      return;
  }
}

TEST_F(AxisInfoTest, RandomProgramsThatWrap) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    RandomProgram program(&context, seed, /*mayWrap=*/true);
    program.check();
    if (HasFatalFailure())
      return;
  }
}

} // namespace
