//===- AsyncState.cpp - Asynchronous operations in flight ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncState.h"
#include <cstring>

using namespace tile_dialect::emulator;

/// Scheduling rounds that an engine takes: fixed, or up to this many at random.
static constexpr uint32_t fixedDelay = 1, randomDelay = 24;

void AsyncOperation::read() {
  if (hasRead)
    return;
  hasRead = true;
  if (onRead)
    onRead();
  if (!inGroup)
    reads.end();
}

void AsyncOperation::await() {
  read();
  reads.end();
  if (onAwaited)
    onAwaited();
  onAwaited = nullptr;
}

void AsyncOperation::finish() {
  if (hasFinished)
    return;
  read();
  hasFinished = true;
  writes.end();
  if (onFinish)
    onFinish();
}

void tile_dialect::emulator::scheduleOperation(Warp &warp,
                                               AsyncOperationRef operation) {
  Cluster &cluster = *warp.block->cluster;
  AsyncTask task;
  task.delay =
      warp.context->options.seed ? cluster.random() % randomDelay : fixedDelay;
  task.run = [operation] { operation->finish(); };
  cluster.tasks.push_back(std::move(task));
}

WarpAsync &tile_dialect::emulator::asyncOf(Warp &warp) {
  if (!warp.asyncState) {
    auto state = std::make_shared<WarpAsync>();
    if (warp.context->options.checkRaces)
      state->registers = std::make_unique<WgmmaRegisters>();
    warp.asyncState = state;
  }
  return *static_cast<WarpAsync *>(warp.asyncState.get());
}

BlockAsync &tile_dialect::emulator::asyncOf(Block &block) {
  if (!block.asyncState) {
    auto state = std::make_shared<BlockAsync>();
    if (block.worker->context.options.checkRaces)
      state->inFlight = std::make_unique<InFlight>(block.shared.size());
    block.asyncState = state;
  }
  return *static_cast<BlockAsync *>(block.asyncState.get());
}

void tile_dialect::emulator::copyLane(PendingCopy &copy, unsigned lane) {
  uint32_t read = copy.sourceBytes[lane];
  if (read)
    std::memcpy(copy.dest[lane], copy.source[lane], read);
  if (read < copy.bytes)
    std::memset(copy.dest[lane] + read, 0, copy.bytes - read);
}
