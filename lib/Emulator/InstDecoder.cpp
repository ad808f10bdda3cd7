//===- InstDecoder.cpp - Modifiers and operands of a PTX statement ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Machine.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstring>

using namespace tile_dialect::emulator;
using llvm::StringRef;
using llvm::Twine;

InstDecoder::InstDecoder(ImageBuilder &builder, const Statement &statement)
    : statement(statement), builder(builder) {
  taken.assign(statement.modifiers.size(), false);
}

bool InstDecoder::fail(const Twine &message) {
  if (!hasFailed)
    builder.message = message.str();
  hasFailed = true;
  return false;
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool InstDecoder::take(StringRef modifier) {
  for (unsigned i = 0, e = taken.size(); i != e; ++i) {
    if (!taken[i] && statement.modifiers[i] == modifier) {
      taken[i] = true;
      return true;
    }
  }
  return false;
}

Type InstDecoder::takeType() {
  for (unsigned i = 0, e = taken.size(); i != e; ++i) {
    if (taken[i])
      continue;
    Type type = parseType(statement.modifiers[i]);
    if (type == Type::None)
      continue;
    taken[i] = true;
    return type;
  }
  return Type::None;
}

Type InstDecoder::lastType() const {
  for (unsigned i = taken.size(); i > 0; --i)
    if (!taken[i - 1])
      if (Type type = parseType(statement.modifiers[i - 1]); type != Type::None)
        return type;
  return Type::None;
}

Type InstDecoder::needType() {
  Type type = takeType();
  if (type == Type::None)
    fail("this instruction needs a type");
  return type;
}

int InstDecoder::takeOneOf(std::initializer_list<StringRef> modifiers) {
  int index = 0;
  for (StringRef modifier : modifiers) {
    if (take(modifier))
      return index;
    ++index;
  }
  return -1;
}

StringRef InstDecoder::peek() const {
  for (unsigned i = 0, e = taken.size(); i != e; ++i)
    if (!taken[i])
      return statement.modifiers[i];
  return "";
}

StringRef InstDecoder::takePrefixed(StringRef prefix) {
  for (unsigned i = 0, e = taken.size(); i != e; ++i) {
    if (!taken[i] && statement.modifiers[i].starts_with(prefix)) {
      taken[i] = true;
      return statement.modifiers[i];
    }
  }
  return "";
}

bool InstDecoder::finishModifiers() {
  StringRef left = peek();
  if (left.empty())
    return true;
  return fail("unknown modifier '." + left + "' of '" + statement.opcode + "'");
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool InstDecoder::needOperands(unsigned count) {
  return needOperands(count, count);
}

bool InstDecoder::needOperands(unsigned least, unsigned most) {
  if (numOperands() >= least && numOperands() <= most)
    return true;
  std::string expected = std::to_string(least);
  if (most != least)
    expected += " to " + std::to_string(most);
  return fail("'" + statement.opcode + "' takes " + expected +
              " operands here, found " + Twine(numOperands()));
}

static uint8_t laneBytes(Type type) {
  unsigned bits = bitWidth(type);
  if (type == Type::Pred)
    return 0;
  if (bits <= 16)
    return 2;
  return bits / 8;
}

bool InstDecoder::checkWidth(StringRef name, Type registerType, Type type,
                             bool wider) {
  unsigned have = laneBytes(registerType), want = laneBytes(type);
  bool samePredicate = (registerType == Type::Pred) == (type == Type::Pred);
  if (samePredicate && (have == want || (wider && have > want)))
    return true;
  return fail("'" + name + "' is a register of type ." +
              typeName(registerType) + ", which does not fit ." +
              typeName(type));
}

bool InstDecoder::isRegisterName(StringRef name, Type *type) {
  const auto *info = builder.findRegister(statement.scope, name);
  if (info && type)
    *type = info->type;
  return info != nullptr;
}

bool InstDecoder::addDest(const OperandSyntax &syntax, Type type, bool wider) {
  Operand operand;
  if (syntax.kind == OperandSyntax::Kind::Sink) {
    operand.bank = Operand::Specials;
    operand.offset = specialOffset(Special::Scratch);
    operand.bytes = laneBytes(type);
  } else {
    if (syntax.kind != OperandSyntax::Kind::Name || syntax.negated)
      return fail("the destination must be a register");
    const auto *info = builder.findRegister(statement.scope, syntax.name);
    if (!info)
      return fail("'" + syntax.name + "' is not a register");
    if (!checkWidth(syntax.name, info->type, type, wider))
      return false;
    operand.offset = info->offset;
    operand.bytes = laneBytes(info->type);
  }
  operands.push_back(operand);
  ++inst.numDestinations;
  return true;
}

/// The bits of a literal as a value of `type`.
static bool literalBits(const OperandSyntax &syntax, Type type,
                        uint64_t &bits) {
  if (syntax.kind == OperandSyntax::Kind::Integer) {
    bits = syntax.integer;
    return type != Type::F32 && type != Type::F64;
  }
  double value;
  if (syntax.floatBits == 32) {
    float narrow;
    uint32_t word = syntax.bits;
    std::memcpy(&narrow, &word, 4);
    value = narrow;
  } else {
    std::memcpy(&value, &syntax.bits, 8);
  }
  if (bitWidth(type) == 64) {
    if (syntax.floatBits == 64)
      bits = syntax.bits;
    else
      std::memcpy(&bits, &value, 8);
    return true;
  }
  if (bitWidth(type) != 32)
    return false;
  if (syntax.floatBits == 32) {
    bits = syntax.bits;
    return true;
  }
  float narrow = value;
  uint32_t word;
  std::memcpy(&word, &narrow, 4);
  bits = word;
  return true;
}

/// The address of a local variable of a frame that is not the kernel's.
static Step localAddress(Warp &warp, const Inst &inst, LaneMask mask) {
  uint64_t *d = warp.dest<uint64_t>(inst.operands[0]);
  for (unsigned l = 0; l < warpSize; ++l)
    if (mask >> l & 1)
      d[l] = warp.frame->localBase + inst.immediate;
  return Step::Next;
}

/// The low half of a special register.
static Step copyNarrow(Warp &warp, const Inst &inst, LaneMask mask) {
  uint16_t *d = warp.dest<uint16_t>(inst.operands[0]);
  const uint32_t *s = warp.source<uint32_t>(inst.operands[1]);
  for (unsigned l = 0; l < warpSize; ++l)
    if (mask >> l & 1)
      d[l] = uint16_t(s[l]);
  return Step::Next;
}

Operand InstDecoder::narrowCopy(const Operand &special) {
  Operand narrow;
  narrow.offset = builder.allocateRegister(Type::B16);
  narrow.bytes = 2;
  Inst read;
  read.handler = copyNarrow;
  read.numDestinations = 1;
  read.instructionClass = InstructionClass::Move;
  builder.emitBefore(read, {narrow, special});
  return narrow;
}

static Operand narrowed(Operand operand, Type type) {
  operand.bytes = laneBytes(type);
  return operand;
}

bool InstDecoder::resolveSource(const OperandSyntax &syntax, Type type,
                                bool wider, Operand &operand) {
  if (syntax.kind == OperandSyntax::Kind::Integer ||
      syntax.kind == OperandSyntax::Kind::Float) {
    uint64_t bits;
    if (!literalBits(syntax, type, bits))
      return fail("this literal cannot be a value of type ." + typeName(type));
    operand = builder.constant(laneBytes(type), bits,
                               int64_t(bits) < 0 ? ~uint64_t(0) : 0);
    return true;
  }
  if (syntax.kind == OperandSyntax::Kind::Sink) {
    operand.bank = Operand::Specials;
    operand.offset = specialOffset(Special::Zero);
    operand.bytes = laneBytes(type);
    return true;
  }
  if (syntax.kind != OperandSyntax::Kind::Name)
    return fail("expected a register or a constant");

  if (const auto *info = builder.findRegister(statement.scope, syntax.name)) {
    if (syntax.integer != 0)
      return fail("a register takes no offset here");
    if (syntax.negated && type != Type::Pred)
      return fail("only predicates can be negated");
    if (!checkWidth(syntax.name, info->type, type, wider))
      return false;
    operand.offset = info->offset;
    operand.bytes = laneBytes(info->type);
    operand.negated = syntax.negated;
    return true;
  }
  Special special;
  Type specialType;
  if (findSpecial(syntax.name, special, specialType)) {
    // The upper half of a 64-bit special register is not read as 32 bits.
    if (laneBytes(specialType) < laneBytes(type) ||
        (specialType == Type::U64 && laneBytes(type) != 8))
      return fail("'" + syntax.name + "' is of type ." + typeName(specialType) +
                  ", which does not fit ." + typeName(type));
    operand.bank = Operand::Specials;
    operand.offset = specialOffset(special);
    operand.bytes = laneBytes(specialType);
    operand.negated = syntax.negated;
    if (laneBytes(type) == 2)
      operand = narrowCopy(operand);
    return true;
  }
  DynamicSpecial dynamic = findDynamicSpecial(syntax.name, specialType);
  if (dynamic != DynamicSpecial::None) {
    if (laneBytes(specialType) != laneBytes(type))
      return fail("'" + syntax.name + "' is of type ." + typeName(specialType));
    operand.offset = builder.allocateRegister(specialType);
    operand.bytes = laneBytes(specialType);
    Inst read;
    read.handler = readDynamicSpecial;
    read.numDestinations = 1;
    read.aux[0] = unsigned(dynamic);
    read.instructionClass = InstructionClass::Move;
    builder.emitBefore(read, operand);
    return true;
  }

  // The address of a variable or a function.
  Space space;
  int moduleIndex;
  if (const Variable *variable = builder.findVariable(
          statement.scope, syntax.name, &space, &moduleIndex)) {
    unsigned bytes = laneBytes(type);
    if (bytes != 4 && bytes != 8)
      return fail("an address needs 32 or 64 bits");
    if (space == Space::Global || space == Space::Const) {
      operand = builder.addressConstant(moduleIndex, syntax.integer, bytes);
      return true;
    }
    if (!builder.hasOffset(variable))
      return fail("the address of '" + syntax.name +
                  "' cannot be taken in a device function");
    uint64_t address = builder.offsetOf(variable) + syntax.integer;
    if (space == Space::Param && !builder.current().syntax->isEntry)
      return fail("the address of a parameter of a device function is not "
                  "emulated");
    if (space == Space::Local && !builder.current().syntax->isEntry) {
      operand.offset = builder.allocateRegister(Type::B64);
      operand.bytes = 8;
      Inst read;
      read.handler = localAddress;
      read.numDestinations = 1;
      read.immediate = address;
      read.instructionClass = InstructionClass::Move;
      builder.emitBefore(read, operand);
      operand = narrowed(operand, Type::B64);
      return bytes == 8 || fail("a local address needs 64 bits here");
    }
    operand = builder.constant(bytes, address);
    return true;
  }
  if (const FunctionSyntax *function = builder.findFunction(syntax.name)) {
    builder.functionNumber(function);
    uint32_t index = builder.module.functionIndex.lookup(syntax.name);
    operand = builder.constant(laneBytes(type), Image::functionWindow + index);
    return laneBytes(type) == 8 ||
           fail("the address of a function needs 64 bits");
  }
  return fail("'" + syntax.name + "' is not declared");
}

bool InstDecoder::addSource(const OperandSyntax &syntax, Type type,
                            bool wider) {
  Operand operand;
  if (!resolveSource(syntax, type, wider, operand))
    return false;
  operands.push_back(operand);
  return true;
}

bool InstDecoder::addConstant(Type type, uint64_t value) {
  operands.push_back(builder.constant(laneBytes(type), value));
  return true;
}

bool InstDecoder::resolveAddress(const OperandSyntax &syntax,
                                 AddressOperand &address) {
  if (syntax.kind != OperandSyntax::Kind::Address)
    return fail("expected an address in brackets");
  address.offset = 0;
  if (syntax.name.empty()) {
    address.base = builder.constant(8, syntax.integer);
    return true;
  }
  if (const auto *info = builder.findRegister(statement.scope, syntax.name)) {
    unsigned bits = bitWidth(info->type);
    if (bits != 32 && bits != 64)
      return fail("an address register has 32 or 64 bits");
    address.base.offset = info->offset;
    address.base.bytes = bits / 8;
    address.offset = syntax.integer;
    address.isRegister = true;
    return true;
  }
  Space space;
  int moduleIndex;
  const Variable *variable =
      builder.findVariable(statement.scope, syntax.name, &space, &moduleIndex);
  if (!variable)
    return fail("'" + syntax.name + "' is not declared");
  address.space = space;
  if (space == Space::Param && moduleIndex == -2) {
    address.isFrameParam = true;
    address.offset = builder.offsetOf(variable) + syntax.integer;
    return true;
  }
  OperandSyntax name = syntax;
  name.kind = OperandSyntax::Kind::Name;
  return resolveSource(name, Type::B64, false, address.base);
}

bool InstDecoder::addAddress(unsigned index, AddressOperand &address) {
  if (!resolveAddress(statement.operands[index], address))
    return false;
  operands.push_back(address.base);
  inst.immediate = address.offset;
  return true;
}

bool InstDecoder::constantValue(const OperandSyntax &syntax, int64_t &value) {
  if (syntax.kind != OperandSyntax::Kind::Integer)
    return fail("this operand must be an integer constant");
  value = syntax.integer;
  return true;
}

bool InstDecoder::constantValue(unsigned index, int64_t &value) {
  return constantValue(statement.operands[index], value);
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

bool tile_dialect::emulator::findSpecial(StringRef name, Special &special,
                                         Type &type) {
  if (!name.starts_with("%"))
    return false;
  constexpr auto none = Special::Scratch;
  special =
      llvm::StringSwitch<Special>(name.drop_front())
          .Case("tid.x", Special::TidX)
          .Case("tid.y", Special::TidY)
          .Case("tid.z", Special::TidZ)
          .Case("ntid.x", Special::NtidX)
          .Case("ntid.y", Special::NtidY)
          .Case("ntid.z", Special::NtidZ)
          .Case("ctaid.x", Special::CtaidX)
          .Case("ctaid.y", Special::CtaidY)
          .Case("ctaid.z", Special::CtaidZ)
          .Case("nctaid.x", Special::NctaidX)
          .Case("nctaid.y", Special::NctaidY)
          .Case("nctaid.z", Special::NctaidZ)
          .Case("laneid", Special::LaneId)
          .Case("warpid", Special::WarpId)
          .Case("nwarpid", Special::NwarpId)
          .Case("smid", Special::SmId)
          .Case("nsmid", Special::NsmId)
          .Case("gridid", Special::GridId)
          .Case("lanemask_eq", Special::LanemaskEq)
          .Case("lanemask_le", Special::LanemaskLe)
          .Case("lanemask_lt", Special::LanemaskLt)
          .Case("lanemask_ge", Special::LanemaskGe)
          .Case("lanemask_gt", Special::LanemaskGt)
          .Case("clusterid.x", Special::ClusterIdX)
          .Case("clusterid.y", Special::ClusterIdY)
          .Case("clusterid.z", Special::ClusterIdZ)
          .Case("nclusterid.x", Special::NclusterIdX)
          .Case("nclusterid.y", Special::NclusterIdY)
          .Case("nclusterid.z", Special::NclusterIdZ)
          .Case("cluster_ctaid.x", Special::ClusterCtaidX)
          .Case("cluster_ctaid.y", Special::ClusterCtaidY)
          .Case("cluster_ctaid.z", Special::ClusterCtaidZ)
          .Case("cluster_nctaid.x", Special::ClusterNctaidX)
          .Case("cluster_nctaid.y", Special::ClusterNctaidY)
          .Case("cluster_nctaid.z", Special::ClusterNctaidZ)
          .Case("cluster_ctarank", Special::ClusterCtaRank)
          .Case("cluster_nctarank", Special::ClusterNctaRank)
          .Case("total_smem_size", Special::TotalSmemSize)
          .Case("aggr_smem_size", Special::TotalSmemSize)
          .Case("dynamic_smem_size", Special::DynamicSmemSize)
          .Case("reserved_smem_offset_begin", Special::ReservedSmemOffsetBegin)
          .Case("reserved_smem_offset_end", Special::ReservedSmemOffsetEnd)
          .Case("reserved_smem_offset_cap", Special::ReservedSmemOffsetEnd)
          .Case("reserved_smem_offset_0", Special::ReservedSmemOffsetBegin)
          .Case("reserved_smem_offset_1", Special::ReservedSmemOffsetBegin)
          .Case("current_graph_exec", Special::Zero)
          .Case("is_explicit_cluster", Special::IsExplicitCluster)
          .Default(none);
  if (special == none &&
      (name.starts_with("%envreg") || name.starts_with("%pm")))
    special = Special::Zero;
  if (special == none)
    return false;
  type = special == Special::IsExplicitCluster ? Type::Pred
         : special == Special::GridId || name.ends_with("_64") ||
                 name == "%current_graph_exec"
             ? Type::U64
             : Type::U32;
  return true;
}

DynamicSpecial tile_dialect::emulator::findDynamicSpecial(StringRef name,
                                                          Type &type) {
  auto result = llvm::StringSwitch<DynamicSpecial>(name)
                    .Case("%clock", DynamicSpecial::Clock)
                    .Case("%clock_hi", DynamicSpecial::ClockHi)
                    .Case("%clock64", DynamicSpecial::Clock64)
                    .Case("%globaltimer", DynamicSpecial::GlobalTimer)
                    .Case("%globaltimer_lo", DynamicSpecial::GlobalTimerLo)
                    .Case("%globaltimer_hi", DynamicSpecial::GlobalTimerHi)
                    .Default(DynamicSpecial::None);
  type =
      result == DynamicSpecial::Clock64 || result == DynamicSpecial::GlobalTimer
          ? Type::U64
          : Type::U32;
  return result;
}
