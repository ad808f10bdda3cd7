//===- EnumKeyword.h - Enums as bare keywords in op syntax ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `custom<EnumKeyword>($attribute)` of an assembly format. To be included where
// the definitions of ops are, with `using tile::parseEnumKeyword` and its twin.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_ENUMKEYWORD_H
#define TILEDIALECT_DIALECT_TILE_IR_ENUMKEYWORD_H

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::tile {

/// Parse the bare keyword of an enum, as in `cache(ca)`. The parser and printer
/// of an enum attribute are for `#tile<cache ca>` and put a space in front.
template <typename EnumAttr>
ParseResult parseEnumKeyword(OpAsmParser &parser, EnumAttr &attribute) {
  using Enum = decltype(attribute.getValue());
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    if (std::optional<Enum> value = symbolizeEnum<Enum>(keyword)) {
      attribute = EnumAttr::get(parser.getContext(), *value);
      return success();
    }
  InFlightDiagnostic diag = parser.emitError(loc, "expected one of ");
  // The cases are numbered without gaps; the name of what is none is empty.
  for (uint32_t i = 0;; ++i) {
    StringRef name = stringifyEnum(static_cast<Enum>(i));
    if (name.empty())
      break;
    diag << (i ? ", " : "") << name;
  }
  if (!keyword.empty())
    diag << "; found " << keyword;
  return diag;
}

template <typename EnumAttr>
void printEnumKeyword(OpAsmPrinter &printer, Operation *, EnumAttr attribute) {
  printer << stringifyEnum(attribute.getValue());
}

} // namespace mlir::tile

#endif // TILEDIALECT_DIALECT_TILE_IR_ENUMKEYWORD_H
