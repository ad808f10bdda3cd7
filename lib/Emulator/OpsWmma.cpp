//===- OpsWmma.cpp - wmma.load, wmma.store and wmma.mma ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFormats.h"
#include "MatrixOps.h"
#include "WmmaFragments.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Bytes that a lane moves at once, by register and lane.
struct WmmaRun {
  /// The row, or the column of a column-major matrix, and the bytes in it.
  uint8_t outer, offset;
};

struct WmmaAccess {
  WmmaFragment fragment;
  Space space = Space::Generic;
  bool isStore = false;
  /// Rows (columns), bytes of one, and how many runs of how many bytes make up
  /// a register.
  unsigned outer = 0, outerBytes = 0, runs = 1, runBytes = 4;
  unsigned alignment = 4;
  std::vector<WmmaRun> places;
  /// Positions of the operands.
  unsigned address = 0, firstRegister = 0;
  int stride = -1;
  unsigned bits = 0;
};

constexpr unsigned maximalOuter = 32;

void makeRuns(WmmaAccess &access, bool isColumn) {
  const WmmaFragment &fragment = access.fragment;
  unsigned bits = bitWidth(fragment.type);
  access.bits = bits;
  access.outer = isColumn ? fragment.columns : fragment.rows;
  access.outerBytes = (isColumn ? fragment.rows : fragment.columns) * bits / 8;
  access.alignment = std::min(fragment.registers * fragment.registerBytes, 16u);
  auto inner = [&](const MatrixCoordinate &at) {
    return isColumn ? at.row : at.column;
  };
  unsigned count = fragment.elements;
  bool isContiguous = inner(fragment.place(0, 0, count - 1)) ==
                      inner(fragment.place(0, 0, 0)) + count - 1;
  access.runs = isContiguous ? 1 : count;
  access.runBytes = fragment.registerBytes / access.runs;
  for (unsigned r = 0; r < fragment.distinct; ++r)
    for (unsigned run = 0; run < access.runs; ++run)
      for (unsigned l = 0; l < warpSize; ++l) {
        const MatrixCoordinate &at = fragment.place(r, l, run);
        access.places.push_back({uint8_t(isColumn ? at.column : at.row),
                                 uint8_t(inner(at) * bits / 8)});
      }
}

/// One access of a warp to a matrix in memory.
class WmmaTransfer {
public:
  WmmaTransfer(Warp &warp, const Inst &inst)
      : warp(warp), inst(inst),
        info(*static_cast<const WmmaAccess *>(inst.extra)) {}
  Step run();

private:
  bool locate();
  bool observe(const WmmaRun *runs, const Operand &value);
  uint64_t uniform(const Operand &operand, bool &isUniform) const;

  Warp &warp;
  const Inst &inst;
  const WmmaAccess &info;
  uint64_t base = 0;
  int64_t strideBytes = 0;
  uint8_t *rows[maximalOuter] = {};
};

uint64_t WmmaTransfer::uniform(const Operand &operand, bool &isUniform) const {
  uint64_t value = warp.lane(operand, 0);
  for (unsigned l = 1; l < warpSize; ++l)
    isUniform &= warp.lane(operand, l) == value;
  return value;
}

bool WmmaTransfer::locate() {
  bool isUniform = true;
  const Operand &address = inst.operands[info.address];
  base = uniform(address, isUniform) + uint64_t(inst.immediate);
  if (address.bytes == 4)
    base = uint32_t(base);
  strideBytes = info.outerBytes;
  if (info.stride >= 0)
    strideBytes =
        int64_t(int32_t(uniform(inst.operands[info.stride], isUniform))) *
        info.bits / 8;
  if (!isUniform) {
    warp.error(Report::Kind::InvalidOperation, inst, 0,
               "the lanes of this wmma name different addresses or strides");
    return false;
  }
  for (unsigned i = 0; i < info.outer; ++i) {
    uint64_t at = base + uint64_t(i * strideBytes);
    if (at % info.alignment != 0) {
      warp.error(Report::Kind::Misaligned, inst, 0,
                 "row or column " + Twine(i) + " of this matrix begins at 0x" +
                     Twine::utohexstr(at) + ", which is not a multiple of " +
                     Twine(info.alignment) + " bytes");
      return false;
    }
    rows[i] =
        warp.resolve(inst, info.space, at, info.outerBytes, info.isStore, 0);
    if (!rows[i])
      return false;
  }
  return true;
}

