//===- Machine.cpp - Blocks, clusters and host threads ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "DeviceHeap.h"
#include "Mbarrier.h"
#include "Monitor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <thread>

using namespace tile_dialect::emulator;
using llvm::Twine;

/// Warp instructions in a turn of a warp.
static constexpr uint64_t defaultQuantum = 20000;
/// Clusters that a host thread keeps resident while they wait for each other:
/// as many as a GPU of 132 multiprocessors has place for.
static constexpr size_t maximalResident = 4224;
/// Rounds of a cluster that only polls before another one gets its turn.
static constexpr uint64_t longestPoll = 16;
/// More would only take memory.
static constexpr unsigned maximalThreads = 256;
/// Time between two questions whether the launch is to be stopped.
static constexpr std::chrono::milliseconds askInterval(50);
/// Memory that nobody has written holds this byte: as a float it is no number.
static constexpr uint8_t sharedFill = 0xFF;

//===----------------------------------------------------------------------===//
// Block
//===----------------------------------------------------------------------===//

void Block::start(Cluster &owner, Worker &thread, Dim3 position,
                  uint32_t number) {
  cluster = &owner;
  worker = &thread;
  index = position;
  rank = number;
  const LaunchContext &context = thread.context;
  numThreads = context.launch.block.count();
  numWarps = llvm::divideCeil(numThreads, warpSize);
  shared.assign(uint64_t(context.image.dynamicSharedBase) +
                    context.launch.dynamicSharedBytes,
                sharedFill);
  for (Barrier &barrier : barriers)
    barrier = Barrier();
  output.clear();
  checkState.reset();
  asyncState.reset();
  if (thread.monitor)
    thread.monitor->startBlock(*this);
  for (uint32_t w = 0; w < numWarps; ++w) {
    if (w >= warps.size())
      warps.push_back(std::make_unique<Warp>());
    uint32_t lanes = std::min(numThreads - w * warpSize, warpSize);
    warps[w]->start(*this, w,
                    lanes == warpSize ? allLanes : (LaneMask(1) << lanes) - 1);
  }
}

bool Block::arrive(Warp &warp, unsigned number, LaneMask lanes, uint32_t count,
                   bool waits, LaneMask value) {
  Barrier &barrier = barriers[number];
  if (barrier.arrivals.empty())
    barrier.arrivals.resize(numWarps);
  bool isFirst = barrier.threadCount == 0;
  if (isFirst) {
    barrier.expected = count ? count : numThreads;
    barrier.countGiven = count != 0;
  } else if (barrier.expected != (count ? count : numThreads)) {
    return false;
  }
  Barrier::Arrival &arrival = barrier.arrivals[warp.id];
  (waits ? arrival.waiting : arrival.arrived) |= lanes;
  barrier.trueCount += llvm::popcount(value & lanes);
  barrier.threadCount += llvm::popcount(lanes);
  if (worker->monitor)
    worker->monitor->arrive(warp, number, lanes);
  if (isComplete(number))
    release(number);
  return true;
}

/// A barrier counts warps: one whose live lanes have all arrived counts in
/// full.
bool Block::isComplete(unsigned number) const {
  const Barrier &barrier = barriers[number];
  if (barrier.threadCount == 0)
    return false;
  uint32_t threads = 0;
  bool all = true;
  for (uint32_t w = 0; w < numWarps; ++w) {
    LaneMask lanes = barrier.arrivals[w].waiting | barrier.arrivals[w].arrived;
    LaneMask missing = warps[w]->live & ~lanes;
    all &= missing == 0;
    if (lanes)
      threads += missing == 0 ? warpSize : llvm::popcount(lanes);
  }
  return barrier.countGiven ? threads >= barrier.expected : all;
}

void Block::release(unsigned number) {
  Barrier &barrier = barriers[number];
  if (worker->monitor)
    worker->monitor->release(*this, number);
  barrier.lastTrueCount = barrier.trueCount;
  barrier.lastThreadCount = barrier.threadCount;
  barrier.trueCount = barrier.threadCount = 0;
  barrier.expected = 0;
  std::fill(barrier.arrivals.begin(), barrier.arrivals.end(),
            Barrier::Arrival());
  ++barrier.phase;
}

void Block::lanesExited() {
  for (unsigned b = 0; b < numBarriers; ++b)
    if (isComplete(b))
      release(b);
  cluster->checkBarrier();
  if (worker->monitor &&
      llvm::none_of(llvm::ArrayRef(warps).take_front(numWarps),
                    [](const auto &warp) { return warp->live != 0; }))
    worker->monitor->blockExited(*this);
}

