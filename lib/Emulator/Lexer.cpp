//===- Lexer.cpp - Tokens of PTX text ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace tile_dialect::emulator;

static bool isWordStart(char c) {
  return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%';
}

static bool isWordPart(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$';
}

Token Lexer::make(Token::Kind kind, size_t begin) {
  Token token;
  token.kind = kind;
  token.text = text.substr(begin, position - begin);
  token.line = line;
  return token;
}

Token Lexer::fail(const char *why) {
  message = why;
  return make(Token::Kind::Error, position);
}

/// Skips white space and comments; false if a comment is not closed.
bool Lexer::skipSpace() {
  while (position < text.size()) {
    char c = text[position];
    if (c == '\n') {
      ++line;
      ++position;
    } else if (llvm::isSpace(c)) {
      ++position;
    } else if (text.substr(position).starts_with("//")) {
      position = std::min(text.find('\n', position), text.size());
    } else if (text.substr(position).starts_with("/*")) {
      size_t end = text.find("*/", position + 2);
      if (end == llvm::StringRef::npos)
        return false;
      line += text.slice(position, end).count('\n');
      position = end + 2;
    } else {
      return true;
    }
  }
  return true;
}

Token Lexer::next() {
  if (!skipSpace())
    return fail("this comment is not closed");
  if (position >= text.size())
    return make(Token::Kind::End, position);
  char c = text[position];
  if (llvm::isDigit(c))
    return lexNumber();
  if (isWordStart(c))
    return lexWord();
  if (c == '"')
    return lexString();
  size_t begin = position++;
  if (c == '.' && position < text.size() &&
      (llvm::isAlnum(text[position]) || text[position] == '_')) {
    // A number such as ".5" does not occur: PTX wants a digit before the dot.
    while (position < text.size()) {
      if (isWordPart(text[position]))
        ++position;
      else if (text.substr(position).starts_with("::"))
        position += 2;
      else
        break;
    }
    return make(Token::Kind::DotWord, begin);
  }
  if (llvm::StringRef("{}()[],;:+-*/!@=<>|&~?^.%").contains(c))
    return make(Token::Kind::Punctuation, begin);
  --position;
  return fail("this character does not belong in PTX");
}

Token Lexer::lexWord() {
  size_t begin = position++;
  while (position < text.size() && isWordPart(text[position]))
    ++position;
  return make(Token::Kind::Identifier, begin);
}

Token Lexer::lexString() {
  size_t begin = ++position;
  while (position < text.size() && text[position] != '"' &&
         text[position] != '\n')
    ++position;
  if (position >= text.size() || text[position] != '"')
    return fail("this string is not closed");
  Token token = make(Token::Kind::String, begin);
  ++position;
  return token;
}

Token Lexer::lexNumber() {
  size_t begin = position;
  llvm::StringRef rest = text.substr(position);
  auto hexFloat = [&](unsigned digits) {
    if (rest.size() < digits + 2)
      return fail("a hexadecimal float needs 8 (0f) or 16 (0d) digits");
    uint64_t value;
    if (rest.substr(2, digits).getAsInteger(16, value))
      return fail("a hexadecimal float needs 8 (0f) or 16 (0d) digits");
    position += digits + 2;
    Token token = make(Token::Kind::Float, begin);
    token.value = value;
    token.floatBits = digits * 4;
    return token;
  };
  if (rest.starts_with_insensitive("0f"))
    return hexFloat(8);
  if (rest.starts_with_insensitive("0d"))
    return hexFloat(16);

  unsigned radix = 10;
  if (rest.starts_with_insensitive("0x")) {
    radix = 16;
    position += 2;
  } else if (rest.starts_with_insensitive("0b")) {
    radix = 2;
    position += 2;
  }
  size_t digits = position;
  while (position < text.size() &&
         (radix == 16 ? llvm::isHexDigit(text[position])
                      : llvm::isDigit(text[position])))
    ++position;
  if (radix == 10 && position < text.size() &&
      (text[position] == '.' || text[position] == 'e' ||
       text[position] == 'E')) {
    if (text[position] == '.')
      ++position;
    while (position < text.size() && llvm::isDigit(text[position]))
      ++position;
    if (position < text.size() &&
        (text[position] == 'e' || text[position] == 'E')) {
      ++position;
      if (position < text.size() &&
          (text[position] == '+' || text[position] == '-'))
        ++position;
      while (position < text.size() && llvm::isDigit(text[position]))
        ++position;
    }
    Token token = make(Token::Kind::Float, begin);
    double value;
    if (token.text.getAsDouble(value))
      return fail("this is not a number");
    std::memcpy(&token.value, &value, sizeof(value));
    return token;
  }
  llvm::StringRef body = text.slice(digits, position);
  if (radix == 10 && body.size() > 1 && body[0] == '0')
    radix = 8;
  uint64_t value = 0;
  if (body.getAsInteger(radix, value))
    return fail("this is not a number of 64 bits");
  bool isUnsigned = position < text.size() && text[position] == 'U';
  if (isUnsigned)
    ++position;
  if (position < text.size() && isWordPart(text[position]))
    return fail("this is not a number");
  Token token = make(Token::Kind::Integer, begin);
  token.value = value;
  token.isUnsigned = isUnsigned;
  return token;
}
