//===- Instruction.h - The decoded form of PTX instructions ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel and the functions that it calls become one array of Inst.  Each Inst
// holds a pointer to the function that executes it for a whole warp, so that
// parsing and the choice by type and modifier are paid once.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_INSTRUCTION_H
#define TILEDIALECT_LIB_EMULATOR_INSTRUCTION_H

#include "Syntax.h"
#include "TileDialect/Emulator/Module.h"
#include "TileDialect/Emulator/Stats.h"
#include "Types.h"
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace tile_dialect::emulator {

class Warp;
struct Inst;

/// A set of lanes of a warp.
using LaneMask = uint32_t;
constexpr unsigned warpSize = 32;
constexpr LaneMask allLanes = ~0u;

/// Where the 32 lanes of an operand lie: a bank of the warp and a byte offset.
/// A register of 8 or 16 bits takes 32 x 2 bytes, else 32 times its width; a
/// predicate is one 32-bit mask.
struct Operand {
  enum Bank : uint8_t { Registers, Constants, Specials, numBanks };
  uint32_t offset = 0;
  uint8_t bank = Registers;
  /// The bytes of a lane: 0 for predicates, else 2, 4, 8 or 16.
  uint8_t bytes = 0;
  /// A negated predicate.
  bool negated = false;
};

/// What the execution of an instruction leads to.
enum class Step : uint8_t {
  /// Go on with the next instruction.
  Next,
  /// The handler has set the position (and perhaps mask and frame) itself.
  Jump,
  /// The executing lanes wait; `Warp::wait` says for what.  The instruction is
  /// complete once the wait's poll returns true.
  Wait,
  /// The executing lanes wait at this instruction until other lanes of the warp
  /// join them, then it is executed again.
  Converge,
  /// Nothing was gained by running (a poll failed): give others a turn, then
  /// go on with the next instruction.
  Yield,
  /// The executing lanes have ended.
  Exit,
  /// The launch has failed; the report was filed.
  Error,
};

/// Executes an instruction for the lanes of a non-empty mask.
using Handler = Step (*)(Warp &warp, const Inst &inst, LaneMask mask);

/// How it is found whether an instruction's results are initialised.
enum class DefinedRule : uint8_t {
  /// If all sources are.
  AllSources,
  /// If one of the registers is (they are packed, and parts may be unused).
  AnySource,
  /// Always: what memory or the machine gives.
  Always,
  /// If the sources of all lanes that take part are (vote, match, redux).
  Group,
  /// By the lane that the value comes from (shfl).
  Shuffle,
  /// By the rows of A, the columns of B and the element of C (mma, wgmma).
  Matrix,
  /// By the chosen source and the predicate (selp).
  Select,
  /// By memory (loads and atomics), the address being used.
  Load,
  /// Stores: the sources go to memory.
  Store,
};

struct Inst {
  Handler handler = nullptr;
  /// Destinations first, then sources.
  const Operand *operands = nullptr;
  uint16_t numOperands = 0;
  uint16_t numDestinations = 0;
  bool hasGuard = false;
  bool guardNegated = false;
  InstructionClass instructionClass = InstructionClass::Other;
  /// Also runs with an empty mask of guarded lanes (branches).
  bool handlesGuard = false;
  DefinedRule definedRule = DefinedRule::AllSources;
  /// Of DefinedRule::Matrix: registers of A and of B.
  uint8_t matrixSources[2] = {0, 0};
  /// Of loads: a bit for each byte that is used; zero: all are.
  uint32_t usedBytes = 0;
  uint32_t guard = 0;
  /// A jump's target, a byte offset, or what the handler likes.
  uint32_t target = 0;
  int64_t immediate = 0;
  /// Parameters of the handler.
  uint32_t aux[4] = {0, 0, 0, 0};
  const void *extra = nullptr;
  /// The statement's PTX line, and one plus its position in `sourceLines`.
  uint32_t line = 0;
  uint32_t sourceIndex = 0;
};

/// The place of a parameter in its space.
struct ParameterSlot {
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

/// A function in an image.
struct FunctionCode {
  const FunctionSyntax *syntax = nullptr;
  uint32_t entry = 0;
  /// Bytes of a frame: registers, then the parameters of its own and of the
  /// calls that it makes (`paramStride` bytes for each of 32 lanes).
  uint32_t frameBytes = 0;
  uint32_t paramOffset = 0;
  uint32_t paramStride = 0;
  uint32_t localBytes = 0;
  std::vector<ParameterSlot> parameters, returns;
};

/// A decoded kernel with all that it calls.
struct Image {
  const FunctionSyntax *kernel = nullptr;
  const ModuleSyntax *module = nullptr;
  std::vector<Inst> code;
  /// Function 0 is the kernel.
  std::vector<std::unique_ptr<FunctionCode>> functions;
  /// Lane vectors of immediates.
  std::vector<uint64_t> constants;
  std::deque<std::vector<Operand>> operandArena;
  std::deque<std::shared_ptr<void>> extraArena;
  /// Positions in `constants` that hold the address of a variable or function
  /// and are filled when the module is loaded: (byte offset, variable, addend).
  struct Relocation {
    uint32_t constantOffset;
    uint32_t variable;
    int64_t addend;
  };
  std::vector<Relocation> relocations;
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedBase = 0;
  /// The kernel's parameters in the parameter space.
  std::vector<ParameterSlot> parameters;
  uint32_t parameterBytes = 0;
  /// Calls malloc or free.
  bool usesHeap = false;
  /// Function addresses are these plus the function's number.
  static constexpr uint64_t functionWindow = 0xF3'0000'0000'0000ull;
};

/// Special registers: slots of 32 x 4 bytes in the warp's third bank, apart
/// from GridId and Zero, which are read as 64 and up to 128 bits.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtaRank,
  ClusterNctaRank,
  TotalSmemSize,
  DynamicSmemSize,
  ReservedSmemOffsetBegin,
  ReservedSmemOffsetEnd,
  IsExplicitCluster,
  /// From here on 512 bytes each: the number of the grid (64 bits), zeros of
  /// any width, and the place where `_` is written to.
  GridId,
  Zero,
  Scratch,
};
constexpr uint32_t specialSlotBytes = 128;
constexpr uint32_t specialOffset(Special special) {
  constexpr uint32_t narrow = uint32_t(Special::GridId);
  uint32_t index = uint32_t(special);
  return index < narrow ? index * specialSlotBytes
                        : narrow * specialSlotBytes +
                              (index - narrow) * 4 * specialSlotBytes;
}
constexpr uint32_t specialBankBytes =
    specialOffset(Special::Scratch) + 4 * specialSlotBytes;

struct ModuleImpl {
  ModuleSyntax syntax;
  /// The kernels and their images, in the order of the text.
  std::vector<KernelInfo> kernels;
  std::vector<std::unique_ptr<Image>> images;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_INSTRUCTION_H
