//===- SharedMemoryTest.cpp - Random programs on shared memory --*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random programs get their memory by liveness and packing and their barriers
// by the hazard analysis. They are then run along random paths. On each, a read
// must find what its own buffer holds, and no two accesses that conflict may be
// without a barrier between them.
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/SharedMemoryHazards.h"
#include "TileDialect/Analysis/SharedMemoryLiveness.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <sstream>

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

/// Bytes of scratch memory of an op in a test.
constexpr StringLiteral kScratch = "test.scratch";
/// On an op with scratch memory and no barrier of its own.
constexpr StringLiteral kNoBarrier = "test.no_barrier";

using Random = std::mt19937;
int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

class Generator {
public:
  explicit Generator(Random &random) : random(random) {}

  std::string structured() {
    begin();
    scope = {alloc()};
    block(/*depth=*/0, pick(random, 3, 12));
    text << "gpu.return\n}}\n";
    return text.str();
  }

  /// Blocks that branch anywhere but to the entry, each with one memdesc
  /// argument.
  std::string blocks() {
    begin();
    std::vector<std::string> outer = {alloc(), alloc()};
    int64_t count = pick(random, 2, 6);
    for (int64_t i = 0; i <= count; ++i) {
      scope = outer;
      if (i > 0) {
        scope.push_back("%arg" + std::to_string(i));
        text << "^bb" << i << "(" << scope.back() << ": !mem):\n";
      }
      block(/*depth=*/2, pick(random, 0, 4));
      if (i == count) {
        text << "gpu.return\n";
        continue;
      }
      auto target = [&] {
        return "^bb" + std::to_string(pick(random, 1, count)) + "(" + any() +
               " : !mem)";
      };
      text << "cf.cond_br %c, " << target() << ", " << target() << "\n";
    }
    text << "}}\n";
    return text.str();
  }

private:
  void begin() {
    text << R"(
      #l = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[1, 0]], warp = [[2, 0]]}>
      #s = #tile_gpu.shared<order = [0, 1], swizzle = 0>
      !tile = tensor<4x4xf32, #l>
      !mem = !tile_gpu.memdesc<4x4xf32, #s, mutable>
      gpu.module @m { gpu.func @f(%x: !tile, %c: i1, %n: index) kernel {
    )";
  }
  std::string name() { return "%v" + std::to_string(counter++); }
  std::string any() { return scope[pick(random, 0, scope.size() - 1)]; }
  std::string alloc() {
    std::string result = name();
    text << result << " = tile_gpu.alloc %x : !tile -> !mem\n";
    return result;
  }

  void block(int depth, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      statement(depth);
  }

  void statement(int depth) {
    std::string memory = any(), result = name();
    switch (pick(random, 0, depth < 2 ? 9 : 6)) {
    case 0:
      scope.push_back(alloc());
      break;
    case 1:
    case 2:
      text << result << " = tile_gpu.local_load " << memory
           << " : !mem -> !tile\n";
      break;
    case 3:
      text << "tile_gpu.local_store %x, " << memory << " : !tile, !mem\n";
      break;
    case 4:
      text << result << " = tile_gpu.convert_layout %x {" << kScratch.str()
           << " = " << 16 * pick(random, 1, 8)
           << (pick(random, 0, 2) ? "" : ", " + kNoBarrier.str())
           << "} : !tile -> !tile\n";
      break;
    case 5:
      if (pick(random, 0, 2) == 0)
        text << "tile_gpu.barrier\n";
      break;
    case 6:
      text << result << " = arith.select %c, " << memory << ", " << any()
           << " : !mem\n";
      scope.push_back(result);
      break;
    case 7:
      text << "scf.if %c {\n";
      nested(depth);
      text << "} else {\n";
      nested(depth);
      text << "}\n";
      break;
    case 8:
      text << result << " = scf.if %c -> !mem {\n";
      nested(depth, /*yields=*/true);
      text << "} else {\n";
      nested(depth, /*yields=*/true);
      text << "}\n";
      scope.push_back(result);
      break;
    default:
      text << result << " = scf.for %i" << result.substr(1)
           << " = %n to %n step %n iter_args(" << result << "_arg = " << memory
           << ") -> !mem {\n";
      nested(depth, /*yields=*/true, result + "_arg");
      text << "}\n";
      scope.push_back(result);
      break;
    }
  }

  void nested(int depth, bool yields = false, std::string arg = "") {
    size_t size = scope.size();
    if (!arg.empty())
      scope.push_back(arg);
    block(depth + 1, pick(random, 1, 5));
    if (yields)
      text << "scf.yield " << any() << " : !mem\n";
    scope.resize(size);
  }

  Random &random;
  std::ostringstream text;
  std::vector<std::string> scope;
  int counter = 0;
};

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Runs a kernel along a random path.
class Machine {
public:
  Machine(Random &random) : random(random) {}

  void run(Operation *function) {
    Block *block = &function->getRegion(0).front();
    while (block && steps < 100)
      block = runBlock(*block);
  }

private:
  /// Returns the block that follows, if the block ends in a branch.
  Block *runBlock(Block &block) {
    ++steps;
    for (Operation &op : block) {
      if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
        bool taken = pick(random, 0, 1);
        Block *next = taken ? branch.getTrueDest() : branch.getFalseDest();
        bind(next->getArguments(), taken ? branch.getTrueDestOperands()
                                         : branch.getFalseDestOperands());
        return next;
      }
      runOp(&op);
    }
    return nullptr;
  }

  void bind(ValueRange to, ValueRange from) {
    SmallVector<Operation *> values;
    for (Value value : from)
      values.push_back(memory[value]);
    for (auto [value, alloc] : llvm::zip_equal(to, values))
      memory[value] = alloc;
  }