std::string Block::describeBarriers() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (unsigned b = 0; b < numBarriers; ++b) {
    const Barrier &barrier = barriers[b];
    if (barrier.threadCount == 0)
      continue;
    os << "block (" << index.x << "," << index.y << "," << index.z
       << ") barrier " << b << ": " << barrier.threadCount << " of "
       << barrier.expected << " threads have arrived, from warps";
    for (uint32_t w = 0; w < numWarps; ++w)
      if (barrier.arrivals[w].waiting | barrier.arrivals[w].arrived)
        os << ' ' << w;
    os << '\n';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Cluster
//===----------------------------------------------------------------------===//

void Cluster::start(Worker &thread, uint64_t linear) {
  worker = &thread;
  number = linear;
  const LaunchContext &context = thread.context;
  const Dim3 &grid = context.clusterGrid;
  index = Dim3{uint32_t(linear % grid.x), uint32_t(linear / grid.x % grid.y),
               uint32_t(linear / grid.x / grid.y)};
  const Dim3 &shape = context.clusterShape;
  numBlocks = shape.count();
  barrier = ClusterBarrier();
  tasks.clear();
  spinRounds = pollRounds = 0;
  if (context.options.seed)
    random.seed(context.options.seed * 0x9E3779B97F4A7C15ull + linear);
  order.clear();
  while (blocks.size() < numBlocks)
    blocks.push_back(std::make_unique<Block>());
  for (uint32_t rank = 0; rank < numBlocks; ++rank) {
    Dim3 block{index.x * shape.x + rank % shape.x,
               index.y * shape.y + rank / shape.x % shape.y,
               index.z * shape.z + rank / shape.x / shape.y};
    blocks[rank]->start(*this, thread, block, rank);
    for (uint32_t w = 0; w < blocks[rank]->numWarps; ++w)
      order.push_back(blocks[rank]->warps[w].get());
  }
}

void Cluster::checkBarrier() {
  if (barrier.arrived == 0)
    return;
  uint32_t live = 0;
  for (uint32_t b = 0; b < numBlocks; ++b)
    for (uint32_t w = 0; w < blocks[b]->numWarps; ++w)
      live += llvm::popcount(blocks[b]->warps[w]->live);
  if (barrier.arrived < live)
    return;
  barrier.arrived = 0;
  ++barrier.phase;
}

bool Cluster::runTasks(bool force) {
  bool ran = false;
  for (size_t n = tasks.size(); n > 0; --n) {
    AsyncTask task = std::move(tasks.front());
    tasks.pop_front();
    if (task.delay > 0 && !(force && !ran)) {
      --task.delay;
      tasks.push_back(std::move(task));
      continue;
    }
    task.run();
    ran = true;
  }
  return ran;
}

Cluster::Result Cluster::run() {
  LaunchContext &context = worker->context;
  bool shuffle = context.options.seed != 0;
  while (true) {
    if (context.isStopped(number))
      return Result::Failed;
    if (context.options.instructionLimit &&
        context.instructions.load(std::memory_order_relaxed) >
            context.options.instructionLimit) {
      Report report;
      report.kind = Report::Kind::InvalidOperation;
      report.message = "the launch executed more than " +
                       std::to_string(context.options.instructionLimit) +
                       " warp instructions";
      report.where.kernel = context.image.kernel->name.str();
      context.fail(number, std::move(report));
      return Result::Failed;
    }
    if (shuffle)
      std::shuffle(order.begin(), order.end(), random);
    bool ran = false, spun = false, alive = false;
    bool polled = false, changed = false;
    for (Warp *warp : order) {
      if (warp->live == 0)
        continue;
      alive = true;
      worker->askForInterrupt();
      if (context.wasInterrupted.load(std::memory_order_relaxed))
        return Result::Failed;
      bool wroteBefore = std::exchange(warp->wrote, false);
      Warp::Result result =
          warp->run(shuffle ? 1 + random() % 64 : defaultQuantum);
      polled |= result == Warp::Result::Yielded || warp->failedPolls > 0;
      // Whoever computes for a whole turn is in no loop that polls.
      bool hasChanged = warp->wrote || result == Warp::Result::Done ||
                        (result == Warp::Result::Preempted && !shuffle);
      changed |= hasChanged;
      warp->wrote |= wroteBefore;
      switch (result) {
      case Warp::Result::Done:
      case Warp::Result::Paused:
      case Warp::Result::Preempted:
        ran = true;
        // At once: a round of a large cluster may take longer than others
        // wait before they call it a deadlock.
        if (hasChanged || pollRounds < longestPoll)
          context.progress.fetch_add(1, std::memory_order_relaxed);
        break;
      case Warp::Result::Blocked:
        break;
      case Warp::Result::Yielded:
        // Who writes memory between its polls may wake others.
        (warp->wrote ? ran : spun) = true;
        warp->wrote = false;
        break;
      case Warp::Result::Failed:
        return Result::Failed;
      }
    }
    bool ranTasks = runTasks(!alive || !(ran || spun));
    ran |= ranTasks;
    if (!alive && tasks.empty())
      return Result::Done;
    if (changed || ranTasks)
      pollRounds = 0;
    else if (polled)
      ++pollRounds;
    if (ran && pollRounds < longestPoll) {
      context.progress.fetch_add(1, std::memory_order_relaxed);
      spinRounds = 0;
      continue;
    }
    // Who gets on from barrier to barrier may wait for another block all the
    // same.
    if (ran || spun) {
      gotOn = ran || (gotOn && spinRounds > 0);
      if (++spinRounds % 16 == 0)
        return Result::Spinning;
      continue;
    }
    reportDeadlock(/*spinning=*/false);
    return Result::Failed;
  }
}

void Cluster::reportDeadlock(bool spinning) {
  LaunchContext &context = worker->context;
  Report report;
  report.kind = Report::Kind::Deadlock;
  report.message =
      spinning ? "no warp gets on: all poll for what nobody will do any more"
               : "no warp can go on";
  report.where.kernel = context.image.kernel->name.str();
  report.where.ptxFile = context.image.module->fileName;
  for (auto &block : llvm::ArrayRef(blocks).take_front(numBlocks)) {
    for (uint32_t w = 0; w < block->numWarps; ++w)
      for (const Split &split : block->warps[w]->splits)
        report.notes.push_back(block->warps[w]->describePosition(split));
    llvm::SmallVector<llvm::StringRef> lines;
    std::string barriers =
        block->describeBarriers() + describeMbarriers(*block);
    llvm::StringRef(barriers).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines)
      report.notes.push_back(line.str());
  }
  if (barrier.arrived)
    report.notes.push_back(
        "cluster barrier: " + std::to_string(barrier.arrived) +
        " threads have arrived");
  context.fail(number, std::move(report));
}

