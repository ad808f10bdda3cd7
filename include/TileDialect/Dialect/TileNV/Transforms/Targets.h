//===- Targets.h - The target of a gpu.module -------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILENV_TRANSFORMS_TARGETS_H
#define TILEDIALECT_DIALECT_TILENV_TRANSFORMS_TARGETS_H

#include "mlir/Support/LLVM.h"

namespace tile_dialect {
struct ChipInfo;
} // namespace tile_dialect

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::gpu {
class GPUModuleOp;
} // namespace mlir::gpu

namespace mlir::tile_nv {

/// Leaves `module` with exactly one `#nvvm.target`, of a known chip and with a
/// PTX version that has what is emitted for it. `chip` chooses among the
/// targets of the module, or replaces them; without it (empty) the module's own
/// target stays, and a module without one gets the default chip. Fails with a
/// diagnostic at the module on a chip or a PTX version that does not do, on a
/// target of another machine, and on several targets without `chip`. The
/// context must have loaded the NVVM dialect.
LogicalResult setTarget(gpu::GPUModuleOp module, StringRef chip);

/// The chip of the only `#nvvm.target` of `module`. If there is no such target
/// or chip, reports that and returns null.
const tile_dialect::ChipInfo *getTargetChip(gpu::GPUModuleOp module);

/// True if PTX allows `name` for a kernel (PTX ISA, Identifiers).
bool isPTXIdentifier(StringRef name);

/// Fails, with a diagnostic at `kernel`, if an `nvvm` attribute that bounds its
/// launch or registers (`nvvm.maxnreg`, `nvvm.reqntid`, `nvvm.cluster_dim`,
/// ...) says what PTX or `chip` does not have.
LogicalResult verifyLaunchBounds(Operation *kernel,
                                 const tile_dialect::ChipInfo &chip);

} // namespace mlir::tile_nv

#endif // TILEDIALECT_DIALECT_TILENV_TRANSFORMS_TARGETS_H
