//===- OpsControl.cpp - Branches, calls, ends and printing ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cinttypes>

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

Step branchLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  warp.branch(mask, inst.target);
  return Step::Jump;
}

/// brx.idx: each lane chooses from a table.
Step indexedBranch(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &targets = *static_cast<const std::vector<uint32_t> *>(inst.extra);
  const uint32_t *index = warp.source<uint32_t>(inst.operands[0]);
  uint32_t pc = warp.pc;
  LaneMask rest = warp.mask & ~mask, left = mask;
  struct Group {
    uint32_t target;
    LaneMask lanes;
  };
  llvm::SmallVector<Group, 8> groups;
  if (rest)
    groups.push_back({pc + 1, rest});
  while (left) {
    unsigned first = llvm::countr_zero(left);
    if (index[first] >= targets.size())
      return warp.error(Report::Kind::InvalidOperation, inst, first,
                        "branch index " + Twine(index[first]) + " of " +
                            Twine(targets.size()) + " targets");
    uint32_t target = targets[index[first]];
    LaneMask lanes = 0;
    for (unsigned l = first; l < warpSize; ++l)
      if ((left >> l & 1) && index[l] < targets.size() &&
          targets[index[l]] == target)
        lanes |= LaneMask(1) << l;
    left &= ~lanes;
    groups.push_back({target, lanes});
  }
  for (size_t i = 1; i < groups.size(); ++i) {
    Split split;
    split.pc = groups[i].target;
    split.mask = groups[i].lanes;
    split.frame = warp.frame;
    warp.addSplit(split);
  }
  warp.pc = groups[0].target;
  warp.mask = groups[0].lanes;
  return Step::Jump;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// How the value of a parameter gets to or from a call.
struct Transfer {
  /// An offset in the caller's parameter space, or a register.
  bool isRegister = false;
  uint32_t offset = 0;
  Operand reg;
  uint32_t bytes = 0;
};

enum class Builtin : uint8_t { None, Vprintf, Assertfail };

struct CallInfo {
  bool isIndirect = false;
  uint32_t function = 0;
  Builtin builtin = Builtin::None;
  std::vector<Transfer> arguments, results;
  const Image *image = nullptr;
  /// For indirect calls: the image's function by its number in the module.
  std::vector<int> functionOfModule;
};

uint8_t *parameterOf(const Frame &frame, uint32_t offset, unsigned lane) {
  return frame.registers + frame.code->paramOffset +
         lane * frame.code->paramStride + offset;
}

void copyArgument(Warp &warp, const Frame &caller, const Transfer &transfer,
                  unsigned l, uint8_t *to, uint32_t bytes) {
  if (!transfer.isRegister) {
    std::memcpy(to, parameterOf(caller, transfer.offset, l),
                std::min(bytes, transfer.bytes));
    return;
  }
  const Operand &reg = transfer.reg;
  const uint8_t *base =
      reg.bank == Operand::Registers ? caller.registers : warp.banks[reg.bank];
  std::memcpy(to, base + reg.offset + l * reg.bytes,
              std::min<uint32_t>(bytes, reg.bytes));
}

void copyResult(const Frame &caller, const Transfer &transfer, unsigned l,
                const uint8_t *from, uint32_t bytes) {
  if (!transfer.isRegister) {
    std::memcpy(parameterOf(caller, transfer.offset, l), from,
                std::min(bytes, transfer.bytes));
    return;
  }
  const Operand &reg = transfer.reg;
  std::memcpy(caller.registers + reg.offset + l * reg.bytes, from,
              std::min<uint32_t>(bytes, reg.bytes));
}

Step enter(Warp &warp, const Inst &inst, LaneMask mask, uint32_t function) {
  const auto &info = *static_cast<const CallInfo *>(inst.extra);
  const FunctionCode &code = *warp.context->image.functions[function];
  if (code.parameters.size() != info.arguments.size() ||
      code.returns.size() != info.results.size() || !code.syntax->hasBody)
    return warp.error(
        Report::Kind::InvalidOperation, inst, llvm::countr_zero(mask),
        "'" + code.syntax->name + "' does not have the prototype of this call");
  Frame &caller = *warp.frame;
  Step step = warp.call(inst, mask, function);
  if (step == Step::Error)
    return step;
  for (auto [slot, transfer] : llvm::zip(code.parameters, info.arguments)) {
    uint32_t offset = slot.offset, bytes = slot.bytes;
    const Transfer &from = transfer;
    eachLane(mask, [&, offset, bytes](unsigned l) {
      copyArgument(warp, caller, from, l, parameterOf(*warp.frame, offset, l),
                   bytes);
    });
  }
  return step;
}

Step callLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  return enter(warp, inst, mask,
               static_cast<const CallInfo *>(inst.extra)->function);
}