//===----------------------------------------------------------------------===//
// Worker
//===----------------------------------------------------------------------===//

Worker::Worker(LaunchContext &context, unsigned number)
    : context(context), number(number) {
  monitor = createMonitor(context, *this);
}

Worker::~Worker() = default;

uint8_t *Worker::globalSlow(uint64_t address, uint32_t bytes, bool write) {
  const Allocation *allocation = context.memory.find(address);
  if (!allocation || (write && allocation->readOnly))
    return nullptr;
  uint64_t distance = address - allocation->base;
  if (allocation->size - distance < bytes)
    return nullptr;
  // Blocks come and go: nothing is remembered of them.
  if (allocation->heap)
    return allocation->heap->contains(address, bytes)
               ? allocation->host + distance
               : nullptr;
  cached = {allocation->base, allocation->size, allocation->host,
            allocation->readOnly, allocation};
  return allocation->host + distance;
}

void Worker::askForInterrupt() {
  if (number != 0 || !context.options.isInterrupted)
    return;
  auto now = std::chrono::steady_clock::now();
  if (now - lastAsked < askInterval)
    return;
  lastAsked = now;
  if (context.options.isInterrupted())
    context.wasInterrupted = true;
}

std::unique_ptr<Cluster> Worker::takeCluster() {
  uint64_t index = context.nextCluster.fetch_add(1);
  if (index >= context.clusterGrid.count() || context.isStopped(index))
    return nullptr;
  std::unique_ptr<Cluster> cluster;
  if (free.empty()) {
    cluster = std::make_unique<Cluster>();
  } else {
    cluster = std::move(free.back());
    free.pop_back();
  }
  cluster->start(*this, index);
  return cluster;
}

/// Whether a cluster that only polls does so in vain: nothing else in the
/// launch gets on either.
bool Worker::isStuck(Cluster &cluster) {
  uint64_t progress = context.progress.load(std::memory_order_relaxed);
  auto now = std::chrono::steady_clock::now();
  if (cluster.lastProgress != progress || cluster.spinRounds <= 16) {
    cluster.lastProgress = progress;
    cluster.spinStart = now;
    return false;
  }
  // Of many clusters each needs long for so many rounds.
  bool isLong = now - cluster.spinStart > std::chrono::seconds(2);
  if (cluster.spinRounds < (isLong ? 64 : 20000))
    return false;
  // Who gets on may count its polls, and end.
  return isLong || (context.numWorkers == 1 && !cluster.gotOn);
}

