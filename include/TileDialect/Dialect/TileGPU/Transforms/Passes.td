//===- Passes.td - Passes of the tile_gpu dialect ----------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_PASSES_TD
#define TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileGPUCoalesce : Pass<"tile-gpu-coalesce", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Give memory accesses layouts that make wide, coalesced accesses";
  let description = [{
    Takes: kernels after `convert-tile-to-tile-gpu`. Uses axis info (contiguity,
    divisibility, constancy) of the pointers to choose, for each load, store and
    atomic, a layout whose threads access up to `max-vector-bytes` neighbouring
    bytes each and whose lanes follow each other along the contiguous dimension.
    Leaves: the same program, with `tile_gpu.convert_layout` around the accesses
    whose layout changed.
  }];
  let dependentDialects = ["::mlir::tile_gpu::TileGPUDialect"];
  let options = [
    Option<"maxVectorBytes", "max-vector-bytes", "int64_t", "16", "Widest access of one thread, in bytes">];
}

def TileGPURemoveLayoutConversions : Pass<"tile-gpu-remove-layout-conversions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Remove layout conversions by choosing layouts for whole chains of ops";
  let description = [{
    Takes: kernels with layouts. Propagates the layouts of anchors (memory
    accesses, reductions, matrix products) through elementwise ops, shape ops and
    control flow, and computes cheap values again in the layout in which they are
    needed, where that costs less than moving them between threads.
    Leaves: the same program with fewer `tile_gpu.convert_layout` ops.
  }];
  let dependentDialects = ["::mlir::tile_gpu::TileGPUDialect"];
}

def TileGPUOptimizeReductions : Pass<"tile-gpu-optimize-reductions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Keep reductions inside a warp where their rows fit";
  let description = [{
    Takes: kernels with layouts. Changes the layout of the operand of a reduction
    or scan so that the reduced axis lies within a warp, if a row is no longer than
    `max-warp-row` elements and there are enough rows for all warps: such a
    reduction needs shuffles only, no shared memory and no barrier. Memory accesses
    to tiles of the same shape follow, where they stay as wide.
    Leaves: the same program, with `tile_gpu.convert_layout` around what changed.
  }];
  let dependentDialects = ["::mlir::tile_gpu::TileGPUDialect"];
  let options = [
    Option<"maxWarpRow", "max-warp-row", "int64_t", "4096", "Longest row, in elements, that one warp reduces">];
}

def TileGPUAllocateSharedMemory : Pass<"tile-gpu-allocate-shared-memory", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Give allocations and scratch memory their place in shared memory";
  let description = [{
    Takes: kernels with layouts. Sets the `offset` of each `tile_gpu.alloc`,
    `tile_gpu.scratch` on each op that needs shared memory while it runs, and
    `tile_gpu.shared_bytes` on the kernel. Values that are not live at the same
    time share memory; while little is used, the scratch memory of neighbouring ops
    is kept apart, which saves barriers. Fails if the kernel needs more than
    `max-shared-bytes`.
  }];
  let dependentDialects = ["::mlir::tile_gpu::TileGPUDialect"];
  let options = [
    Option<"maxSharedBytes", "max-shared-bytes", "int64_t", "232448", "Shared memory of one block on the target chip">];
}

def TileGPUInsertBarriers : Pass<"tile-gpu-insert-barriers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Order accesses of different threads to the same memory";
  let description = [{
    Takes: kernels after `tile-gpu-allocate-shared-memory`. Puts a
    `tile_gpu.barrier` between two accesses to overlapping shared memory, at least
    one of which is a write, that no barrier separates on some path, loop back
    edges included; in front of a loop where one there saves those inside. An
    asynchronous copy counts as a write after an `async_wait`.

    It also orders each load from global memory to later stores and atomics that
    may write there (those through the same argument of the kernel or one of its
    `tile.alias_group`, or where one of the two pointers comes from no argument) if
    other threads may write an element than load it: where elements have several
    holders (a scalar has one in each thread), or the write is of another shape,
    layout or width. If all those threads are of one warp, the barrier is
    `tile_gpu.barrier of_warp`. A load and a store of one layout without copies are
    taken to access the same elements: a kernel that permutes memory in place needs
    a `tile.barrier` of its own.
  }];
  let dependentDialects = ["::mlir::tile_gpu::TileGPUDialect"];
}

def TileGPUDistribute : Pass<"tile-gpu-distribute", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Replace each tile by the scalars that one thread holds";
  let description = [{
    Takes: kernels in which every tile has a layout, shared memory is allocated
    and barriers are placed; each kernel has a `known_block_size`. One 1:N dialect
    conversion replaces each tile by the scalars of its registers; dialects
    contribute patterns through `DistributeDialectInterface`. Elements of an
    elementwise op that are known to be equal (`tile.constancy` on the op, and what
    axis info finds: a mask that changes every 8 elements, say) are computed once.
    Leaves: scalar `arith`, `math`, `scf`, `cf`, `gpu`, `nvvm` and `llvm` ops.
  }];
  let dependentDialects = [
    "::mlir::tile_gpu::TileGPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::gpu::GPUDialect", "::mlir::ub::UBDialect"];
}

#endif // TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_PASSES_TD