Step indirectCall(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CallInfo *>(inst.extra);
  const uint64_t *targets = warp.source<uint64_t>(inst.operands[0]);
  unsigned first = llvm::countr_zero(mask);
  uint64_t number = targets[first] - Image::functionWindow;
  if (number >= info.functionOfModule.size() ||
      info.functionOfModule[number] < 0)
    return warp.error(Report::Kind::InvalidOperation, inst, first,
                      "call of 0x" + llvm::utohexstr(targets[first], true) +
                          ", which is no function");
  LaneMask same = 0;
  eachLane(mask, [&](unsigned l) {
    same |= LaneMask(targets[l] == targets[first]) << l;
  });
  if (same != mask) {
    // The others come here again once these have their own split.
    Split others;
    others.pc = warp.pc;
    others.mask = mask & ~same;
    others.frame = warp.frame;
    warp.addSplit(others);
    warp.mask &= ~others.mask;
  }
  return enter(warp, inst, same, info.functionOfModule[number]);
}

Step returnLanes(Warp &warp, const Inst &, LaneMask mask) {
  Frame &left = *warp.frame;
  if (!left.parent)
    return Step::Exit;
  const auto &info = *static_cast<const CallInfo *>(left.call->extra);
  for (auto [slot, transfer] : llvm::zip(left.code->returns, info.results)) {
    uint32_t offset = slot.offset, bytes = slot.bytes;
    const Transfer &to = transfer;
    eachLane(mask, [&, offset, bytes](unsigned l) {
      copyResult(*left.parent, to, l, parameterOf(left, offset, l), bytes);
    });
  }
  return warp.returnFrom(mask);
}

Step exitLanes(Warp &, const Inst &, LaneMask) { return Step::Exit; }

Step trapLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  return warp.error(Report::Kind::Trap, inst, llvm::countr_zero(mask),
                    "trap was executed");
}

/// nanosleep is how loops that wait give way.
Step sleepLanes(Warp &warp, const Inst &, LaneMask) {
  return warp.failedPoll();
}

Step nothing(Warp &, const Inst &, LaneMask) { return Step::Next; }

//===----------------------------------------------------------------------===//
// What the runtime library of a device provides
//===----------------------------------------------------------------------===//

/// Reads a string of a thread; false after an error was filed.
bool readString(Warp &warp, const Inst &inst, uint64_t address, unsigned lane,
                std::string &text) {
  for (unsigned i = 0; i < 65536; ++i) {
    const uint8_t *byte =
        warp.resolve(inst, Space::Generic, address + i, 1, false, lane);
    if (!byte)
      return false;
    if (*byte == 0)
      return true;
    text.push_back(char(*byte));
  }
  return true;
}