bool WmmaTransfer::observe(const WmmaRun *runs, const Operand &value) {
  if (LLVM_LIKELY(warp.monitor == nullptr))
    return true;
  uint64_t addresses[warpSize];
  for (unsigned l = 0; l < warpSize; ++l)
    addresses[l] =
        base + uint64_t(runs[l].outer * strideBytes) + runs[l].offset;
  Access access;
  access.inst = &inst;
  access.space = info.space;
  access.kind = info.isStore ? AccessKind::Write : AccessKind::Read;
  access.mask = allLanes;
  access.bytes = info.runBytes;
  access.addresses = addresses;
  // A part of a register is not what a plain store writes.
  if (info.isStore && info.runs == 1)
    access.values = &value;
  access.elementBytes = info.runBytes;
  if (!info.isStore)
    access.destination = &value;
  return warp.observe(access);
}

Step WmmaTransfer::run() {
  if (!locate())
    return Step::Error;
  warp.wrote |= info.isStore;
  const unsigned registerBytes = info.fragment.registerBytes;
  const WmmaRun *runs = info.places.data();
  for (unsigned r = 0; r < info.fragment.distinct; ++r) {
    const Operand &value = inst.operands[info.firstRegister + r];
    for (unsigned run = 0; run < info.runs; ++run, runs += warpSize) {
      if (!observe(runs, value))
        return Step::Error;
      uint8_t *lanes = warp.dest<uint8_t>(value) + run * info.runBytes;
      for (unsigned l = 0; l < warpSize; ++l) {
        uint8_t *memory = rows[runs[l].outer] + runs[l].offset;
        uint8_t *part = lanes + l * registerBytes;
        if (info.isStore)
          std::memcpy(memory, part, info.runBytes);
        else
          std::memcpy(part, memory, info.runBytes);
      }
    }
  }
  for (unsigned r = info.fragment.distinct;
       !info.isStore && r < info.fragment.registers; ++r)
    std::memcpy(warp.dest<uint8_t>(inst.operands[r]),
                warp.source<uint8_t>(inst.operands[r % info.fragment.distinct]),
                warpSize * registerBytes);
  return Step::Next;
}

Step wmmaTransferWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  return step == Step::Next ? WmmaTransfer(warp, inst).run() : step;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

struct WmmaProduct {
  MatrixShape shape;
  WmmaFragment a, b, c, d;
  unsigned firstA = 0, firstB = 0, firstC = 0;
  bool saturate = false, exclusiveOr = false;
  Rounding rounding = Rounding::NearestEven;
};

constexpr unsigned maximalOperand = 8 * 128, maximalAccumulator = 256;

Step wmmaProductWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  const auto &info = *static_cast<const WmmaProduct *>(inst.extra);
  auto [m, n, k] = info.shape;
  double a[maximalOperand], b[maximalOperand], d[maximalAccumulator];
  const void *sources[8];
  collectSources(warp, inst, info.firstA, info.firstB, sources);
  info.a.gather(sources, a);
  collectSources(warp, inst, info.firstB, info.firstC, sources);
  info.b.gather(sources, b);
  collectSources(warp, inst, info.firstC, inst.numOperands, sources);
  info.c.gather(sources, d);
  if (info.exclusiveOr)
    xorPopcount(m, n, k, a, b, d);
  else if (info.a.type == Type::F64)
    multiplyAddRounded(info.rounding, m, n, k, a, b, d);
  else
    multiplyAdd(m, n, k, a, b, d);
  void *dests[8];
  collectDests(warp, inst, dests);
  info.d.scatter(d, info.saturate, dests);
  countMacs(warp, uint64_t(m) * n * k);
  return Step::Next;
}

} // namespace

