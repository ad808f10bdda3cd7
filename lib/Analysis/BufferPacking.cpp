//===- BufferPacking.cpp - Places for buffers that share memory -*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/BufferPacking.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace tile_dialect;

using Neighbours = llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 0>;

/// The buffers that live at the same time as each buffer. A sweep over the
/// begins with the buffers still alive: linear in the number of buffers and of
/// pairs.
static Neighbours findInterference(llvm::ArrayRef<PackedBuffer> buffers,
                                   llvm::ArrayRef<unsigned> byBegin) {
  Neighbours neighbours(buffers.size());
  llvm::SmallVector<unsigned> alive;
  for (unsigned next : byBegin) {
    llvm::erase_if(alive, [&](unsigned index) {
      return buffers[index].end < buffers[next].begin;
    });
    for (unsigned index : alive) {
      neighbours[index].push_back(next);
      neighbours[next].push_back(index);
    }
    alive.push_back(next);
  }
  return neighbours;
}

/// The lowest place for `buffer` between the `taken` [begin, end) byte ranges.
static int64_t
findPlace(const PackedBuffer &buffer,
          llvm::SmallVectorImpl<std::pair<int64_t, int64_t>> &taken) {
  llvm::sort(taken);
  int64_t place = 0;
  for (auto [begin, end] : taken) {
    if (place + buffer.bytes <= begin)
      break;
    place = std::max(
        place, static_cast<int64_t>(llvm::alignTo(end, buffer.alignment)));
  }
  return place;
}

static Packing firstFit(llvm::ArrayRef<PackedBuffer> buffers,
                        const Neighbours &neighbours,
                        llvm::ArrayRef<unsigned> sequence) {
  Packing packing;
  packing.offsets.assign(buffers.size(), -1);
  llvm::SmallVector<std::pair<int64_t, int64_t>> taken;
  for (unsigned index : sequence) {
    taken.clear();
    for (unsigned other : neighbours[index])
      if (int64_t offset = packing.offsets[other]; offset >= 0)
        taken.emplace_back(offset, offset + buffers[other].bytes);
    int64_t place = findPlace(buffers[index], taken);
    packing.offsets[index] = place;
    packing.totalBytes =
        std::max(packing.totalBytes, place + buffers[index].bytes);
  }
  return packing;
}

Packing tile_dialect::packBuffers(llvm::ArrayRef<PackedBuffer> buffers) {
  auto byBegin = llvm::to_vector(llvm::seq<unsigned>(0, buffers.size()));
  llvm::sort(byBegin, [&](unsigned a, unsigned b) {
    return std::make_pair(buffers[a].begin, a) <
           std::make_pair(buffers[b].begin, b);
  });
  Neighbours neighbours = findInterference(buffers, byBegin);

  auto bySize = byBegin;
  llvm::sort(bySize, [&](unsigned a, unsigned b) {
    return std::make_tuple(-buffers[a].bytes, buffers[a].begin, a) <
           std::make_tuple(-buffers[b].bytes, buffers[b].begin, b);
  });
  Packing largestFirst = firstFit(buffers, neighbours, bySize);
  Packing inOrder = firstFit(buffers, neighbours, byBegin);
  return inOrder.totalBytes < largestFirst.totalBytes ? inOrder : largestFirst;
}
