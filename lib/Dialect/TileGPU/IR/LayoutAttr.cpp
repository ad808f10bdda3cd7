//===- LayoutAttr.cpp - The layout attribute --------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

static constexpr StringLiteral kDimNames[] = {"register", "lane", "warp",
                                              "block"};

//===----------------------------------------------------------------------===//
// Text form
//===----------------------------------------------------------------------===//

/// Parses `[[0, 1], [0, 2]]`.
static ParseResult parseBases(AsmParser &parser, BasisList &bases) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    Basis &basis = bases.emplace_back();
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parser.parseInteger(basis.emplace_back());
    });
  });
}

/// The rank of the tensor that bases are for: that of the first one, or 0.
static unsigned inferRank(const BasisList (&bases)[kNumHardwareDims]) {
  for (const BasisList &list : bases)
    if (!list.empty())
      return list.front().size();
  return 0;
}

/// Parses `{register = [...], lane = [...], warp = [...], block = [...]}`, of
/// which the last may be left out.
Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  BasisList bases[kNumHardwareDims];
  if (parser.parseLess() || parser.parseLBrace())
    return {};
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim) {
    bool isBlock = dim == static_cast<unsigned>(HardwareDim::Block);
    if (isBlock && failed(parser.parseOptionalComma()))
      break;
    if (dim > 0 && !isBlock && parser.parseComma())
      return {};
    if (parser.parseKeyword(kDimNames[dim]) || parser.parseEqual() ||
        parseBases(parser, bases[dim]))
      return {};
  }
  if (parser.parseRBrace() || parser.parseGreater())
    return {};
  unsigned rank = inferRank(bases);
  Layout layout(rank, bases[0], bases[1], bases[2], bases[3]);
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim) {
    const BasisList &bases =
        getLayout().getBases(static_cast<HardwareDim>(dim));
    if (dim == static_cast<unsigned>(HardwareDim::Block) && bases.empty())
      break;
    printer << (dim ? ", " : "") << kDimNames[dim] << " = [";
    llvm::interleaveComma(bases, printer, [&](const Basis &basis) {
      printer << '[';
      llvm::interleaveComma(basis, printer);
      printer << ']';
    });
    printer << ']';
  }
  printer << "}>";
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 const Layout &layout) {
  if (std::optional<std::string> message = layout.check())
    return emitError() << *message;
  return success();
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (getRank() != shape.size())
    return emitError() << "expected a layout of rank " << shape.size()
                       << " for a tensor of that rank, but found one of rank "
                       << getRank();
  if (ShapedType::isDynamicShape(shape))
    return emitError() << "expected a static shape for a tensor with a layout";
  if (std::optional<std::string> message = getLayout().checkShape(shape))
    return emitError() << *message;
  return success();
}

int64_t LayoutAttr::getNumLanes() const {
  return getLayout().getSize(HardwareDim::Lane);
}

int64_t LayoutAttr::getNumWarps() const {
  return getLayout().getSize(HardwareDim::Warp);
}

int64_t LayoutAttr::getNumBlocks() const {
  return getLayout().getSize(HardwareDim::Block);
}
