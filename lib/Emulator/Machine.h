//===- Machine.h - Warps, blocks and clusters that execute an image ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp holds its lanes in splits: sets of lanes that share a position and a
// call frame.  The split with the deepest frame and, in it, the lowest position
// runs; splits that meet at one position become one again.  Because code is
// laid out so that joins follow what they join, that reconverges early; because
// splits that wait too long get turns, every lane makes progress whatever the
// control flow is.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_MACHINE_H
#define TILEDIALECT_LIB_EMULATOR_MACHINE_H

#include "Instruction.h"
#include "TileDialect/Emulator/Emulator.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>

namespace tile_dialect::emulator {

class Block;
class Cluster;
class LaunchContext;
class Monitor;
class Warp;
class Worker;
struct Split;

/// The registers and the parameter space of a function that some lanes are in.
struct Frame {
  uint8_t *registers = nullptr;
  Frame *parent = nullptr;
  const FunctionCode *code = nullptr;
  /// The call that made this frame.
  const Inst *call = nullptr;
  LaneMask lanes = 0;
  uint32_t returnPc = 0;
  uint32_t depth = 0;
  /// Where the frame's local memory begins and ends; `alloca` moves the end.
  uint32_t localBase = 0, localEnd = 0;
  std::unique_ptr<uint8_t[]> storage;
  uint32_t capacity = 0;
};

/// What a split waits for.
struct Wait {
  /// Null if the split does not wait.  True once the wait is over; the poll has
  /// then written the instruction's results.
  using Poll = bool (*)(Warp &warp, Split &split);
  Poll poll = nullptr;
  const Inst *inst = nullptr;
  uint64_t data[2] = {0, 0};
};

struct Split {
  uint32_t pc = 0;
  LaneMask mask = 0;
  Frame *frame = nullptr;
  Wait wait;
  /// Waits at `pc` for other lanes to come to it.
  bool converge = false;
  uint64_t lastRun = 0;
};

/// How an access is made, for the checks and counters.
enum class AccessKind : uint8_t { Read, Write, Atomic };

/// The memory order of a strong access.
enum class MemoryOrder : uint8_t { Relaxed, Acquire, Release, AcquireRelease };

/// Who a strong access or a fence is for; None: the access is weak.
enum class MemoryScope : uint8_t { None, Block, Cluster, Device };

/// An access of up to 32 lanes.
struct Access {
  const Inst *inst = nullptr;
  Space space = Space::Global;
  AccessKind kind = AccessKind::Read;
  /// Strong accesses (`.relaxed`, `.acquire`, `.volatile`, atomics …) of one
  /// place are no race if each scope includes the other thread.
  MemoryScope scope = MemoryScope::None;
  MemoryOrder order = MemoryOrder::Relaxed;
  /// Made by `cp.async`: seen at its issue and again at its completion, and not
  /// counted as a load or store.
  bool async = false;
  LaneMask mask = 0;
  /// Bytes for each lane.
  uint32_t bytes = 0;
  const uint64_t *addresses = nullptr;
  /// What a plain store writes, or null.
  const Operand *values = nullptr;
  /// Bytes of each element of a store or atomic; 0 for others. A strong access
  /// of a vector is one of each element.
  uint32_t elementBytes = 0;
  /// The register that a read goes to, or to a part of it, where it is one of
  /// several of an instruction (wmma.load); else null.
  const Operand *destination = nullptr;
};

class Warp {
public:
  // What handlers use.
  template <typename T> const T *source(const Operand &operand) const {
    return reinterpret_cast<const T *>(banks[operand.bank] + operand.offset);
  }
  template <typename T> T *dest(const Operand &operand) const {
    return reinterpret_cast<T *>(banks[operand.bank] + operand.offset);
  }
  LaneMask predicate(const Operand &operand) const {
    LaneMask value = *source<LaneMask>(operand);
    return operand.negated ? ~value : value;
  }
  void setPredicate(const Operand &operand, LaneMask value, LaneMask mask) {
    LaneMask *p = dest<LaneMask>(operand);
    *p = (*p & ~mask) | (value & mask);
  }
  /// The operand's lanes widened to 64 bits without sign.
  uint64_t lane(const Operand &operand, unsigned lane) const;
  void setLane(const Operand &operand, unsigned lane, uint64_t value);

  /// The addresses of `base + offset`; 32-bit bases wrap around.
  void addresses(const Operand &base, int64_t offset, uint64_t *result) const;
  /// The host memory of an access, or null after an error was filed.
  uint8_t *resolve(const Inst &inst, Space space, uint64_t address,
                   uint32_t bytes, bool write, unsigned lane);
  /// Tells the checks and counters of an access; false after an error.
  bool observe(const Access &access);

  /// Files an error of the launch at a lane; returns Step::Error.
  Step error(Report::Kind kind, const Inst &inst, unsigned lane,
             const llvm::Twine &message);
  Report makeReport(Report::Kind kind, const Inst *inst, unsigned lane,
                    const llvm::Twine &message) const;
  Location locate(const Inst *inst, int lane) const;

