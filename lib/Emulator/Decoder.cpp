//===- Decoder.cpp - From PTX statements to decoded instructions ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Machine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tile_dialect::emulator;
using llvm::StringRef;
using llvm::Twine;

OpcodeTable::OpcodeTable() {
  registerIntegerOps(*this);
  registerFloatOps(*this);
  registerHalfOps(*this);
  registerCompareOps(*this);
  registerConvertOps(*this);
  registerMoveOps(*this);
  registerMemoryOps(*this);
  registerAtomicOps(*this);
  registerWarpOps(*this);
  registerBarrierOps(*this);
  registerControlOps(*this);
  registerVideoOps(*this);
  registerMatrixOps(*this);
  registerWgmmaOps(*this);
  registerMbarrierOps(*this);
  registerAsyncCopyOps(*this);
  registerTensorMapOps(*this);
  registerWmmaOps(*this);
  registerUnsupportedOps(*this);
}

const OpcodeTable &OpcodeTable::get() {
  static const OpcodeTable table;
  return table;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static uint32_t slotBytes(Type type) {
  unsigned bits = bitWidth(type);
  if (type == Type::Pred)
    return 4;
  return warpSize * (bits <= 16 ? 2 : bits / 8);
}

uint32_t ImageBuilder::allocateRegister(Type type) {
  uint32_t bytes = slotBytes(type);
  frameBytes = llvm::alignTo(frameBytes, bytes >= 64 ? 64 : 4);
  uint32_t offset = frameBytes;
  frameBytes += bytes;
  return offset;
}

const ImageBuilder::RegisterInfo *ImageBuilder::findRegister(uint32_t scope,
                                                             StringRef name) {
  const FunctionSyntax &function = *code->syntax;
  for (uint32_t s = scope; s != ~0u; s = function.scopes[s].parent) {
    auto known = registers.find({s, name});
    if (known != registers.end())
      return &known->second;
    const Scope &names = function.scopes[s];
    Type type = Type::None;
    auto it = names.registers.find(name);
    if (it != names.registers.end())
      type = it->second;
    // `%r<8>` declares %r0 to %r7; the prefix itself may end in digits.
    for (size_t digits = name.size();
         type == Type::None && digits > 1 && llvm::isDigit(name[digits - 1]);) {
      --digits;
      auto range = names.ranges.find(name.take_front(digits));
      uint32_t number;
      bool leadingZero = name[digits] == '0' && digits + 1 < name.size();
      if (range != names.ranges.end() && !leadingZero &&
          !name.drop_front(digits).getAsInteger(10, number) &&
          number < range->second.count)
        type = range->second.type;
    }
    if (type == Type::None) {
      if (names.variables.count(name))
        return nullptr;
      continue;
    }
    RegisterInfo info{type, allocateRegister(type)};
    return &registers.try_emplace({s, name}, info).first->second;
  }
  return nullptr;
}

const Variable *ImageBuilder::findVariable(uint32_t scope, StringRef name,
                                           Space *space, int *moduleIndex) {
  const FunctionSyntax &function = *code->syntax;
  *moduleIndex = -1;
  for (uint32_t s = scope; s != ~0u; s = function.scopes[s].parent) {
    auto it = function.scopes[s].variables.find(name);
    if (it == function.scopes[s].variables.end())
      continue;
    const Variable *variable = &function.variables[it->second];
    *space = variable->space;
    if (*space == Space::Param)
      *moduleIndex = -2;
    if (*space == Space::Global || *space == Space::Const)
      *moduleIndex = module.variableIndex.lookup(name);
    return variable;
  }
  auto parameter = parameterNames.find(name);
  if (parameter != parameterNames.end()) {
    *space = Space::Param;
    if (!function.isEntry)
      *moduleIndex = -2;
    return parameter->second;
  }
  auto global = module.variableIndex.find(name);
  if (global == module.variableIndex.end())
    return nullptr;
  *moduleIndex = global->second;
  *space = module.variables[global->second].space;
  return &module.variables[global->second];
}

bool ImageBuilder::findLabel(uint32_t scope, StringRef name,
                             uint32_t &statement) {
  const FunctionSyntax &function = *code->syntax;
  for (uint32_t s = scope; s != ~0u; s = function.scopes[s].parent) {
    auto it = function.scopes[s].labels.find(name);
    if (it == function.scopes[s].labels.end())
      continue;
    statement = it->second;
    return true;
  }
  return false;
}

const std::vector<StringRef> *ImageBuilder::findBranchTargets(uint32_t scope,
                                                              StringRef name) {
  const FunctionSyntax &function = *code->syntax;
  for (uint32_t s = scope; s != ~0u; s = function.scopes[s].parent) {
    auto it = function.scopes[s].branchTargets.find(name);
    if (it != function.scopes[s].branchTargets.end())
      return &it->second;
  }
  return nullptr;
}

const Prototype *ImageBuilder::findPrototype(uint32_t scope, StringRef name) {
  const FunctionSyntax &function = *code->syntax;
  for (uint32_t s = scope; s != ~0u; s = function.scopes[s].parent) {
    auto it = function.scopes[s].prototypes.find(name);
    if (it != function.scopes[s].prototypes.end())
      return &it->second;
  }
  return nullptr;
}

const FunctionSyntax *ImageBuilder::findFunction(StringRef name) {
  auto it = module.functionIndex.find(name);
  return it == module.functionIndex.end() ? nullptr
                                          : module.functions[it->second].get();
}

uint32_t ImageBuilder::functionNumber(const FunctionSyntax *function) {
  auto [it, isNew] = numbers.try_emplace(function, uint32_t(order.size()));
  if (isNew)
    order.push_back(function);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Operand ImageBuilder::constant(unsigned bytes, uint64_t low, uint64_t high) {
  if (bytes == 0)
    low = low & 1 ? ~uint64_t(0) : 0;
  if (bytes < 8 && bytes > 0)
    low &= (uint64_t(1) << (8 * bytes)) - 1;
  if (bytes != 16)
    high = 0;
  Operand operand;
  operand.bank = Operand::Constants;
  operand.bytes = bytes;
  auto key = std::make_pair(low, std::make_pair(high, bytes));
  // DenseMap reserves two keys; they are rare enough not to be cached.
  bool cacheable = low < ~uint64_t(0) - 1;
  if (cacheable) {
    auto it = constantCache.find(key);
    if (it != constantCache.end()) {
      operand.offset = it->second;
      return operand;
    }
  }
  size_t begin = image.constants.size();
  size_t words = bytes == 0 ? 1 : warpSize * bytes / 8;
  image.constants.resize(begin + words);
  auto *data = reinterpret_cast<uint8_t *>(image.constants.data() + begin);
  if (bytes == 0)
    std::memcpy(data, &low, 8);
  for (unsigned l = 0; l < warpSize && bytes > 0; ++l) {
    uint64_t parts[2] = {low, high};
    std::memcpy(data + l * bytes, parts, bytes);
  }
  operand.offset = begin * 8;
  if (cacheable)
    constantCache[key] = operand.offset;
  return operand;
}

Operand ImageBuilder::addressConstant(int moduleIndex, int64_t addend,
                                      unsigned bytes) {
  size_t begin = image.constants.size();
  image.constants.resize(begin + warpSize);
  Operand operand;
  operand.bank = Operand::Constants;
  operand.bytes = 8;
  operand.offset = begin * 8;
  image.relocations.push_back({operand.offset, uint32_t(moduleIndex), addend});
  if (bytes != 8) {
    message = "the address of a variable needs 64 bits";
    operand.bytes = bytes;
  }
  return operand;
}

const Operand *ImageBuilder::keepOperands(llvm::ArrayRef<Operand> operands) {
  image.operandArena.emplace_back(operands.begin(), operands.end());
  return image.operandArena.back().data();
}

void ImageBuilder::emitBefore(const Inst &inst,
                              llvm::ArrayRef<Operand> operands) {
  Inst copy = inst;
  copy.operands = keepOperands(operands);
  copy.numOperands = operands.size();
  copy.line = line;
  image.code.push_back(copy);
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static void collectNames(const OperandSyntax &operand,
                         llvm::function_ref<void(StringRef)> use) {
  if (!operand.name.empty())
    use(operand.name);
  for (const OperandSyntax &child : operand.children)
    collectNames(child, use);
}

/// Finds the functions that the kernel can reach and gives each shared variable
/// of them its place.
llvm::Error ImageBuilder::layoutShared() {
  llvm::DenseMap<const Variable *, bool> used;
  // Functions whose address a variable holds may be called from anywhere.
  for (const Variable &variable : module.variables)
    for (const InitialValue &value : variable.initializer)
      if (const FunctionSyntax *function = findFunction(value.symbol))
        functionNumber(function);
  for (unsigned i = 0; i < order.size(); ++i) {
    for (const Statement &statement : order[i]->statements)
      for (const OperandSyntax &operand : statement.operands)
        collectNames(operand, [&](StringRef name) {
          if (const FunctionSyntax *function = findFunction(name)) {
            functionNumber(function);
            return;
          }
          auto it = module.variableIndex.find(name);
          if (it != module.variableIndex.end())
            used[&module.variables[it->second]] = true;
        });
  }
  uint64_t end = reservedSharedBytes;
  uint32_t dynamicAlign = 16;
  std::vector<const Variable *> dynamic;
  auto place = [&](const Variable &variable) {
    if (variable.space != Space::Shared)
      return;
    if (variable.isExtern) {
      dynamicAlign = std::max(dynamicAlign, variable.align);
      dynamic.push_back(&variable);
      return;
    }
    end = llvm::alignTo(end, variable.align);
    offsets[&variable] = end;
    end += variable.bytes;
  };
  for (const Variable &variable : module.variables)
    if (used.count(&variable))
      place(variable);
  for (const FunctionSyntax *function : order)
    for (const Variable &variable : function->variables)
      place(variable);
  if (end > (uint64_t(1) << sharedRankShift))
    return syntaxError(module, order[0]->line,
                       "kernel '" + order[0]->name +
                           "' declares more than 16 MiB of shared memory");
  image.staticSharedBytes = end - reservedSharedBytes;
  image.dynamicSharedBase = llvm::alignTo(end, dynamicAlign);
  for (const Variable *variable : dynamic)
    offsets[variable] = image.dynamicSharedBase;
  return llvm::Error::success();
}

/// More than any chip takes; offsets stay far below 32 bits.
static constexpr uint64_t maximalParameterBytes = 65536;

static ParameterSlot placeParameter(const Variable &variable, uint32_t &end) {
  end = llvm::alignTo(end, variable.align);
  ParameterSlot slot{end, uint32_t(variable.bytes)};
  end += variable.bytes;
  return slot;
}

llvm::Error ImageBuilder::layoutParameters(FunctionCode &result) {
  const Prototype &prototype = result.syntax->prototype;
  uint32_t end = 0;
  for (const auto *list : {&prototype.parameters, &prototype.returns}) {
    uint64_t bytes = 0;
    for (const Variable &variable : *list) {
      bytes = llvm::alignTo(bytes, variable.align);
      if (variable.bytes >
          maximalParameterBytes - std::min(bytes, maximalParameterBytes))
        return syntaxError(module, result.syntax->line,
                           "'" + result.syntax->name + "' has more than " +
                               Twine(maximalParameterBytes) +
                               " bytes of parameters");
      bytes += variable.bytes;
    }
  }
  for (const Variable &variable : prototype.parameters)
    result.parameters.push_back(placeParameter(variable, end));
  for (const Variable &variable : prototype.returns)
    result.returns.push_back(placeParameter(variable, end));
  result.paramStride = end;
  return llvm::Error::success();
}

/// Places the variables that a function declares itself.
llvm::Error ImageBuilder::layoutVariables(FunctionCode &result) {
  const FunctionSyntax &function = *result.syntax;
  parameterNames.clear();
  for (auto [variable, slot] :
       llvm::zip(function.prototype.parameters, result.parameters)) {
    parameterNames[variable.name] = &variable;
    offsets[&variable] = slot.offset;
  }
  for (auto [variable, slot] :
       llvm::zip(function.prototype.returns, result.returns)) {
    parameterNames[variable.name] = &variable;
    offsets[&variable] = slot.offset;
  }
  uint32_t paramEnd = function.isEntry ? 0 : result.paramStride;
  uint64_t localEnd = 0;
  auto placeLocal = [&](const Variable &variable) {
    localEnd = llvm::alignTo(localEnd, variable.align);
    offsets[&variable] = localEnd;
    localEnd += variable.bytes;
  };
  for (const Variable &variable : module.variables)
    if (variable.space == Space::Local && function.isEntry)
      placeLocal(variable);
  for (const Variable &variable : function.variables) {
    if (variable.space == Space::Local) {
      placeLocal(variable);
    } else if (variable.space == Space::Param) {
      if (variable.bytes > maximalParameterBytes)
        return syntaxError(module, variable.line,
                           "this parameter is too large");
      offsets[&variable] = placeParameter(variable, paramEnd).offset;
    } else if (variable.space == Space::Global ||
               variable.space == Space::Const) {
      return syntaxError(module, variable.line,
                         "global variables in functions are not emulated");
    }
  }
  if (localEnd > (1u << 24))
    return syntaxError(module, function.line,
                       "'" + function.name +
                           "' declares more than 16 MiB of local memory");
  result.paramStride = llvm::alignTo(paramEnd, 16);
  result.localBytes = llvm::alignTo(localEnd, 16);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static DefinedRule definedRuleOf(const Statement &statement) {
  llvm::StringRef opcode = statement.opcode;
  if (opcode == "selp")
    return DefinedRule::Select;
  if (opcode == "ld" || opcode == "ldu" || opcode == "atom")
    return DefinedRule::Load;
  if (opcode == "st" || opcode == "red")
    return DefinedRule::Store;
  if (opcode == "prmt" || (opcode == "mov" && statement.operands[1].kind ==
                                                  OperandSyntax::Kind::Vector))
    return DefinedRule::AnySource;
  if (opcode == "shfl")
    return DefinedRule::Shuffle;
  if (opcode == "vote" || opcode == "match" || opcode == "redux")
    return DefinedRule::Group;
  if (opcode == "mma" || opcode == "wgmma")
    return DefinedRule::Matrix;
  static const llvm::StringSet<> across = {
      "activemask", "elect", "ldmatrix", "movmatrix", "bar",
      "barrier",    "call",  "mbarrier", "getctarank"};
  return across.count(opcode) ? DefinedRule::Always : DefinedRule::AllSources;
}

llvm::Error ImageBuilder::decodeStatement(const Statement &statement) {
  line = statement.line;
  message.clear();
  const OpcodeTable::Entry *entry = OpcodeTable::get().find(statement.opcode);
  if (!entry)
    return syntaxError(module, statement.line,
                       "unknown instruction '" + statement.opcode + "'");
  size_t begin = image.code.size();
  InstDecoder decoder(*this, statement);
  Inst &inst = decoder.inst;
  inst.line = statement.line;
  inst.sourceIndex = statement.sourceIndex;
  inst.instructionClass = entry->instructionClass;
  if (!statement.guard.empty()) {
    const RegisterInfo *info = findRegister(statement.scope, statement.guard);
    if (!info || info->type != Type::Pred)
      return syntaxError(module, statement.line,
                         "'" + statement.guard +
                             "' is not a predicate register");
    inst.hasGuard = true;
    inst.guardNegated = statement.guardNegated;
    inst.guard = info->offset;
  }
  if (!entry->decode(decoder) || !decoder.finishModifiers() || !message.empty())
    return syntaxError(module, statement.line, message);
  inst.definedRule = definedRuleOf(statement);
  inst.usedBytes = statement.usedBytesMask;
  // mma and wgmma: D, A, B, C; A and B may be descriptors.
  for (unsigned i = 0; inst.definedRule == DefinedRule::Matrix && i < 2 &&
                       i + 1 < statement.operands.size();
       ++i)
    inst.matrixSources[i] = statement.operands[i + 1].children.size();
  inst.operands = keepOperands(decoder.operands);
  inst.numOperands = decoder.operands.size();
  image.code.push_back(inst);
  for (size_t i = begin; i < image.code.size(); ++i)
    image.code[i].sourceIndex = statement.sourceIndex;
  return llvm::Error::success();
}

llvm::Error ImageBuilder::decodeFunction(uint32_t number) {
  code = image.functions[number].get();
  const FunctionSyntax &function = *code->syntax;
  registers.clear();
  frameBytes = 0;
  if (llvm::Error error = layoutVariables(*code))
    return error;
  code->entry = image.code.size();
  std::vector<uint32_t> positions;
  positions.reserve(function.statements.size() + 1);
  for (const Statement &statement : function.statements) {
    positions.push_back(image.code.size());
    if (llvm::Error error = decodeStatement(statement))
      return error;
  }
  positions.push_back(image.code.size());
  // What runs off the end returns.
  Statement last;
  last.opcode = "ret";
  last.line = function.statements.empty() ? function.line
                                          : function.statements.back().line;
  if (llvm::Error error = decodeStatement(last))
    return error;
  for (uint32_t i = code->entry; i < image.code.size(); ++i) {
    Inst &inst = image.code[i];
    if (inst.instructionClass != InstructionClass::Control)
      continue;
    if (inst.aux[3] == 1)
      inst.target = positions[inst.target];
    if (inst.aux[3] == 2)
      for (uint32_t &target : *static_cast<std::vector<uint32_t> *>(
               const_cast<void *>(inst.extra)))
        target = positions[target];
  }
  frameBytes = llvm::alignTo(frameBytes, 64);
  code->paramOffset = frameBytes;
  uint64_t total = frameBytes + uint64_t(code->paramStride) * warpSize;
  if (total > (uint64_t(1) << 30))
    return syntaxError(module, function.line, "this function is too large");
  code->frameBytes = total;
  return llvm::Error::success();
}

llvm::Error ImageBuilder::build(const FunctionSyntax &kernel) {
  image.kernel = &kernel;
  image.module = &module;
  functionNumber(&kernel);
  if (llvm::Error error = layoutShared())
    return error;
  for (const FunctionSyntax *function : order) {
    image.functions.push_back(std::make_unique<FunctionCode>());
    image.functions.back()->syntax = function;
    if (llvm::Error error = layoutParameters(*image.functions.back()))
      return error;
  }
  image.parameters = image.functions[0]->parameters;
  image.parameterBytes = image.functions[0]->paramStride;
  for (uint32_t i = 0; i < order.size(); ++i)
    if (order[i]->hasBody)
      if (llvm::Error error = decodeFunction(i))
        return error;
  return llvm::Error::success();
}
