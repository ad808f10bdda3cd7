//===- Passes.td - Passes of the tile dialect --------------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define TILEDIALECT_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileCombine : Pass<"tile-combine"> {
  let summary = "Combine ops into cheaper ones";
  let description = [{
    Takes and leaves: `tile` kernels. Rewrites that are no canonicalisations,
    since they change how a sum is rounded or look at more than one op:
    - `dot(a, b, 0) + c` becomes `dot(a, b, c)`;
    - a select between a masked load and another value under the same mask becomes
      the load's `other`;
    - an offset that all pointers of a tile have in common is added to their
      scalar base.
  }];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def TileReorderBroadcast : Pass<"tile-reorder-broadcast"> {
  let summary = "Compute on small tiles before they are broadcast";
  let description = [{
    Takes and leaves: `tile` kernels. Moves elementwise ops before the `splat`,
    `broadcast` and `expand_dims` of their operands, so that they work on fewer
    elements.
  }];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def TileInlineHelpers : Pass<"tile-inline-helpers"> {
  let summary = "Inline calls of helper functions into kernels";
  let description = [{
    Takes a module of kernels (`gpu.func`, or any other function op) that call
    `func.func` helpers of the same symbol table, combine regions included.
    Leaves no such call: every helper is inlined, innermost first, so that the
    work is linear in the size of the result. Private helpers that are no longer
    called are erased. Calls of declarations are left alone.

    The general inliner does not do this: in LLVM 22 the gpu dialect refuses
    to inline a region into a `gpu.func`.

    Fails on a recursive helper, and on a helper of several blocks (an early
    return) that is called in a region that takes one block (a structured loop).
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let statistics = [Statistic<"inlined", "calls-inlined", "Number of calls that were inlined">];
}

#endif // TILEDIALECT_DIALECT_TILE_TRANSFORMS_PASSES_TD
