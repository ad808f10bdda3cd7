//===- Decoder.h - From PTX statements to decoded instructions ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decode function exists for each opcode.  It takes the modifiers that it
// knows from the statement and resolves the operands; what it leaves is an
// error, so that no unknown modifier is skipped.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_DECODER_H
#define TILEDIALECT_LIB_EMULATOR_DECODER_H

#include "Instruction.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace tile_dialect::emulator {

class ImageBuilder;
class InstDecoder;

/// Decodes one statement; false after `fail` was called.
using DecodeFunction = bool (*)(InstDecoder &decoder);

/// The opcodes that are known.
class OpcodeTable {
public:
  static const OpcodeTable &get();

  void add(llvm::StringRef opcode, DecodeFunction decode,
           InstructionClass instructionClass) {
    entries[opcode] = {decode, instructionClass};
  }
  struct Entry {
    DecodeFunction decode;
    InstructionClass instructionClass;
  };
  const Entry *find(llvm::StringRef opcode) const {
    auto it = entries.find(opcode);
    return it == entries.end() ? nullptr : &it->second;
  }

private:
  OpcodeTable();
  llvm::StringMap<Entry> entries;
};

/// Each file of operations adds its opcodes to the table.
void registerIntegerOps(OpcodeTable &table);
void registerFloatOps(OpcodeTable &table);
void registerHalfOps(OpcodeTable &table);
void registerCompareOps(OpcodeTable &table);
void registerConvertOps(OpcodeTable &table);
void registerMoveOps(OpcodeTable &table);
void registerMemoryOps(OpcodeTable &table);
void registerAtomicOps(OpcodeTable &table);
void registerWarpOps(OpcodeTable &table);
void registerBarrierOps(OpcodeTable &table);
void registerControlOps(OpcodeTable &table);
void registerVideoOps(OpcodeTable &table);
void registerMatrixOps(OpcodeTable &table);
void registerWgmmaOps(OpcodeTable &table);
void registerMbarrierOps(OpcodeTable &table);
void registerAsyncCopyOps(OpcodeTable &table);
void registerTensorMapOps(OpcodeTable &table);
void registerWmmaOps(OpcodeTable &table);
/// What PTX has and the emulator does not: each is an error that says so.
void registerUnsupportedOps(OpcodeTable &table);

/// What is left of `st.async` and `red.async` behind these words.
bool decodeStoreAsync(InstDecoder &decoder);
bool decodeRedAsync(InstDecoder &decoder);

/// An address operand: the register or constant that holds the base, and the
/// bytes to add.
struct AddressOperand {
  Operand base;
  int64_t offset = 0;
  /// The space of the variable that the address names, else Generic.
  Space space = Space::Generic;
  bool isRegister = false;
  /// A parameter of the executing function or of a call that it makes.
  bool isFrameParam = false;
};

/// The state of decoding one statement.
class InstDecoder {
public:
  InstDecoder(ImageBuilder &builder, const Statement &statement);

  const Statement &statement;
  ImageBuilder &builder;
  Inst inst;

  // Messages.
  bool fail(const llvm::Twine &message);
  bool failed() const { return hasFailed; }

  // Modifiers.  Each `take` consumes.
  bool take(llvm::StringRef modifier);
  /// The first of the modifiers left that names a type; None if there is none.
  Type takeType();
  /// The same, where a missing type is an error.
  Type needType();
  /// Consumes one of the given modifiers and returns its position, else -1.
  int takeOneOf(std::initializer_list<llvm::StringRef> modifiers);
  /// The last modifier left that names a type, without consuming it.
  Type lastType() const;
  /// The first modifier left, or "".
  llvm::StringRef peek() const;
  /// Consumes and returns the first modifier left that starts so, or "".
  llvm::StringRef takePrefixed(llvm::StringRef prefix);
  /// An error if a modifier is left.
  bool finishModifiers();

  // Operands.
  unsigned numOperands() const { return statement.operands.size(); }
  bool needOperands(unsigned count);
  bool needOperands(unsigned least, unsigned most);
  /// Adds a destination register of exactly (or, if `wider`, at least) the
  /// type's width.
  bool addDest(const OperandSyntax &syntax, Type type, bool wider = false);
  bool addDest(unsigned index, Type type, bool wider = false) {
    return addDest(statement.operands[index], type, wider);
  }
  /// Adds a source: a register, a special register or an immediate.
  bool addSource(const OperandSyntax &syntax, Type type, bool wider = false);
  bool addSource(unsigned index, Type type, bool wider = false) {
    return addSource(statement.operands[index], type, wider);
  }
  /// Adds a constant of that type's width.
  bool addConstant(Type type, uint64_t value);
  /// Resolves `[...]`.
  bool resolveAddress(const OperandSyntax &syntax, AddressOperand &address);
  /// Adds the base of an address as a source and sets `inst.immediate`.
  bool addAddress(unsigned index, AddressOperand &address);
  /// The value of an operand that must be an integer constant.
  bool constantValue(unsigned index, int64_t &value);
  bool constantValue(const OperandSyntax &syntax, int64_t &value);
  bool isRegisterName(llvm::StringRef name, Type *type = nullptr);