  /// Sends the lanes `taken` of the running split to `target`; the others go on
  /// behind the current instruction.
  void branch(LaneMask taken, uint32_t target);
  /// Enters a function with the lanes of `mask`.
  Step call(const Inst &inst, LaneMask mask, uint32_t function);
  Step returnFrom(LaneMask mask);
  /// Makes the lanes of `mask` wait at the current instruction.
  void addSplit(const Split &split) { splits.push_back(split); }
  /// Sets what `Step::Wait` waits for.
  Wait wait;
  /// Runs `execute` for each group of lanes that name the same member mask, as
  /// soon as all live lanes of it are there.
  Step warpSync(const Inst &inst, LaneMask mask, const Operand &members,
                Step (*execute)(Warp &, const Inst &, LaneMask mask,
                                LaneMask members));
  /// Counts a poll that found nothing; Yield after some of them in a row.
  Step failedPoll() { return ++failedPolls >= 8 ? Step::Yield : Step::Next; }
  /// A load that may be part of a loop that waits: it found the same as before.
  Step polled(uint64_t hash) {
    if (hash != lastPolled) {
      lastPolled = hash;
      failedPolls = 0;
      return Step::Next;
    }
    return failedPoll();
  }

  // State.
  uint8_t *banks[Operand::numBanks] = {nullptr, nullptr, nullptr};
  Block *block = nullptr;
  Worker *worker = nullptr;
  LaunchContext *context = nullptr;
  /// The checks and counters in force, or null.
  Monitor *monitor = nullptr;
  uint32_t id = 0;
  LaneMask live = 0, initial = 0;
  /// The carry flag of each lane (`add.cc`).
  LaneMask carry = 0;
  // Of the running split.
  uint32_t pc = 0;
  LaneMask mask = 0;
  Frame *frame = nullptr;
  std::vector<Split> splits;
  /// Local memory of each lane.
  std::vector<uint8_t> local[warpSize];
  /// State of asynchronous instructions, owned by their file of operations.
  std::shared_ptr<void> asyncState;
  uint32_t failedPolls = 0;
  uint64_t lastPolled = 0;
  /// Memory was written since the warp last gave up its turn.
  bool wrote = false;
  /// Instructions since the last failed poll, in turns that were cut short.
  uint64_t sincePoll = 0;
  /// The phase of the cluster's barrier that each lane arrived in.
  uint64_t clusterPhase[warpSize] = {};

  // What the scheduler uses.
  enum class Result : uint8_t {
    Done,
    /// It could not execute anything.
    Blocked,
    /// It executed something until it had to wait.
    Paused,
    Yielded,
    Preempted,
    Failed
  };
  void start(Block &block, uint32_t id, LaneMask lanes);
  Result run(uint64_t quantum);
  std::string describePosition(const Split &split) const;

  /// Appends to the local memory of a frame's lanes; false if there is no more.
  bool growLocal(Frame &grown, LaneMask lanes, uint64_t bytes);

private:
  Frame *newFrame(const FunctionCode &code, LaneMask lanes, Frame *parent);
  void leaveFrame(Frame *frame, LaneMask lanes);
  bool select();
  void merge();
  void saveCurrent();
  void exitLanes(LaneMask lanes);
  /// Takes the lanes of `m` out of the running split into one of its own; false
  /// if no lane is left to run.
  bool divert(LaneMask m, const Split &split);

  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<Frame *> freeFrames;
  std::unique_ptr<uint8_t[]> specials;
  /// The split that runs, and up to which position it may.
  uint32_t current = 0;
  uint32_t limit = ~0u;
  uint64_t clock = 0;
  uint32_t jumpsSinceMerge = 0, stickyJumps = 0;

  friend class Block;
};

/// A hardware barrier (`bar`).
struct Barrier {
  struct Arrival {
    LaneMask waiting = 0, arrived = 0;
  };
  /// By warp.
  std::vector<Arrival> arrivals;
  /// Threads that are awaited; zero if nobody has arrived yet.
  uint32_t expected = 0;
  bool countGiven = false;
  /// Completed phases.
  uint64_t phase = 0;
  // Of `bar.red`: over the lanes that have arrived, and of the last phase.
  uint32_t trueCount = 0, threadCount = 0;
  uint32_t lastTrueCount = 0, lastThreadCount = 0;
};
constexpr unsigned numBarriers = 16;

class Block {
public:
  void start(Cluster &cluster, Worker &worker, Dim3 index, uint32_t rank);
  /// Releases barriers that nobody is awaited at any more.
  void lanesExited();
  /// Enters `lanes` of a warp at a barrier.  `count` is zero if the instruction
  /// names none.  False if others have entered with another count.
  bool arrive(Warp &warp, unsigned barrier, LaneMask lanes, uint32_t count,
              bool waits, LaneMask value);
  bool isComplete(unsigned barrier) const;
  void release(unsigned barrier);
  std::string describeBarriers() const;

