//===- Lexer.h - Tokens of PTX text ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_LEXER_H
#define TILEDIALECT_LIB_EMULATOR_LEXER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace tile_dialect::emulator {

struct Token {
  enum class Kind : uint8_t {
    End,
    Error,
    Identifier, ///< a name, `%` and `$` included
    DotWord,    ///< `.global`, `.L2::128B`; the text includes the dot
    Integer,
    Float,
    String, ///< the text is without the quotes
    Punctuation,
  };
  Kind kind = Kind::End;
  llvm::StringRef text;
  uint32_t line = 1;
  /// Integer: the value.  Float: the bits, of `floatBits` width.
  uint64_t value = 0;
  bool isUnsigned = false;
  unsigned floatBits = 64;

  bool is(Kind k) const { return kind == k; }
  bool is(char c) const {
    return kind == Kind::Punctuation && text.size() == 1 && text[0] == c;
  }
};

/// Splits PTX text into tokens; comments and white space vanish.
class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : text(text) {}

  Token next();
  /// What was wrong with the last Error token.
  const std::string &errorMessage() const { return message; }

private:
  bool skipSpace();
  Token lexNumber();
  Token lexWord();
  Token lexString();
  Token make(Token::Kind kind, size_t begin);
  Token fail(const char *why);

  llvm::StringRef text;
  size_t position = 0;
  uint32_t line = 1;
  std::string message;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_LEXER_H
