//===- ReduceScratch.cpp - The scratch memory of a reduction --------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReduceScratch.h"
#include "AxisSpread.h"
#include "CombineRegion.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

/// Scratch memory begins, and the part of each source begins, at a multiple of
/// the widest access.
static constexpr int64_t kPartAlignment = 16;
/// From this many warps on it is cheaper for the lanes to share the last step
/// (one load and log2(warps) shuffles) than for each thread to do all of it.
static constexpr int64_t kMinWarpsForLanes = 8;
/// Instructions of all warps, about, from which on the last step is done once
/// for all: another barrier and round trip to shared memory cost as much.
static constexpr int64_t kMinWorkToDoOnce = 384;
/// The results of a last step that is done once may take so much memory.
static constexpr int64_t kMaxResultBytes = 8192;
/// Shared memory delivers this many bytes of consecutive addresses at a time.
static constexpr int64_t kBankLineBytes = 128;

uint32_t tile_gpu::getMaskOfEqualRows(const Layout &result) {
  uint32_t mask = 0;
  for (auto [bit, basis] : llvm::enumerate(result.getBases(HardwareDim::Lane)))
    if (llvm::all_of(basis, [](int32_t coord) { return coord == 0; }))
      mask |= 1u << bit;
  return mask;
}

/// About how many cycles `loads` take in which `numLanes` lanes read at
/// multiples of `stride` bytes.
static int64_t getLoadCost(int64_t loads, int64_t numLanes, int64_t stride) {
  int64_t lines = llvm::divideCeil(numLanes * stride, kBankLineBytes);
  return loads * std::clamp<int64_t>(lines, 1, numLanes);
}

static int64_t getNumRegisters(const ReduceScratch &scratch) {
  return scratch.result.getLayout()
      .getRegisterCoords(scratch.resultShape)
      .size();
}

void ReduceScratch::addPart(Type type) {
  const Layout &layout = result.getLayout();
  int64_t bytes = getElementBytes(type);
  int64_t numRegisters = getNumRegisters(*this);
  int64_t numLanes = layout.getSize(HardwareDim::Lane) >>
                     llvm::popcount(layout.getFreeMask(HardwareDim::Lane));
  int64_t places = std::min(numPlaces, kPartAlignment / bytes);
  int64_t rows = order.empty() ? 1
                               : getAccessElements(result, resultShape,
                                                   order.front(), bytes);
  int64_t rowByRow = getLoadCost(numRegisters * (numPlaces / places), numLanes,
                                 numPlaces * bytes);
  int64_t placeByPlace =
      getLoadCost(numRegisters / rows * numPlaces, numLanes, rows * bytes);
  Part part{type,       bytes,  sumBytes, numPlaces * bytes, bytes,
            /*rows=*/1, places, 0,        /*rows=*/rows};
  if (placeByPlace < rowByRow) {
    part.rowPitch = bytes;
    part.placePitch = llvm::alignTo(getNumRows() * bytes, kPartAlignment);
    part.rowsPerAccess = rows;
    part.placesPerAccess = 1;
  }
  part.resultOffset = resultBytes;
  sumBytes += llvm::alignTo(
      std::max(part.placePitch * numPlaces, part.rowPitch * getNumRows()),
      kPartAlignment);
  resultBytes += llvm::alignTo(getNumRows() * bytes, kPartAlignment);
  parts.push_back(part);
}

/// The instructions, about, that a last step takes that each of the warps that
/// share a row does.
int64_t ReduceScratch::getLastStepWork(Region &combine) const {
  int64_t perStep = getNumCombineOps(combine), numSteps = numPlaces - 1;
  if (isForLanes) {
    numSteps = llvm::Log2_64(numPlaces);
    for (const Part &part : parts)
      perStep += llvm::divideCeil(part.elementBytes, 4);
  }
  return perStep * numSteps * getNumRegisters(*this) * numPlaces;
}

ReduceScratch::ReduceScratch(tile::ReduceOp op, const Layout &layout)
    : resultShape(dropAxis(
          cast<RankedTensorType>(op.getSources().front().getType()).getShape(),
          op.getAxis())),
      result(LayoutAttr::get(op.getContext(), layout.projectOut(op.getAxis()))),
      order(result.getLayout().getOrder()) {
  numPlaces = int64_t(1) << llvm::popcount(
                  getAxisSpread(layout, op.getAxis()).warpMask);
  for (Value source : op.getSources())
    addPart(cast<RankedTensorType>(source.getType()).getElementType());
  for (Part &part : parts)
    part.resultOffset += sumBytes;
  int64_t numLanes = layout.getSize(HardwareDim::Lane);
  isForLanes = numPlaces >= kMinWarpsForLanes && numPlaces <= numLanes &&
               getMaskOfEqualRows(result.getLayout()) == numLanes - 1;
  isDoneOnce = resultBytes <= kMaxResultBytes &&
               getLastStepWork(op.getCombine()) >= kMinWorkToDoOnce;
}
