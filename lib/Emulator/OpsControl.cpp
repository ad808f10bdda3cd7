//===- OpsControl.cpp - Branches, calls, ends and the stack ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "llvm/ADT/StringExtras.h"

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
// The stack
//===----------------------------------------------------------------------===//

Step allocaLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  Frame &frame = *warp.frame;
  uint64_t begin = llvm::alignTo(frame.localEnd, uint64_t(inst.immediate));
  uint64_t most = 0;
  eachLane(mask, [&](unsigned l) {
    most = std::max(most, warp.lane(inst.operands[1], l));
  });
  if (most > UINT32_MAX ||
      !warp.growLocal(frame, mask, begin - frame.localEnd + most))
    return warp.error(Report::Kind::InvalidOperation, inst,
                      llvm::countr_zero(mask), "the thread's stack overflows");
  eachLane(mask, [&](unsigned l) { warp.setLane(inst.operands[0], l, begin); });
  return Step::Next;
}

Step stackSaveLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  eachLane(mask, [&](unsigned l) {
    warp.setLane(inst.operands[0], l, warp.frame->localEnd);
  });
  return Step::Next;
}

/// Frees what was allocated since, unless other lanes of the function may still
/// use it.
Step stackRestoreLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  Frame &frame = *warp.frame;
  uint64_t least = 0;
  eachLane(mask, [&](unsigned l) {
    least = std::max(least, warp.lane(inst.operands[0], l));
  });
  uint64_t begin = uint64_t(frame.localBase) + frame.code->localBytes;
  if (least < begin || least > frame.localEnd)
    return warp.error(
        Report::Kind::InvalidOperation, inst, llvm::countr_zero(mask),
        "stackrestore takes what stacksave gave in this function");
  if (mask == (frame.lanes & warp.live))
    frame.localEnd = least;
  return Step::Next;
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
    Handler handler = findRuntimeFunction(function.name);
    if (!handler)
      return d.fail("the external function '" + function.name +
                    "' is not defined");
    d.builder.image.usesHeap |=
        function.name == "malloc" || function.name == "free";
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
/// alloca.{u32,u64} pointer, size[, alignment]: all lanes get the place that is
/// large enough for each.
static bool decodeAlloca(InstDecoder &d) {
  Type type = d.needType();
  int64_t alignment = 8;
  if (d.failed() || !d.needOperands(2, 3) || !d.addDest(0, type) ||
      !d.addSource(1, type))
    return false;
  if (d.numOperands() == 3 && !d.constantValue(2, alignment))
    return false;
  if (alignment <= 0 || alignment > 1 << 20 || !llvm::isPowerOf2_64(alignment))
    return d.fail("the alignment of alloca must be a power of two up to 2^20");
  d.inst.immediate = alignment;
  return d.finish(type == Type::U32 || type == Type::U64 ? allocaLanes
                                                         : nullptr);
}

static bool decodeStacksave(InstDecoder &d) {
  Type type = d.needType();
  return !d.failed() && d.needOperands(1) && d.addDest(0, type) &&
         d.finish(type == Type::U32 || type == Type::U64 ? stackSaveLanes
                                                         : nullptr);
}

static bool decodeStackrestore(InstDecoder &d) {
  Type type = d.needType();
  return !d.failed() && d.needOperands(1) && d.addSource(0, type) &&
         d.finish(type == Type::U32 || type == Type::U64 ? stackRestoreLanes
                                                         : nullptr);
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
  table.add("alloca", decodeAlloca, InstructionClass::Other);
  table.add("stacksave", decodeStacksave, InstructionClass::Other);
  table.add("stackrestore", decodeStackrestore, InstructionClass::Other);
  table.add("pmevent", decodePmevent, InstructionClass::Other);
  table.add("griddepcontrol", decodeGriddepcontrol, InstructionClass::Other);
  table.add("setmaxnreg", decodeSetmaxnreg, InstructionClass::Other);
}