/// Formats one conversion of printf with an argument from the buffer; advances
/// the address.  False after an error.
bool formatArgument(Warp &warp, const Inst &inst, unsigned lane,
                    std::string spec, uint64_t &address, std::string &out) {
  char conversion = spec.back();
  bool wide = spec.find('l') != std::string::npos ||
              spec.find('j') != std::string::npos ||
              spec.find('z') != std::string::npos ||
              spec.find('t') != std::string::npos;
  bool isFloat = llvm::StringRef("fFeEgGaA").contains(conversion);
  unsigned bytes =
      wide || isFloat || conversion == 's' || conversion == 'p' ? 8 : 4;
  address = (address + bytes - 1) / bytes * bytes;
  const uint8_t *memory =
      warp.resolve(inst, Space::Generic, address, bytes, false, lane);
  if (!memory)
    return false;
  uint64_t bits = 0;
  std::memcpy(&bits, memory, bytes);
  address += bytes;
  std::string body;
  for (char c : spec.substr(0, spec.size() - 1))
    if (!llvm::StringRef("hlLjzt").contains(c))
      body.push_back(c);
  char buffer[512];
  if (isFloat) {
    body.push_back(conversion);
    std::snprintf(buffer, sizeof(buffer), body.c_str(), bitsAs<double>(bits));
  } else if (conversion == 's') {
    std::string text;
    if (!readString(warp, inst, bits, lane, text))
      return false;
    body.push_back('s');
    std::snprintf(buffer, sizeof(buffer), body.c_str(), text.c_str());
  } else if (conversion == 'p') {
    std::snprintf(buffer, sizeof(buffer), "0x%" PRIx64, bits);
  } else if (conversion == 'c') {
    body.push_back('c');
    std::snprintf(buffer, sizeof(buffer), body.c_str(), int(bits));
  } else {
    bool isSigned = conversion == 'd' || conversion == 'i';
    if (bytes == 4 && isSigned)
      bits = uint64_t(int64_t(int32_t(bits)));
    if (spec.find("hh") != std::string::npos)
      bits = isSigned ? uint64_t(int64_t(int8_t(bits))) : uint8_t(bits);
    else if (spec.find('h') != std::string::npos)
      bits = isSigned ? uint64_t(int64_t(int16_t(bits))) : uint16_t(bits);
    body += "ll";
    body.push_back(conversion);
    std::snprintf(buffer, sizeof(buffer), body.c_str(), (long long)bits);
  }
  out += buffer;
  return true;
}

/// Formats as CUDA's printf does: the arguments lie one after another, each at
/// a multiple of its size, floats as doubles.
bool formatPrint(Warp &warp, const Inst &inst, unsigned lane,
                 const std::string &format, uint64_t address, std::string &out,
                 unsigned &count) {
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out.push_back('%');
      ++i;
      continue;
    }
    std::string spec = "%";
    size_t j = i + 1;
    while (j < format.size() &&
           llvm::StringRef("-+ #0123456789.hlLjzt").contains(format[j]))
      spec.push_back(format[j++]);
    if (j >= format.size() ||
        !llvm::StringRef("diouxXfFeEgGaAcsp").contains(format[j]) ||
        spec.size() > 32) {
      out.push_back('%');
      continue;
    }
    spec.push_back(format[j]);
    if (!formatArgument(warp, inst, lane, spec, address, out))
      return false;
    ++count;
    i = j;
  }
  return true;
}

Step vprintfLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CallInfo *>(inst.extra);
  bool ok = true;
  eachLane(mask, [&](unsigned l) {
    uint64_t pointers[2] = {0, 0};
    for (unsigned i = 0; i < 2 && i < info.arguments.size(); ++i)
      copyArgument(warp, *warp.frame, info.arguments[i], l,
                   reinterpret_cast<uint8_t *>(&pointers[i]), 8);
    std::string format, text;
    unsigned count = 0;
    ok = ok && readString(warp, inst, pointers[0], l, format) &&
         formatPrint(warp, inst, l, format, pointers[1], text, count);
    if (!ok)
      return;
    warp.block->output += text;
    if (!info.results.empty())
      copyResult(*warp.frame, info.results[0], l,
                 reinterpret_cast<const uint8_t *>(&count), 4);
  });
  return ok ? Step::Next : Step::Error;
}