void Worker::run() {
  std::deque<std::unique_ptr<Cluster>> active;
  bool wantNew = true;
  while (true) {
    if (active.empty() || (wantNew && active.size() < maximalResident)) {
      if (std::unique_ptr<Cluster> cluster = takeCluster())
        active.push_front(std::move(cluster));
      else if (active.empty())
        break;
    }
    std::unique_ptr<Cluster> cluster = std::move(active.front());
    active.pop_front();
    wantNew = false;
    switch (cluster->run()) {
    case Cluster::Result::Done: {
      std::string output;
      for (uint32_t b = 0; b < cluster->numBlocks; ++b) {
        output += cluster->blocks[b]->output;
        if (monitor)
          monitor->endBlock(*cluster->blocks[b]);
      }
      stats.blocks += cluster->numBlocks;
      context.finishOutput(cluster->number, std::move(output));
      context.progress.fetch_add(1, std::memory_order_relaxed);
      free.push_back(std::move(cluster));
      break;
    }
    case Cluster::Result::Spinning:
      if (isStuck(*cluster) && !wantNew) {
        cluster->reportDeadlock(/*spinning=*/true);
        break;
      }
      wantNew = true;
      active.push_back(std::move(cluster));
      std::this_thread::yield();
      break;
    case Cluster::Result::Failed: {
      std::string output;
      for (uint32_t b = 0; b < cluster->numBlocks; ++b)
        output += cluster->blocks[b]->output;
      context.finishOutput(cluster->number, std::move(output));
      break;
    }
    }
  }
  std::lock_guard<std::mutex> guard(context.lock);
  context.stats.add(stats);
}

//===----------------------------------------------------------------------===//
// LaunchContext
//===----------------------------------------------------------------------===//

void LaunchContext::run() {
  unsigned threads = options.threads;
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min<uint64_t>({threads, maximalThreads, clusterGrid.count()});
  numWorkers = threads;
  runningThreads = threads - 1;
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < threads; ++i)
    pool.emplace_back([this, i] {
      Worker(*this, i).run();
      std::lock_guard<std::mutex> guard(lock);
      --runningThreads;
      threadEnded.notify_one();
    });
  Worker(*this, 0).run();
  if (options.isInterrupted)
    awaitThreads();
  for (std::thread &thread : pool)
    thread.join();
  llvm::raw_ostream &os = options.output ? *options.output : llvm::outs();
  for (auto &[number, text] : outputs)
    os << text;
  os.flush();
}

void LaunchContext::awaitThreads() {
  std::unique_lock<std::mutex> guard(lock);
  while (runningThreads > 0 && !wasInterrupted) {
    threadEnded.wait_for(guard, askInterval);
    if (runningThreads == 0)
      return;
    guard.unlock();
    if (options.isInterrupted())
      wasInterrupted = true;
    guard.lock();
  }
}

void LaunchContext::fail(uint64_t cluster, Report report) {
  std::lock_guard<std::mutex> guard(lock);
  if (cluster >= failedCluster.load())
    return;
  failedCluster = cluster;
  failure = std::move(report);
}

void LaunchContext::report(uint64_t cluster, Report finding) {
  std::lock_guard<std::mutex> guard(lock);
  // One report a place: a race in a loop is one finding.
  std::string key = (kindName(finding.kind) + ":" +
                     Twine(finding.where.ptxLine) + finding.message)
                        .str();
  if (reportKeys[key]++ > 0 || reports.size() >= options.maximalReports)
    return;
  reports.emplace_back(cluster, std::move(finding));
}

/// Prints in the order of the blocks, whichever host thread is first.
void LaunchContext::finishOutput(uint64_t cluster, std::string text) {
  std::lock_guard<std::mutex> guard(lock);
  llvm::raw_ostream &os = options.output ? *options.output : llvm::outs();
  if (cluster != nextOutput) {
    outputs[cluster] = std::move(text);
    return;
  }
  os << text;
  ++nextOutput;
  for (auto it = outputs.begin();
       it != outputs.end() && it->first == nextOutput; ++nextOutput) {
    os << it->second;
    it = outputs.erase(it);
  }
}
