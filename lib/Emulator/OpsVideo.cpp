//===- OpsVideo.cpp - Video instructions ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Video Instructions": arithmetic on selected bytes and halves of
// 32-bit registers, whose results are saturated, combined with a third operand
// or merged into it.  The scalar forms (vadd …) work on one part of each
// operand, the SIMD forms (vadd2, vadd4 …) on two halves or four bytes, which
// are chosen from the eight bytes of both operands.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace tile_dialect::emulator;

namespace {

enum class VideoOp : uint8_t {
  Add,
  Sub,
  AbsDiff,
  Min,
  Max,
  Shl,
  Shr,
  Average,
  Set,
};
enum class Second : uint8_t { None, Add, Min, Max };
enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// A part of a register: its width in bits and the position of its lowest bit.
struct Part {
  unsigned bits = 32, shift = 0;
};

struct VideoInfo {
  VideoOp op = VideoOp::Add;
  Second second = Second::None;
  Comparison comparison = Comparison::Eq;
  bool signedResult = false, signedA = false, signedB = false;
  bool sat = false, wraps = false;
  // Scalar forms.
  Part a, b, d;
  bool merges = false;
  // SIMD forms: how many elements, which of the result are written, and for
  // each the element of {b, a} that is taken.
  unsigned elements = 1, mask = 0;
  uint8_t selectA[4] = {}, selectB[4] = {};
  // vmad.
  bool negateA = false, negateB = false, negateC = false, plusOne = false;
  unsigned scale = 0;
};

int64_t extend(uint64_t bits, unsigned width, bool isSigned) {
  bits &= (uint64_t(1) << width) - 1;
  if (isSigned && bits >> (width - 1))
    return int64_t(bits) - (int64_t(1) << width);
  return bits;
}

int64_t select(uint32_t value, Part part, bool isSigned) {
  return extend(value >> part.shift, part.bits, isSigned);
}

int64_t clampTo(__int128 value, unsigned bits, bool isSigned) {
  __int128 high =
      isSigned ? (__int128(1) << (bits - 1)) - 1 : (__int128(1) << bits) - 1;
  __int128 low = isSigned ? -high - 1 : 0;
  return int64_t(value > high ? high : value < low ? low : value);
}

bool holds(Comparison comparison, int64_t a, int64_t b) {
  switch (comparison) {
  case Comparison::Eq:
    return a == b;
  case Comparison::Ne:
    return a != b;
  case Comparison::Lt:
    return a < b;
  case Comparison::Le:
    return a <= b;
  case Comparison::Gt:
    return a > b;
  case Comparison::Ge:
    break;
  }
  return a >= b;
}

int64_t compute(const VideoInfo &info, int64_t a, int64_t b) {
  switch (info.op) {
  case VideoOp::Add:
    return a + b;
  case VideoOp::Sub:
    return a - b;
  case VideoOp::AbsDiff:
    return a < b ? b - a : a - b;
  case VideoOp::Min:
    return a < b ? a : b;
  case VideoOp::Max:
    return a < b ? b : a;
  case VideoOp::Average:
    return (a + b + (a + b >= 0)) >> 1;
  case VideoOp::Set:
    return holds(info.comparison, a, b);
  case VideoOp::Shl:
  case VideoOp::Shr:
    break;
  }
  int64_t count = info.wraps ? b & 31 : std::min<int64_t>(b, 32);
  return info.op == VideoOp::Shl ? int64_t(uint64_t(a) << count) : a >> count;
}

uint32_t combine(const VideoInfo &info, int64_t value, uint32_t c) {
  int64_t first = extend(uint64_t(value), 32, info.signedResult);
  int64_t third = extend(c, 32, info.signedResult);
  switch (info.second) {
  case Second::None:
    break;
  case Second::Add:
    return uint32_t(value) + c;
  case Second::Min:
    return uint32_t(first < third ? first : third);
  case Second::Max:
    return uint32_t(first < third ? third : first);
  }
  return uint32_t(value);
}

/// Replaces a part of c.
uint32_t merge(uint32_t c, int64_t value, Part part) {
  uint32_t mask = uint32_t(((uint64_t(1) << part.bits) - 1) << part.shift);
  return (c & ~mask) | (uint32_t(value) << part.shift & mask);
}

Step scalarVideo(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const VideoInfo *>(inst.extra);
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  const uint32_t *a = warp.source<uint32_t>(inst.operands[1]);
  const uint32_t *b = warp.source<uint32_t>(inst.operands[2]);
  const uint32_t *c = warp.source<uint32_t>(inst.operands[3]);
  eachLane(mask, [&](unsigned l) {
    int64_t value = compute(info, select(a[l], info.a, info.signedA),
                            select(b[l], info.b, info.signedB));
    if (info.sat)
      value = clampTo(value, info.d.bits, info.signedResult);
    d[l] =
        info.merges ? merge(c[l], value, info.d) : combine(info, value, c[l]);
  });
  return Step::Next;
}

Step simdVideo(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const VideoInfo *>(inst.extra);
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  const uint32_t *a = warp.source<uint32_t>(inst.operands[1]);
  const uint32_t *b = warp.source<uint32_t>(inst.operands[2]);
  const uint32_t *c = warp.source<uint32_t>(inst.operands[3]);
  unsigned bits = 32 / info.elements;
  eachLane(mask, [&](unsigned l) {
    uint64_t both = uint64_t(b[l]) << 32 | a[l];
    uint32_t result = c[l];
    for (unsigned i = 0; i < info.elements; ++i) {
      if (!(info.mask >> i & 1))
        continue;
      int64_t value = compute(
          info, extend(both >> (info.selectA[i] * bits), bits, info.signedA),
          extend(both >> (info.selectB[i] * bits), bits, info.signedB));
      if (info.sat)
        value = clampTo(value, bits, info.signedResult);
      result = info.second == Second::Add
                   ? result + uint32_t(value)
                   : merge(result, value, Part{bits, bits * i});
    }
    d[l] = result;
  });
  return Step::Next;
}

Step madVideo(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const VideoInfo *>(inst.extra);
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  const uint32_t *a = warp.source<uint32_t>(inst.operands[1]);
  const uint32_t *b = warp.source<uint32_t>(inst.operands[2]);
  const uint32_t *c = warp.source<uint32_t>(inst.operands[3]);
  bool negates = info.negateA != info.negateB;
  bool isSigned = info.signedA || info.signedB || negates || info.negateC;
  eachLane(mask, [&](unsigned l) {
    __int128 sum = __int128(select(a[l], info.a, info.signedA)) *
                   select(b[l], info.b, info.signedB);
    sum = negates ? -sum : sum;
    int64_t third = extend(c[l], 32, isSigned);
    sum += info.negateC ? -third : third;
    sum = (sum + info.plusOne) >> info.scale;
    d[l] = uint32_t(info.sat ? clampTo(sum, 32, isSigned) : int64_t(sum));
  });
  return Step::Next;
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Splits `%r.b0` into the register and the selector behind the dot.
static OperandSyntax splitSelector(const OperandSyntax &syntax,
                                   llvm::StringRef &selector) {
  OperandSyntax result = syntax;
  selector = "";
  size_t dot = syntax.name.rfind('.');
  if (syntax.kind == OperandSyntax::Kind::Name &&
      dot != llvm::StringRef::npos) {
    selector = syntax.name.substr(dot + 1);
    result.name = syntax.name.take_front(dot);
  }
  result.negated = false;
  return result;
}

static bool parsePart(InstDecoder &d, llvm::StringRef selector, Part &part) {
  if (selector.empty())
    return true;
  unsigned index = selector.back() - '0';
  bool isByte = selector[0] == 'b';
  if (selector.size() != 2 || (!isByte && selector[0] != 'h') ||
      index >= (isByte ? 4u : 2u))
    return d.fail("'." + selector + "' is no part of a register");
  part.bits = isByte ? 8 : 16;
  part.shift = index * part.bits;
  return true;
}

/// `.hxy` or `.bxyzw`: the highest element first.
static bool parseSelection(InstDecoder &d, llvm::StringRef selector,
                           unsigned elements, unsigned first, uint8_t *result) {
  for (unsigned i = 0; i < elements; ++i)
    result[i] = first + i;
  if (selector.empty())
    return true;
  bool good = selector.size() == elements + 1 &&
              selector[0] == (elements == 2 ? 'h' : 'b');
  for (unsigned i = 0; good && i < elements; ++i) {
    unsigned element = selector[elements - i] - '0';
    good = element < 2 * elements;
    result[i] = element;
  }
  return good || d.fail("'." + selector + "' is no selection of elements");
}

/// `.h10`, `.b20` …: the elements of the result that are written.
static bool parseMask(InstDecoder &d, llvm::StringRef selector,
                      unsigned elements, unsigned &mask) {
  mask = (1u << elements) - 1;
  if (selector.empty())
    return true;
  bool good =
      selector.size() >= 2 && selector[0] == (elements == 2 ? 'h' : 'b');
  mask = 0;
  for (char digit : selector.drop_front(1)) {
    unsigned element = digit - '0';
    good &= element < elements;
    mask |= good ? 1u << element : 0;
  }
  return good || d.fail("'." + selector + "' is no mask of elements");
}

static bool takeSign(InstDecoder &d, bool &isSigned) {
  Type type = d.needType();
  isSigned = type == Type::S32;
  return isSigned || type == Type::U32 ||
         d.fail("video instructions take .u32 and .s32");
}

static bool takeTypes(InstDecoder &d, VideoInfo &info) {
  // vset has no type of its result: it is 0 or 1.
  if (info.op == VideoOp::Set)
    return takeSign(d, info.signedA) && takeSign(d, info.signedB);
  return takeSign(d, info.signedResult) && takeSign(d, info.signedA) &&
         takeSign(d, info.signedB);
}

static bool takeComparison(InstDecoder &d, VideoInfo &info) {
  if (info.op != VideoOp::Set)
    return true;
  int index = d.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge"});
  info.comparison = Comparison(index);
  return index >= 0 || d.fail("expected a comparison");
}

/// Adds d, a and b without their selectors, and c or zero.
static bool addVideoOperands(InstDecoder &d, llvm::StringRef selectors[3],
                             bool needsThird) {
  if (!d.needOperands(needsThird ? 4 : 3))
    return false;
  for (const OperandSyntax &operand : d.statement.operands)
    if (operand.negated && d.statement.opcode != "vmad")
      return d.fail("only vmad negates its operands");
  OperandSyntax syntax[3];
  for (unsigned i = 0; i < 3; ++i)
    syntax[i] = splitSelector(d.statement.operands[i], selectors[i]);
  if (!d.addDest(syntax[0], Type::U32) || !d.addSource(syntax[1], Type::U32) ||
      !d.addSource(syntax[2], Type::U32))
    return false;
  if (!needsThird)
    return d.addConstant(Type::U32, 0);
  OperandSyntax third = d.statement.operands[3];
  third.negated = false;
  return d.addSource(third, Type::U32);
}

template <VideoOp op> static bool decodeScalar(InstDecoder &d) {
  VideoInfo info;
  info.op = op;
  if (!takeTypes(d, info) || !takeComparison(d, info))
    return false;
  info.sat = d.take("sat");
  if (op == VideoOp::Shl || op == VideoOp::Shr) {
    int mode = d.takeOneOf({"clamp", "wrap"});
    if (mode < 0)
      return d.fail("expected .clamp or .wrap");
    info.wraps = mode == 1;
  }
  info.second = Second(1 + d.takeOneOf({"add", "min", "max"}));
  if (!d.needOperands(3, 4))
    return false;
  llvm::StringRef selectors[3];
  splitSelector(d.statement.operands[0], selectors[0]);
  info.merges = !selectors[0].empty();
  if (info.merges && info.second != Second::None)
    return d.fail("a result is either merged or combined");
  if (!addVideoOperands(d, selectors,
                        info.merges || info.second != Second::None) ||
      !parsePart(d, selectors[0], info.d) ||
      !parsePart(d, selectors[1], info.a) ||
      !parsePart(d, selectors[2], info.b))
    return false;
  d.setExtra(info);
  return d.finish(scalarVideo);
}

template <VideoOp op, unsigned elements>
static bool decodeSimd(InstDecoder &d) {
  VideoInfo info;
  info.op = op;
  info.elements = elements;
  if (!takeTypes(d, info) || !takeComparison(d, info))
    return false;
  info.sat = d.take("sat");
  info.second = d.take("add") ? Second::Add : Second::None;
  if (info.sat && info.second == Second::Add)
    return d.fail("sums of elements are not saturated");
  llvm::StringRef selectors[3];
  if (!addVideoOperands(d, selectors, true) ||
      !parseMask(d, selectors[0], elements, info.mask) ||
      !parseSelection(d, selectors[1], elements, 0, info.selectA) ||
      !parseSelection(d, selectors[2], elements, elements, info.selectB))
    return false;
  d.setExtra(info);
  return d.finish(simdVideo);
}

static bool decodeVmad(InstDecoder &d) {
  VideoInfo info;
  if (!takeTypes(d, info))
    return false;
  info.plusOne = d.take("po");
  info.sat = d.take("sat");
  int scale = d.takeOneOf({"shr7", "shr15"});
  info.scale = scale < 0 ? 0 : scale == 0 ? 7 : 15;
  llvm::StringRef selectors[3];
  if (!addVideoOperands(d, selectors, true) ||
      !parsePart(d, selectors[1], info.a) ||
      !parsePart(d, selectors[2], info.b))
    return false;
  info.negateA = d.statement.operands[1].negated;
  info.negateB = d.statement.operands[2].negated;
  info.negateC = d.statement.operands[3].negated;
  if (info.negateC && (info.plusOne || info.negateA != info.negateB))
    return d.fail("vmad negates the product or the sum's other operand, and "
                  "neither with .po");
  d.setExtra(info);
  return d.finish(madVideo);
}

void tile_dialect::emulator::registerVideoOps(OpcodeTable &table) {
  constexpr auto integer = InstructionClass::Integer;
  table.add("vadd", decodeScalar<VideoOp::Add>, integer);
  table.add("vsub", decodeScalar<VideoOp::Sub>, integer);
  table.add("vabsdiff", decodeScalar<VideoOp::AbsDiff>, integer);
  table.add("vmin", decodeScalar<VideoOp::Min>, integer);
  table.add("vmax", decodeScalar<VideoOp::Max>, integer);
  table.add("vshl", decodeScalar<VideoOp::Shl>, integer);
  table.add("vshr", decodeScalar<VideoOp::Shr>, integer);
  table.add("vset", decodeScalar<VideoOp::Set>, integer);
  table.add("vmad", decodeVmad, integer);
  table.add("vadd2", decodeSimd<VideoOp::Add, 2>, integer);
  table.add("vsub2", decodeSimd<VideoOp::Sub, 2>, integer);
  table.add("vavrg2", decodeSimd<VideoOp::Average, 2>, integer);
  table.add("vabsdiff2", decodeSimd<VideoOp::AbsDiff, 2>, integer);
  table.add("vmin2", decodeSimd<VideoOp::Min, 2>, integer);
  table.add("vmax2", decodeSimd<VideoOp::Max, 2>, integer);
  table.add("vset2", decodeSimd<VideoOp::Set, 2>, integer);
  table.add("vadd4", decodeSimd<VideoOp::Add, 4>, integer);
  table.add("vsub4", decodeSimd<VideoOp::Sub, 4>, integer);
  table.add("vavrg4", decodeSimd<VideoOp::Average, 4>, integer);
  table.add("vabsdiff4", decodeSimd<VideoOp::AbsDiff, 4>, integer);
  table.add("vmin4", decodeSimd<VideoOp::Min, 4>, integer);
  table.add("vmax4", decodeSimd<VideoOp::Max, 4>, integer);
  table.add("vset4", decodeSimd<VideoOp::Set, 4>, integer);
}