Step assertfailLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CallInfo *>(inst.extra);
  unsigned l = llvm::countr_zero(mask);
  uint64_t values[4] = {};
  for (unsigned i = 0; i < 4 && i < info.arguments.size(); ++i)
    copyArgument(warp, *warp.frame, info.arguments[i], l,
                 reinterpret_cast<uint8_t *>(&values[i]), 8);
  std::string message, file, function;
  if (!readString(warp, inst, values[0], l, message) ||
      !readString(warp, inst, values[1], l, file) ||
      !readString(warp, inst, values[3], l, function))
    return Step::Error;
  return warp.error(Report::Kind::AssertFail, inst, l,
                    file + ":" + Twine(uint32_t(values[2])) + ": " + function +
                        ": " + message);
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static bool decodeBra(InstDecoder &d) {
  d.take("uni");
  if (!d.needOperands(1))
    return false;
  const OperandSyntax &label = d.statement.operands[0];
  uint32_t statement;
  if (label.kind != OperandSyntax::Kind::Name ||
      !d.builder.findLabel(d.statement.scope, label.name, statement))
    return d.fail("'" + label.name + "' is not a label");
  d.inst.target = statement;
  d.inst.aux[3] = 1;
  d.inst.handlesGuard = true;
  return d.finish(branchLanes);
}

static bool decodeBrx(InstDecoder &d) {
  if (!d.take("idx"))
    return d.fail("brx needs .idx");
  d.take("uni");
  if (!d.needOperands(2) || !d.addSource(0, Type::U32))
    return false;
  const auto *labels = d.builder.findBranchTargets(
      d.statement.scope, d.statement.operands[1].name);
  if (!labels)
    return d.fail("'" + d.statement.operands[1].name +
                  "' is not a list of branch targets");
  std::vector<uint32_t> targets;
  for (llvm::StringRef label : *labels) {
    uint32_t statement;
    if (!d.builder.findLabel(d.statement.scope, label, statement))
      return d.fail("'" + label + "' is not a label");
    targets.push_back(statement);
  }
  d.setExtra(std::move(targets));
  d.inst.aux[3] = 2;
  return d.finish(indexedBranch);
}

static bool addTransfers(InstDecoder &d, const OperandSyntax &list,
                         std::vector<Transfer> &transfers, bool isResult) {
  for (const OperandSyntax &syntax : list.children) {
    Transfer transfer;
    Space space;
    int moduleIndex = -1;
    const Variable *variable = nullptr;
    if (syntax.kind == OperandSyntax::Kind::Name &&
        !d.isRegisterName(syntax.name))
      variable = d.builder.findVariable(d.statement.scope, syntax.name, &space,
                                        &moduleIndex);
    if (variable && space == Space::Param && moduleIndex == -2) {
      transfer.offset = d.builder.offsetOf(variable);
      transfer.bytes = variable->bytes;
    } else {
      Type type = Type::B32;
      if (syntax.kind == OperandSyntax::Kind::Name)
        d.isRegisterName(syntax.name, &type);
      transfer.isRegister = true;
      unsigned destinations = d.inst.numDestinations;
      if (isResult ? !d.addDest(syntax, type) : !d.addSource(syntax, type))
        return false;
      d.inst.numDestinations = destinations;
      transfer.reg = d.operands.pop_back_val();
    }
    transfers.push_back(transfer);
  }
  return true;
}

static bool finishDirectCall(InstDecoder &d, CallInfo &info,
                             const FunctionSyntax &function) {
  const Prototype &prototype = function.prototype;
  if (prototype.parameters.size() != info.arguments.size() ||
      prototype.returns.size() != info.results.size())
    return d.fail("'" + function.name + "' takes " +
                  Twine(prototype.parameters.size()) + " arguments and gives " +
                  Twine(prototype.returns.size()) + " results");
  if (!function.hasBody) {
    if (function.name == "vprintf")
      info.builtin = Builtin::Vprintf;
    else if (function.name == "__assertfail")
      info.builtin = Builtin::Assertfail;
    else
      return d.fail("the external function '" + function.name +
                    "' is not defined");
    Handler handler =
        info.builtin == Builtin::Vprintf ? vprintfLanes : assertfailLanes;
    d.setExtra(std::move(info));
    return d.finish(handler);
  }
  for (const Variable &variable : prototype.parameters)
    if (variable.space == Space::Register)
      return d.fail("parameters in registers are not emulated");
  info.function = d.builder.functionNumber(&function);
  d.setExtra(std::move(info));
  return d.finish(callLanes);
}