  void runOp(Operation *op) {
    if (isa<BarrierOp>(op)) {
      pending.order();
    } else if (auto alloc = dyn_cast<AllocOp>(op)) {
      memory[alloc.getResult()] = alloc;
      access(op, alloc, /*isWrite=*/true);
    } else if (auto load = dyn_cast<LocalLoadOp>(op)) {
      access(op, memory[load.getSource()], /*isWrite=*/false);
    } else if (auto store = dyn_cast<LocalStoreOp>(op)) {
      access(op, memory[store.getDestination()], /*isWrite=*/true);
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      bind(op->getResults(),
           pick(random, 0, 1) ? select.getTrueValue() : select.getFalseValue());
    } else if (auto scratch =
                   op->getAttrOfType<ScratchAttr>(kScratchAttrName)) {
      int64_t begin = scratch.getOffset(), end = begin + scratch.getBytes();
      write(op, begin, end);
      if (!op->hasAttr(kNoBarrier)) {
        pending.order();
        pending.reads.insert(begin, end);
      } else {
        pending.reads.insert(begin, end);
        pending.writes.insert(begin, end);
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Region &region = op->getRegion(pick(random, 0, 1));
      runBlock(region.front());
      bind(op->getResults(), region.front().getTerminator()->getOperands());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      bind(loop.getRegionIterArgs(), loop.getInitArgs());
      for (int64_t i = pick(random, 0, 3); i > 0; --i) {
        runBlock(*loop.getBody());
        bind(loop.getRegionIterArgs(),
             loop.getBody()->getTerminator()->getOperands());
      }
      bind(loop.getResults(), loop.getRegionIterArgs());
    }
  }

  void access(Operation *op, Operation *owner, bool isWrite) {
    auto alloc = cast<AllocOp>(owner);
    int64_t begin = *alloc.getOffset();
    int64_t end = begin + alloc.getResult().getType().getAllocBytes();
    if (isWrite) {
      write(owner, begin, end);
      pending.writes.insert(begin, end);
      return;
    }
    ByteSet bytes;
    bytes.insert(begin, end);
    EXPECT_FALSE(bytes.overlaps(pending.writes)) << "read after write";
    for (int64_t byte = begin; byte < end; ++byte)
      ASSERT_EQ(holder[byte], owner) << "byte " << byte << " was overwritten";
    pending.reads.insert(bytes);
  }

  void write(Operation *owner, int64_t begin, int64_t end) {
    ByteSet bytes;
    bytes.insert(begin, end);
    EXPECT_FALSE(bytes.overlaps(pending.writes)) << "write after write";
    EXPECT_FALSE(bytes.overlaps(pending.reads)) << "write after read";
    for (int64_t byte = begin; byte < end; ++byte)
      holder[byte] = owner;
  }

  Random &random;
  llvm::DenseMap<Value, Operation *> memory;
  /// Whose contents each byte has.
  std::map<int64_t, Operation *> holder;
  PendingAccesses pending;
  int steps = 0;
};

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

bool hasOwnBarrier(Operation *op) { return !op->hasAttr(kNoBarrier); }

class SharedMemoryTest : public ::testing::Test {
protected:
  SharedMemoryTest() {
    context.loadDialect<TileGPUDialect, arith::ArithDialect, scf::SCFDialect,
                        cf::ControlFlowDialect, gpu::GPUDialect>();
  }

  void place(Operation *function) {
    SharedMemoryLiveness liveness(function, [](Operation *op) -> int64_t {
      auto bytes = op->getAttrOfType<IntegerAttr>(kScratch);
      return bytes ? bytes.getInt() : 0;
    });
    ArrayRef<SharedMemoryLiveness::Buffer> buffers = liveness.getBuffers();
    auto packing =
        tile_dialect::packBuffers(SmallVector<tile_dialect::PackedBuffer>(
            buffers.begin(), buffers.end()));
    for (auto [buffer, offset] : llvm::zip_equal(buffers, packing.offsets)) {
      if (auto alloc = dyn_cast<AllocOp>(buffer.owner))
        alloc.setOffset(offset);
      else
        buffer.owner->setAttr(kScratchAttrName,
                              ScratchAttr::get(&context, offset, buffer.bytes));
    }
  }

  void insertBarriers(Operation *function) {
    SharedMemoryHazards hazards(function, hasOwnBarrier);
    OpBuilder builder(&context);
    for (auto [op, scope] : hazards.getBarrierPoints()) {
      builder.setInsertionPoint(op);
      BarrierOp::create(builder, op->getLoc());
    }
  }

  void check(const std::string &text, Random &random) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    ASSERT_TRUE(module) << text;
    gpu::GPUFuncOp function;
    module->walk([&](gpu::GPUFuncOp op) { function = op; });
    place(function);
    insertBarriers(function);
    for (int path = 0; path < 20 && !HasFailure(); ++path)
      Machine(random).run(function);
    if (HasFailure()) {
      std::string ir;
      llvm::raw_string_ostream(ir) << *module;
      FAIL() << ir;
    }
    SharedMemoryHazards again(function, hasOwnBarrier);
    EXPECT_TRUE(again.getBarrierPoints().empty()) << text;
  }

  MLIRContext context;
};

TEST_F(SharedMemoryTest, StructuredPrograms) {
  Random random(1);
  for (int i = 0; i < 400 && !HasFailure(); ++i)
    check(Generator(random).structured(), random);
}

TEST_F(SharedMemoryTest, BlockPrograms) {
  Random random(2);
  for (int i = 0; i < 400 && !HasFailure(); ++i)
    check(Generator(random).blocks(), random);
}

} // namespace