  llvm::SmallVector<Operand, 8> operands;
  /// Keeps `value` alive as long as the image and points `inst.extra` to it.
  template <typename T> T *setExtra(T value);

  /// Sets the handler; what every decode function ends with.
  bool finish(Handler handler) {
    inst.handler = handler;
    return handler ? true : fail("this combination of types is not defined");
  }

private:
  friend class ImageBuilder;
  bool resolveSource(const OperandSyntax &syntax, Type type, bool wider,
                     Operand &operand);
  /// A register of 16 bits that holds the low half of a special register.
  Operand narrowCopy(const Operand &special);
  bool checkWidth(llvm::StringRef name, Type registerType, Type type,
                  bool wider);

  llvm::SmallVector<bool, 8> taken;
  bool hasFailed = false;
};

/// Builds the image of one kernel.
class ImageBuilder {
public:
  ImageBuilder(const ModuleSyntax &module, Image &image)
      : module(module), image(image) {}

  llvm::Error build(const FunctionSyntax &kernel);

  const ModuleSyntax &module;
  Image &image;

  // Used by decode functions.
  struct RegisterInfo {
    Type type;
    uint32_t offset;
  };
  /// The register of that name in the statement's scopes, or null.
  const RegisterInfo *findRegister(uint32_t scope, llvm::StringRef name);
  /// The variable of the function or the module, or null.
  const Variable *findVariable(uint32_t scope, llvm::StringRef name,
                               Space *space, int *moduleIndex);
  bool findLabel(uint32_t scope, llvm::StringRef name, uint32_t &statement);
  const std::vector<llvm::StringRef> *findBranchTargets(uint32_t scope,
                                                        llvm::StringRef name);
  const Prototype *findPrototype(uint32_t scope, llvm::StringRef name);
  /// A lane vector of a constant.
  Operand constant(unsigned bytes, uint64_t low, uint64_t high = 0);
  Operand addressConstant(int moduleIndex, int64_t addend, unsigned bytes);
  /// The offset of a local, shared or parameter variable of this function.
  uint32_t offsetOf(const Variable *variable) { return offsets[variable]; }
  bool hasOffset(const Variable *variable) { return offsets.count(variable); }
  uint32_t allocateRegister(Type type);
  /// The number of a function in the image, decoded later if it is new.
  uint32_t functionNumber(const FunctionSyntax *function);
  const FunctionSyntax *findFunction(llvm::StringRef name);
  /// Whether the function is part of this image.
  bool isReachable(const FunctionSyntax *function) const {
    return numbers.count(function);
  }
  FunctionCode &current() { return *code; }
  /// Adds an instruction before the one that is being decoded.
  void emitBefore(const Inst &inst, llvm::ArrayRef<Operand> operands);
  const Operand *keepOperands(llvm::ArrayRef<Operand> operands);
  void keep(std::shared_ptr<void> pointer) {
    image.extraArena.push_back(std::move(pointer));
  }
  uint32_t line = 0;
  std::string message;

private:
  llvm::Error decodeFunction(uint32_t number);
  llvm::Error decodeStatement(const Statement &statement);
  llvm::Error layoutShared();
  llvm::Error layoutVariables(FunctionCode &code);
  llvm::Error layoutParameters(FunctionCode &code);

  FunctionCode *code = nullptr;
  uint32_t frameBytes = 0;
  llvm::DenseMap<const Variable *, uint32_t> offsets;
  /// Parameters and return values by name (device functions, or the kernel).
  llvm::StringMap<const Variable *> parameterNames;
  llvm::DenseMap<std::pair<uint32_t, llvm::StringRef>, RegisterInfo> registers;
  llvm::DenseMap<const FunctionSyntax *, uint32_t> numbers;
  std::vector<const FunctionSyntax *> order;
  llvm::DenseMap<std::pair<uint64_t, std::pair<uint64_t, unsigned>>, uint32_t>
      constantCache;
};

template <typename T> T *InstDecoder::setExtra(T value) {
  auto pointer = std::make_shared<T>(std::move(value));
  T *raw = pointer.get();
  builder.keep(pointer);
  inst.extra = raw;
  return raw;
}

/// The special register of that name: its slot and type; false if there is no
/// such register or it changes while a warp runs.
bool findSpecial(llvm::StringRef name, Special &special, Type &type);
/// A special register whose value changes; emits the read of it.
enum class DynamicSpecial : uint8_t {
  None,
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
};
DynamicSpecial findDynamicSpecial(llvm::StringRef name, Type &type);
/// Reads a dynamic special register (`aux[0]`) into operand 0.
Step readDynamicSpecial(Warp &warp, const Inst &inst, LaneMask mask);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_DECODER_H