/// call[.uni] [(results),] function [, (arguments)] [, prototype].
static bool decodeCall(InstDecoder &d) {
  d.take("uni");
  if (!d.needOperands(1, 4))
    return false;
  CallInfo info;
  unsigned next = 0;
  const auto &operands = d.statement.operands;
  if (operands[0].kind == OperandSyntax::Kind::List) {
    if (!addTransfers(d, operands[0], info.results, true))
      return false;
    next = 1;
  }
  if (next >= operands.size() ||
      operands[next].kind != OperandSyntax::Kind::Name)
    return d.fail("expected a function");
  const OperandSyntax &callee = operands[next++];
  if (next < operands.size() &&
      operands[next].kind == OperandSyntax::Kind::List) {
    if (!addTransfers(d, operands[next], info.arguments, false))
      return false;
    ++next;
  }
  if (!d.isRegisterName(callee.name)) {
    const FunctionSyntax *function = d.builder.findFunction(callee.name);
    if (!function)
      return d.fail("'" + callee.name + "' is not a function");
    return finishDirectCall(d, info, *function);
  }
  if (next >= operands.size())
    return d.fail("an indirect call needs a prototype");
  if (!d.addSource(callee, Type::B64))
    return false;
  info.isIndirect = true;
  for (const auto &function : d.builder.module.functions)
    info.functionOfModule.push_back(
        function->hasBody && !function->isEntry &&
                d.builder.isReachable(function.get())
            ? int(d.builder.functionNumber(function.get()))
            : -1);
  d.setExtra(std::move(info));
  return d.finish(indirectCall);
}

static bool decodeRet(InstDecoder &d) {
  d.take("uni");
  return d.needOperands(0) && d.finish(returnLanes);
}
static bool decodeExit(InstDecoder &d) {
  return d.needOperands(0) && d.finish(exitLanes);
}
static bool decodeTrap(InstDecoder &d) {
  return d.needOperands(0) && d.finish(trapLanes);
}
static bool decodeBrkpt(InstDecoder &d) {
  return d.needOperands(0) && d.finish(nothing);
}
static bool decodeNanosleep(InstDecoder &d) {
  return d.take("u32") && d.needOperands(1) && d.addSource(0, Type::U32) &&
         d.finish(sleepLanes);
}
static bool decodePmevent(InstDecoder &d) {
  d.take("mask");
  return d.finish(nothing);
}
static bool decodeGriddepcontrol(InstDecoder &d) {
  if (d.takeOneOf({"launch_dependents", "wait"}) < 0)
    return d.fail("expected .launch_dependents or .wait");
  return d.needOperands(0) && d.finish(nothing);
}
static bool decodeSetmaxnreg(InstDecoder &d) {
  if (d.takeOneOf({"inc", "dec"}) < 0 || !d.take("sync") ||
      !d.take("aligned") || !d.take("u32"))
    return d.fail("expected .inc or .dec and .sync.aligned.u32");
  int64_t count;
  if (!d.needOperands(1) || !d.constantValue(0, count))
    return false;
  if (count < 24 || count > 256 || count % 8 != 0)
    return d.fail("the number of registers must be a multiple of 8 from 24 to "
                  "256");
  return d.finish(nothing);
}

void tile_dialect::emulator::registerControlOps(OpcodeTable &table) {
  constexpr auto control = InstructionClass::Control;
  table.add("bra", decodeBra, control);
  table.add("brx", decodeBrx, control);
  table.add("call", decodeCall, control);
  table.add("ret", decodeRet, control);
  table.add("exit", decodeExit, control);
  table.add("trap", decodeTrap, control);
  table.add("brkpt", decodeBrkpt, InstructionClass::Other);
  table.add("nanosleep", decodeNanosleep, InstructionClass::Other);
  table.add("pmevent", decodePmevent, InstructionClass::Other);
  table.add("griddepcontrol", decodeGriddepcontrol, InstructionClass::Other);
  table.add("setmaxnreg", decodeSetmaxnreg, InstructionClass::Other);
}
