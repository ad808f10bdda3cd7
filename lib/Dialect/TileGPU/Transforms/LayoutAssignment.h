//===- LayoutAssignment.h - One layout for each chain of ops ----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values that elementwise ops and control flow tie together form a component,
// which has one layout. What an op on the border of a component wants (memory
// accesses, reductions, ops with layouts of their own) is a cost for each
// layout that the component could have; the cheapest one is taken. Then types
// change in place, and conversions go where a border did not get what it needs.
//
// Values that any layout can have for nothing (constants, splats, ranges)
// belong to no component: each use has its own copy. So do values that unknown
// ops make: their layout is given ("pinned").
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTASSIGNMENT_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTASSIGNMENT_H

#include "LayoutCost.h"
#include "TileDialect/Dialect/TileGPU/Transforms/MemoryAccess.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <vector>

namespace mlir::tile_gpu {

/// How an op takes part in the assignment.
enum class OpRole {
  /// No tiles, or nothing to decide.
  None,
  /// Makes a value in any layout.
  Creation,
  /// One layout for all operands and results.
  Elementwise,
  /// Forwards operands to results and block arguments.
  ControlFlow,
  /// One layout for all tiles, chosen between what it was given and that of
  /// the component it works for.
  Flexible,
  /// Result layout follows from the operand's or the other way round.
  Shape,
  /// Takes and makes any layouts.
  Any,
  /// Keeps the layouts that it has.
  Fixed,
};

class LayoutAssignment {
public:
  LayoutAssignment(Operation *kernel, LayoutCost &cost);

  /// Chooses all layouts, and rewrites the kernel accordingly.
  void run();

  /// Accesses to global memory, with what is known of their pointers.
  DenseMap<Operation *, MemoryAccess> &getAccesses() { return accesses; }

private:
  /// An op on the border of a component.
  struct Border {
    enum Kind {
      /// The component holds the data of a flexible op.
      Data,
      /// The component holds another operand of a flexible op (a pointer, say).
      Demand,
      /// The component meets a value or operand of the layout `layout`.
      Given,
      /// The component is the source, or the result, of a shape op.
      Source,
      Result,
    } kind;
    Operation *op = nullptr;
    LayoutAttr layout;
    bool flowsIn = false;
    int64_t frequency = 1;
  };
  struct Component {
    RankedTensorType type;
    LayoutAttr original, layout;
    /// Elementwise results, weighed by how often they are computed.
    int64_t work = 0;
    /// Holds data rather than addresses and masks.
    bool isData = false;
    std::vector<Border> borders;
  };

  // Gathering.
  void recordOps();
  void removeConversions();
  static OpRole getRole(Operation *op);
  bool isTied(Value value) const;
  unsigned getId(Value value);
  unsigned find(unsigned id);
  void unite(ArrayRef<Value> values);
  void tieValues();
  void addBorder(Value value, Border::Kind kind, Operation *op,
                 LayoutAttr layout = {}, bool flowsIn = false);
  void addBorders(Operation *op);
  void addFlexibleBorders(Operation *op);
  Component *getComponent(Value value);

  // Deciding.
  void decideAll();
  void decide(Component &component);
  SmallVector<LayoutAttr> getCandidates(Component &component);
  int64_t getCost(Component &component, LayoutAttr layout);
  int64_t getBorderCost(Component &component, const Border &border,
                        LayoutAttr layout);
  LayoutAttr getBorderWish(const Border &border);
  int64_t getExecutionCost(Operation *op, LayoutAttr layout);
  LayoutAttr chooseExecution(Operation *op, RankedTensorType type,
                             LayoutAttr layout, int64_t &cost);
  void settle(Component &component);
  /// The layout of `value` if it is decided, or null.
  LayoutAttr getKnownLayout(Value value);
  LayoutAttr getExecution(Operation *op) const;

  // Rewriting.
  void setTypes();
  void rewriteResults(Operation *op);
  void rewriteOperands(Operation *op);
  void rewriteShapeOp(Operation *op);
  void requireEqualOperands(Operation *op);
  void require(OpOperand &operand, LayoutAttr layout);
  Value getIn(Value value, LayoutAttr layout);

  Operation *kernel;
  LayoutCost &cost;
  DenseMap<Operation *, MemoryAccess> accesses;
  /// All ops, in order, that have something to do with tiles.
  std::vector<std::pair<Operation *, OpRole>> ops;
  /// The layouts that operands and results of fixed and flexible ops had.
  DenseMap<Operation *, SmallVector<LayoutAttr, 4>> givenOperands, givenResults;
  DenseSet<Value> pinned;

  DenseMap<Value, unsigned> ids;
  std::vector<unsigned> parents;
  llvm::MapVector<unsigned, Component> components;
  /// Decided layouts of flexible ops.
  DenseMap<Operation *, LayoutAttr> executions;
  DenseMap<std::pair<Value, Attribute>, Value> converted;
};

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTASSIGNMENT_H