  Cluster *cluster = nullptr;
  Worker *worker = nullptr;
  Dim3 index{0, 0, 0};
  uint32_t rank = 0;
  uint32_t numThreads = 0, numWarps = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<uint8_t> shared;
  Barrier barriers[numBarriers];
  /// State of the checks for this block.
  std::shared_ptr<void> checkState;
  /// State of asynchronous instructions and mbarriers (AsyncState.h).
  std::shared_ptr<void> asyncState;
  std::string output;
};

/// The barrier of a cluster.
struct ClusterBarrier {
  uint64_t phase = 0;
  uint32_t arrived = 0;
};

/// A piece of work of an asynchronous engine: it is run once no warp can go on,
/// or after some rounds.
struct AsyncTask {
  std::function<void()> run;
  uint32_t delay = 0;
};

/// Blocks that are resident together; a grid without clusters has clusters of
/// one block.
class Cluster {
public:
  enum class Result : uint8_t { Done, Spinning, Failed };
  void start(Worker &worker, uint64_t number);
  /// Runs each warp in turn until all are done or none gets on.
  Result run();
  /// Completes the cluster's barrier if all live threads have arrived.
  void checkBarrier();

  uint64_t number = 0;
  Dim3 index{0, 0, 0};
  Worker *worker = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;
  uint32_t numBlocks = 0;
  ClusterBarrier barrier;
  std::deque<AsyncTask> tasks;
  std::mt19937_64 random;
  /// Rounds in which nothing but failed polls happened, and when they began.
  uint64_t spinRounds = 0, lastProgress = 0;
  /// Rounds in a row in which warps polled, and others changed nothing, though
  /// they may have taken part in barriers.
  uint64_t pollRounds = 0;
  /// Some warp got on in the rounds that spinRounds counts.
  bool gotOn = false;
  std::chrono::steady_clock::time_point spinStart;
  void reportDeadlock(bool spinning);

private:
  bool runTasks(bool force);
  std::vector<Warp *> order;
};

/// What the host threads of a launch share.
class LaunchContext {
public:
  LaunchContext(const EmulatorOptions &options, Memory &memory,
                const Image &image, const Launch &launch)
      : options(options), memory(memory), image(image), launch(launch) {}

  void run();
  /// Files what stops the launch.  The report of the first cluster counts, so
  /// that the outcome does not depend on the number of threads.
  void fail(uint64_t cluster, Report report);
  /// Files a finding of the checks.
  void report(uint64_t cluster, Report report);
  void finishOutput(uint64_t cluster, std::string text);
  bool isStopped(uint64_t cluster) const {
    return cluster > failedCluster.load(std::memory_order_relaxed) ||
           wasInterrupted.load(std::memory_order_relaxed);
  }

  const EmulatorOptions &options;
  Memory &memory;
  const Image &image;
  const Launch &launch;
  Dim3 clusterShape, clusterGrid;
  std::vector<uint8_t> parameters;
  std::vector<uint64_t> constants;
  uint64_t gridNumber = 1;

  unsigned numWorkers = 1;
  std::atomic<uint64_t> nextCluster{0};
  std::atomic<uint64_t> progress{0};
  std::atomic<uint64_t> instructions{0};
  std::atomic<uint64_t> failedCluster{~uint64_t(0)};
  std::atomic<bool> wasInterrupted{false};

  /// What the monitors of all host threads share.
  std::shared_ptr<void> monitorState;

  std::mutex lock;
  Report failure;
  Stats stats;
  std::vector<std::pair<uint64_t, Report>> reports;
  llvm::StringMap<unsigned> reportKeys;
  std::map<uint64_t, std::string> outputs;
  uint64_t nextOutput = 0;

private:
  /// Asks `options.isInterrupted` while other host threads run.
  void awaitThreads();
  unsigned runningThreads = 0;
  std::condition_variable threadEnded;
};

/// A host thread and what it keeps from one block to the next.
class Worker {
public:
  Worker(LaunchContext &context, unsigned number);
  ~Worker();
  void run();
  /// Asks, if it is time and this is the thread that launched, whether the
  /// launch is to be stopped.
  void askForInterrupt();

  /// The last allocation that was accessed.
  struct Cached {
    uint64_t base = 1, size = 0;
    uint8_t *host = nullptr;
    bool readOnly = false;
    const Allocation *allocation = nullptr;
  };
  /// Finds [address, address + bytes) in global memory, or null.
  uint8_t *global(uint64_t address, uint32_t bytes, bool write) {
    uint64_t distance = address - cached.base;
    if (distance < cached.size && cached.size - distance >= bytes &&
        !(write && cached.readOnly))
      return cached.host + distance;
    return globalSlow(address, bytes, write);
  }

  LaunchContext &context;
  unsigned number;
  Cached cached;
  Stats stats;
  std::unique_ptr<Monitor> monitor;

private:
  uint8_t *globalSlow(uint64_t address, uint32_t bytes, bool write);
  std::unique_ptr<Cluster> takeCluster();
  bool isStuck(Cluster &cluster);

  std::vector<std::unique_ptr<Cluster>> free;
  std::chrono::steady_clock::time_point lastAsked =
      std::chrono::steady_clock::now();
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_MACHINE_H
