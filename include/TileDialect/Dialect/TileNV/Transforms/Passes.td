//===- Passes.td - Passes of the tile_nv dialect -----------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILENV_TRANSFORMS_PASSES_TD
#define TILEDIALECT_DIALECT_TILENV_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileNVSetTarget : Pass<"tile-nv-set-target", "::mlir::ModuleOp"> {
  let summary = "Give each gpu.module its #nvvm.target";
  let description = [{
    Takes: any module. `chip` chooses among the `#nvvm.target`s of each
    `gpu.module`; if none of them is for this chip, a new one replaces them all.
    Without `chip` a module keeps its own target; one that has none gets sm_80. A
    target that names no PTX version gets the one that the chip needs.
    Leaves: each `gpu.module` with exactly one target of a known chip. Fails on a
    chip that is not known, on a PTX version that is too old for it, on a triple
    other than nvptx64-nvidia-cuda, on several targets without `chip`, and on
    `tile` ops that stand outside a kernel in a `gpu.module`.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect", "::mlir::gpu::GPUDialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"\"", "Target chip, e.g. sm_90a">];
}

def TileNVInsertGridDependencies : Pass<"tile-nv-insert-grid-dependencies", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Let kernels overlap with the grids before and after them";
  let description = [{
    For programmatic dependent launch (PTX ISA, griddepcontrol): a kernel that is
    launched so starts before the grid in front of it has ended.

    Takes: kernels before `tile-gpu-allocate-shared-memory`, in a module with the
    `#nvvm.target` of a known chip. Puts `griddepcontrol.wait` at the entry of each
    kernel, before any access to memory, and `griddepcontrol.launch_dependents`
    behind the loads that the kernel begins with (those before the first reduction,
    loop, store ...), never before the wait: the grid behind this one may then rely
    on everything in front of this one. What these loads do not need moves behind
    them. Ahead of the wait, the first blocks of the grid `tile_nv.prefetch` what
    these loads will read (4 MiB together), as far as it is in global memory and
    addresses and masks need no memory to be read: arithmetic on arguments and the
    place in the grid, on which the address has to depend.
    A kernel that has a `griddepcontrol.wait` of its own stays as it is; one that
    only launches its dependents itself gets the wait.
    Leaves: these kernels with the attribute `tile_nv.programmatic_launch`. Without
    that kind of launch the instructions do nothing, and on chips that do not have
    them (before sm_90) neither does the pass.
  }];
  let dependentDialects = [
    "::mlir::tile_nv::TileNVDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileNVSetLaunchBounds : Pass<"tile-nv-set-launch-bounds", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Set the launch bounds of kernels, within the limits of their chip";
  let description = [{
    Takes: kernels after `tile-gpu-distribute`. Fails, at the kernel, if it needs
    more shared memory or threads than the chip of its `#nvvm.target` has, or if
    `nvvm` attributes that it has already (`nvvm.maxnreg`, `nvvm.reqntid` ...) have
    values that PTX or the chip does not allow, or another block than the layouts.
    Turns the kernel's `known_block_size` into `nvvm.reqntid`, drops `nvvm.maxntid`
    and `tile_gpu.shared_bytes`, and sets `nvvm.maxnreg` to `max-registers` if that
    is not 0 and the kernel has none of its own.
  }];
  let dependentDialects = ["::mlir::tile_gpu::TileGPUDialect", "::mlir::NVVM::NVVMDialect"];
  let options = [
    Option<"maxRegisters", "max-registers", "int64_t", "0", "Most registers of a thread; 0: no limit">];
}

#endif // TILEDIALECT_DIALECT_TILENV_TRANSFORMS_PASSES_TD