llvm::SmallVector<bool, 2> tile_dialect::emulator::takeLayouts(InstDecoder &d) {
  llvm::SmallVector<bool, 2> layouts;
  for (llvm::StringRef modifier : d.statement.modifiers)
    if ((modifier == "row" || modifier == "col") && d.take(modifier))
      layouts.push_back(modifier == "col");
  return layouts;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static bool failShape(InstDecoder &d, const MatrixShape &shape, Type type) {
  return d.fail("wmma has no m" + Twine(shape.m) + "n" + Twine(shape.n) + "k" +
                Twine(shape.k) + " of ." + typeName(type));
}

/// .sync.aligned, the layouts and the shape, which all forms have.
static bool takeCommon(InstDecoder &d, unsigned numLayouts,
                       llvm::SmallVectorImpl<bool> &layouts,
                       MatrixShape &shape) {
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("wmma needs .sync.aligned");
  auto found = takeLayouts(d);
  layouts.assign(found.begin(), found.end());
  if (layouts.size() != numLayouts)
    return d.fail(numLayouts == 1 ? "wmma needs a layout, .row or .col"
                                  : "wmma.mma needs two layouts, each .row or "
                                    ".col");
  return takeShape(d, shape);
}

static Type registerType(const WmmaFragment &fragment) {
  return fragment.registerBytes == 8 ? Type::F64 : Type::B32;
}

static bool decodeTransfer(InstDecoder &d, WmmaOperand operand, bool isStore) {
  WmmaAccess access;
  llvm::SmallVector<bool, 2> layouts;
  MatrixShape shape;
  d.inst.instructionClass = InstructionClass::MatrixMove;
  if (!takeCommon(d, 1, layouts, shape))
    return false;
  int space = d.takeOneOf({"global", "shared", "shared::cta"});
  access.space = space < 0    ? Space::Generic
                 : space == 0 ? Space::Global
                              : Space::Shared;
  Type type = d.needType();
  if (d.failed())
    return false;
  if (!WmmaFragment::make(shape, operand, type, access.fragment))
    return failShape(d, shape, type);
  bool isSmall = bitWidth(type) < 8;
  if (isSmall && layouts[0] != (operand == WmmaOperand::B))
    return d.fail("A of elements smaller than a byte is .row, B is .col");
  access.isStore = isStore;
  makeRuns(access, layouts[0]);
  if (!d.needOperands(2, 3))
    return false;
  AddressOperand address;
  unsigned registers = access.fragment.registers;
  Type data = registerType(access.fragment);
  if (!isStore && !addDestVector(d, 0, data, registers))
    return false;
  access.address = d.operands.size();
  if (!d.addAddress(isStore ? 0 : 1, address))
    return false;
  access.firstRegister = isStore ? d.operands.size() : 0;
  if (isStore && !addSourceVector(d, 1, data, registers))
    return false;
  if (d.numOperands() == 3) {
    access.stride = d.operands.size();
    if (!d.addSource(2, Type::B32))
      return false;
  }
  d.setExtra(std::move(access));
  return d.finish(wmmaTransferWarp);
}

/// The types are D and C for f16, else D, A, B and C.
static bool takeProductTypes(InstDecoder &d, Type (&types)[4]) {
  llvm::SmallVector<Type, 4> found;
  for (Type type = d.takeType(); type != Type::None; type = d.takeType())
    found.push_back(type);
  if (found.size() == 2)
    found = {found[0], Type::F16, Type::F16, found[1]};
  if (found.size() != 4)
    return d.fail("wmma.mma needs the types of D and C (A and B being f16), or "
                  "those of D, A, B and C");
  std::copy(found.begin(), found.end(), types);
  return true;
}

static bool checkProductTypes(InstDecoder &d, const Type (&types)[4],
                              const MatrixShape &shape) {
  MmaInfo info;
  info.shape = shape;
  info.d = types[0];
  info.a = types[1];
  info.b = types[2];
  info.c = types[3];
  if (types[1] == types[2] && hasTypes(info) && hasWmmaShape(types[1], shape))
    return true;
  return d.fail("wmma.mma has no m" + Twine(shape.m) + "n" + Twine(shape.n) +
                "k" + Twine(shape.k) + " of ." + typeName(types[0]) + "." +
                typeName(types[1]) + "." + typeName(types[2]) + "." +
                typeName(types[3]));
}

static bool takeProductModifiers(InstDecoder &d, WmmaProduct &product,
                                 Type type, const bool (&isColumn)[2]) {
  static constexpr Rounding modes[] = {Rounding::NearestEven, Rounding::Zero,
                                       Rounding::Down, Rounding::Up};
  if (type == Type::F64)
    if (int mode = d.takeOneOf({"rn", "rz", "rm", "rp"}); mode >= 0)
      product.rounding = modes[mode];
  product.saturate = isSmallInteger(type) && d.take("satfinite");
  if (type == Type::B1) {
    int op = d.takeOneOf({"xor", "and"});
    if (op < 0 || !d.take("popc"))
      return d.fail("wmma.mma of .b1 needs .xor.popc or .and.popc");
    product.exclusiveOr = op == 0;
  }
  if (bitWidth(type) < 8 && (isColumn[0] || !isColumn[1]))
    return d.fail("A of elements smaller than a byte is .row, B is .col");
  return true;
}

static bool decodeProduct(InstDecoder &d) {
  WmmaProduct product;
  llvm::SmallVector<bool, 2> layouts;
  Type types[4];
  if (!takeCommon(d, 2, layouts, product.shape) ||
      !takeProductTypes(d, types) ||
      !checkProductTypes(d, types, product.shape) ||
      !takeProductModifiers(d, product, types[1], {layouts[0], layouts[1]}) ||
      !d.needOperands(4))
    return false;
  WmmaFragment *fragments[] = {&product.d, &product.a, &product.b, &product.c};
  constexpr WmmaOperand kinds[] = {WmmaOperand::Accumulator, WmmaOperand::A,
                                   WmmaOperand::B, WmmaOperand::Accumulator};
  unsigned *firsts[] = {nullptr, &product.firstA, &product.firstB,
                        &product.firstC};
  for (unsigned i = 0; i < 4; ++i) {
    WmmaFragment &fragment = *fragments[i];
    if (!WmmaFragment::make(product.shape, kinds[i], types[i], fragment))
      return failShape(d, product.shape, types[i]);
    Type data = registerType(fragment);
    if (firsts[i])
      *firsts[i] = d.operands.size();
    if (i == 0 ? !addDestVector(d, i, data, fragment.registers)
               : !addSourceVector(d, i, data, fragment.registers))
      return false;
  }
  d.setExtra(std::move(product));
  return d.finish(wmmaProductWarp);
}

static bool decodeWmma(InstDecoder &d) {
  if (d.take("mma"))
    return decodeProduct(d);
  bool isStore = d.take("store");
  if (!isStore && !d.take("load"))
    return d.fail("expected wmma.load, wmma.store or wmma.mma");
  if (isStore)
    return d.take("d") ? decodeTransfer(d, WmmaOperand::Accumulator, true)
                       : d.fail("wmma.store needs .d");
  int operand = d.takeOneOf({"a", "b", "c"});
  if (operand < 0)
    return d.fail("wmma.load needs .a, .b or .c");
  return decodeTransfer(d, WmmaOperand(operand), false);
}

void tile_dialect::emulator::registerWmmaOps(OpcodeTable &table) {
  table.add("wmma", decodeWmma, InstructionClass::Matrix);
}
