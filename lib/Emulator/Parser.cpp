//===- Parser.cpp - Parser of PTX text ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "Syntax.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <utility>

using namespace tile_dialect::emulator;
using llvm::StringRef;
using llvm::Twine;

llvm::Error tile_dialect::emulator::syntaxError(const ModuleSyntax &syntax,
                                                uint32_t line,
                                                const Twine &message) {
  Report report;
  report.kind = Report::Kind::Syntax;
  report.message = message.str();
  report.where.ptxFile = syntax.fileName;
  report.where.ptxLine = line;
  StringRef rest = syntax.text;
  for (uint32_t i = 1; i < line && !rest.empty(); ++i)
    rest = rest.split('\n').second;
  report.where.ptxText = rest.split('\n').first.trim().str();
  return llvm::make_error<ReportError>(std::move(report));
}

namespace {

/// A recursive-descent parser.  Each parse function returns true on failure,
/// after it has set the message.
class Parser {
public:
  explicit Parser(ModuleSyntax &module) : module(module), lexer(module.text) {
    advance();
  }

  llvm::Error run();

private:
  // Tokens.
  void advance() {
    previousEnd = token.text.end();
    token = lexer.next();
  }
  bool fail(const Twine &text);
  bool failHere(const Twine &text) {
    return fail(text + ", found " + describeToken());
  }
  std::string describeToken() const;
  /// The lexer gives nothing more: the text has ended or is malformed.
  bool atEnd() const {
    return token.is(Token::Kind::End) || token.is(Token::Kind::Error);
  }
  bool isWord(StringRef word) const {
    return token.is(Token::Kind::DotWord) && token.text == word;
  }
  bool acceptWord(StringRef word) {
    if (!isWord(word))
      return false;
    advance();
    return true;
  }
  bool accept(char c) {
    if (!token.is(c))
      return false;
    advance();
    return true;
  }
  bool expect(char c) {
    if (accept(c))
      return false;
    return failHere(Twine("expected '") + Twine(c) + "'");
  }
  bool parseInteger(uint64_t &value, const char *what);
  bool parseDim3(Dim3 &dim);
  bool parseDim3(std::optional<Dim3> &dim) {
    dim.emplace();
    return parseDim3(*dim);
  }

  // Module level.
  bool parseTopLevel();
  bool skipSection();
  bool parseFile();
  bool parseFunction(bool isEntry, bool isExtern, bool isWeak);
  bool parseFunctionDirectives(FunctionSyntax &function);
  bool parseParameters(std::vector<Variable> &list);
  bool parseVariable(Variable &variable, Space space, bool isExtern);
  bool parseVariables(Space space, bool isExtern);
  bool parseDeclarator(Variable &variable);
  bool parseInitializer(Variable &variable);
  bool parseInitialValue(std::vector<InitialValue> &list);

  // Function level.
  bool parseBody();
  bool parseStatement();
  bool parseDirectiveInBody();
  bool parseRegisters();
  bool parseLoc();
  bool parsePrototype(StringRef name);
  bool parseBranchTargets(StringRef name);
  bool parseInstruction(uint32_t line, const char *begin);
  bool declareName(StringRef name);
  Scope &scope() { return function->scopes[scopeIndex]; }

  // Operands.
  bool parseOperand(OperandSyntax &operand);
  bool parsePrimary(OperandSyntax &operand);
  bool parseOperandList(std::vector<OperandSyntax> &list, char close);
  bool parseAddress(OperandSyntax &operand);
  bool parseConstant(int64_t &value, bool &isUnsigned, int minPrecedence);
  bool parseConstantAtom(int64_t &value, bool &isUnsigned);
  StringRef parseDottedName();

  ModuleSyntax &module;
  Lexer lexer;
  Token token;
  const char *previousEnd = nullptr;
  /// What a pragma says of the next instruction.
  uint32_t usedBytesMask = 0;
  FunctionSyntax *function = nullptr;
  uint32_t scopeIndex = 0;
  uint32_t sourceIndex = 0;
  unsigned depth = 0;
  std::string message;
  uint32_t messageLine = 0;
};

} // namespace

/// Nested expressions and braces beyond this depth are refused, so that no
/// input can exhaust the stack.
static constexpr unsigned maximalDepth = 200;

bool Parser::fail(const Twine &text) {
  if (message.empty()) {
    message = text.str();
    messageLine = token.line;
  }
  return true;
}

std::string Parser::describeToken() const {
  if (token.is(Token::Kind::End))
    return "the end of the file";
  if (token.is(Token::Kind::Error))
    return "an error (" + lexer.errorMessage() + ")";
  return ("'" + token.text + "'").str();
}

llvm::Error Parser::run() {
  while (!token.is(Token::Kind::End))
    if (parseTopLevel())
      return syntaxError(module, messageLine, message);
  return llvm::Error::success();
}

bool Parser::parseInteger(uint64_t &value, const char *what) {
  if (!token.is(Token::Kind::Integer))
    return failHere(Twine("expected ") + what);
  value = token.value;
  advance();
  return false;
}

bool Parser::parseDim3(Dim3 &dim) {
  uint32_t *parts[] = {&dim.x, &dim.y, &dim.z};
  for (unsigned i = 0; i < 3; ++i) {
    if (i > 0 && !accept(','))
      break;
    uint64_t value;
    if (parseInteger(value, "an extent"))
      return true;
    if (value == 0 || value > ~0u)
      return fail("an extent must be positive and fit 32 bits");
    *parts[i] = value;
  }
  return false;
}

bool Parser::skipSection() {
  // The name is a dotted word, at times followed by more of it.
  while (!token.is('{')) {
    if (atEnd())
      return failHere("expected '{' of a section");
    advance();
  }
  advance();
  while (!accept('}')) {
    if (atEnd())
      return failHere("expected '}' of a section");
    advance();
  }
  return false;
}

bool Parser::parseFile() {
  uint64_t index;
  if (parseInteger(index, "a file number"))
    return true;
  if (!token.is(Token::Kind::String))
    return failHere("expected a file name");
  module.sourceFiles.push_back({uint32_t(index), token.text});
  advance();
  while (accept(',')) {
    uint64_t ignored;
    if (parseInteger(ignored, "a time stamp or size"))
      return true;
  }
  return false;
}

bool Parser::parseTopLevel() {
  if (acceptWord(".version")) {
    if (!token.is(Token::Kind::Float) && !token.is(Token::Kind::Integer))
      return failHere("expected a version number");
    double version;
    if (token.text.getAsDouble(version) || version > 9.05)
      return fail("PTX ISA version " + token.text +
                  " is newer than 9.0, the newest that the emulator knows");
    advance();
    return false;
  }
  if (acceptWord(".target")) {
    if (!token.is(Token::Kind::Identifier))
      return failHere("expected a target");
    module.target = token.text;
    advance();
    while (accept(',')) {
      if (!token.is(Token::Kind::Identifier))
        return failHere("expected a target option");
      advance();
    }
    return false;
  }
  if (acceptWord(".address_size")) {
    uint64_t size;
    if (parseInteger(size, "32 or 64"))
      return true;
    return size != 64 && fail("only 64-bit addresses are emulated");
  }
  if (acceptWord(".file"))
    return parseFile();
  if (acceptWord(".section"))
    return skipSection();
  if (acceptWord(".pragma")) {
    if (!token.is(Token::Kind::String))
      return failHere("expected a string");
    advance();
    return expect(';');
  }
  if (accept(';'))
    return false;

  bool isExtern = false, isWeak = false;
  while (true) {
    if (acceptWord(".extern"))
      isExtern = true;
    else if (acceptWord(".weak") || acceptWord(".common"))
      isWeak = true;
    else if (!acceptWord(".visible"))
      break;
  }
  if (acceptWord(".entry"))
    return parseFunction(/*isEntry=*/true, isExtern, isWeak);
  if (acceptWord(".func"))
    return parseFunction(/*isEntry=*/false, isExtern, isWeak);
  if (acceptWord(".global"))
    return parseVariables(Space::Global, isExtern);
  if (acceptWord(".const"))
    return parseVariables(Space::Const, isExtern);
  if (acceptWord(".shared"))
    return parseVariables(Space::Shared, isExtern);
  if (acceptWord(".local"))
    return parseVariables(Space::Local, isExtern);
  return failHere("expected a directive of a module");
}

/// `.align 8 .b8 name[16] = {...}` after the state space.
bool Parser::parseVariable(Variable &variable, Space space, bool isExtern) {
  variable.space = space;
  variable.isExtern = isExtern;
  variable.line = token.line;
  unsigned vector = 1;
  uint64_t align = 0;
  bool hasType = false;
  while (token.is(Token::Kind::DotWord)) {
    if (acceptWord(".align")) {
      if (parseInteger(align, "an alignment"))
        return true;
      if (align == 0 || (align & (align - 1)) || align > 65536)
        return fail("an alignment must be a power of two up to 65536");
    } else if (acceptWord(".v2")) {
      vector = 2;
    } else if (acceptWord(".v4")) {
      vector = 4;
    } else if (acceptWord(".ptr")) {
      // `.ptr .space .align n` tells of the pointee, not of the parameter.
      if (isWord(".global") || isWord(".shared") || isWord(".const") ||
          isWord(".local"))
        advance();
      if (acceptWord(".align")) {
        uint64_t ignored;
        if (parseInteger(ignored, "an alignment"))
          return true;
      }
    } else if (acceptWord(".attribute")) {
      if (expect('('))
        return true;
      while (!accept(')')) {
        if (atEnd())
          return failHere("expected ')'");
        advance();
      }
    } else {
      Type type = parseType(token.text.drop_front());
      if (type == Type::None || hasType)
        return failHere("expected a type");
      variable.type = type;
      hasType = true;
      advance();
    }
  }
  if (!hasType)
    return failHere("expected a type");
  uint64_t element = std::max(1u, bitWidth(variable.type) / 8) * vector;
  variable.count = vector;
  variable.align = align ? align : element;
  return parseDeclarator(variable);
}

/// `name[4][2] = {...}`.
bool Parser::parseDeclarator(Variable &variable) {
  if (!token.is(Token::Kind::Identifier))
    return failHere("expected a name");
  variable.name = token.text;
  variable.line = token.line;
  advance();
  bool unsized = false;
  while (accept('[')) {
    if (accept(']')) {
      unsized = true;
      continue;
    }
    uint64_t extent;
    if (parseInteger(extent, "an array extent"))
      return true;
    if (extent > (uint64_t(1) << 40) ||
        variable.count * extent > (uint64_t(1) << 40))
      return fail("this array is too large");
    variable.count *= extent;
    if (expect(']'))
      return true;
  }
  uint64_t element = std::max(1u, bitWidth(variable.type) / 8);
  if (accept('=') && parseInitializer(variable))
    return true;
  if (unsized) {
    uint64_t known = variable.initializer.size();
    variable.count = known;
    variable.isExtern |= known == 0;
  }
  variable.bytes = variable.count * element;
  if (variable.initializer.size() > variable.count)
    return fail("more initial values than elements in '" + variable.name + "'");
  return false;
}

bool Parser::parseInitializer(Variable &variable) {
  if (!accept('{'))
    return parseInitialValue(variable.initializer);
  unsigned open = 1;
  while (open > 0) {
    if (accept('{')) {
      if (++open > 8)
        return fail("initialisers are nested too deep");
      continue;
    }
    if (accept('}')) {
      --open;
      accept(',');
      continue;
    }
    if (parseInitialValue(variable.initializer))
      return true;
    if (!token.is('}') && expect(','))
      return true;
  }
  return false;
}

bool Parser::parseInitialValue(std::vector<InitialValue> &list) {
  InitialValue value;
  bool negative = false;
  if (token.is('-')) {
    Lexer saved = lexer;
    Token savedToken = token;
    advance();
    negative = token.is(Token::Kind::Float);
    if (!negative) {
      lexer = saved;
      token = savedToken;
    }
  }
  if (token.is(Token::Kind::Float)) {
    value.kind = InitialValue::Kind::Float;
    value.bits = token.value;
    value.floatBits = token.floatBits;
    if (negative)
      value.bits ^= uint64_t(1) << (token.floatBits - 1);
    advance();
    list.push_back(value);
    return false;
  }
  if (token.is(Token::Kind::Identifier)) {
    value.kind = InitialValue::Kind::Symbol;
    value.symbol = token.text;
    advance();
    if (value.symbol == "generic" && accept('(')) {
      value.generic = true;
      value.symbol = token.text;
      if (!token.is(Token::Kind::Identifier))
        return failHere("expected a variable");
      advance();
      if (expect(')'))
        return true;
    }
    bool isUnsigned;
    if ((token.is('+') || token.is('-'))) {
      bool minus = token.is('-');
      advance();
      if (parseConstant(value.integer, isUnsigned, 6))
        return true;
      if (minus)
        value.integer = -uint64_t(value.integer);
    }
    list.push_back(value);
    return false;
  }
  bool isUnsigned;
  if (parseConstant(value.integer, isUnsigned, 0))
    return true;
  // 0xFF00(symbol): one byte of an address.
  if (token.is('(')) {
    uint64_t mask = value.integer;
    unsigned byte = 0;
    while (byte < 8 && (mask >> (8 * byte)) != 0xFF)
      ++byte;
    if (byte == 8)
      return fail("expected a mask of one byte");
    advance();
    std::vector<InitialValue> inner;
    if (parseInitialValue(inner) || expect(')'))
      return true;
    if (inner[0].kind != InitialValue::Kind::Symbol)
      return fail("expected a variable in the parentheses of a mask");
    inner[0].maskByte = byte;
    list.push_back(inner[0]);
    return false;
  }
  list.push_back(value);
  return false;
}

/// One or more variables of a space, up to the semicolon.
bool Parser::parseVariables(Space space, bool isExtern) {
  Variable variable;
  if (parseVariable(variable, space, isExtern))
    return true;
  Variable prototype = variable;
  while (true) {
    if (function) {
      if (declareName(variable.name))
        return true;
      scope().variables[variable.name] = function->variables.size();
      function->variables.push_back(variable);
    } else {
      auto [it, isNew] = module.variableIndex.try_emplace(
          variable.name, uint32_t(module.variables.size()));
      if (isNew) {
        module.variables.push_back(variable);
      } else {
        Variable &old = module.variables[it->second];
        if (!old.isExtern && !variable.isExtern)
          return fail("'" + variable.name + "' is defined twice");
        if (old.isExtern)
          old = variable;
      }
    }
    if (!accept(','))
      break;
    variable = prototype;
    variable.initializer.clear();
    variable.count = 1;
    variable.isExtern = isExtern;
    if (parseDeclarator(variable))
      return true;
  }
  return expect(';');
}

bool Parser::parseParameters(std::vector<Variable> &list) {
  if (expect('('))
    return true;
  if (accept(')'))
    return false;
  do {
    Variable variable;
    if (acceptWord(".reg")) {
      if (parseVariable(variable, Space::Register, false))
        return true;
    } else if (acceptWord(".param")) {
      if (parseVariable(variable, Space::Param, false))
        return true;
    } else {
      return failHere("expected '.param'");
    }
    list.push_back(variable);
  } while (accept(','));
  return expect(')');
}

bool Parser::parseFunctionDirectives(FunctionSyntax &result) {
  while (token.is(Token::Kind::DotWord)) {
    uint64_t ignored;
    if (acceptWord(".maxntid")) {
      if (parseDim3(result.maximalBlock))
        return true;
    } else if (acceptWord(".reqntid")) {
      if (parseDim3(result.requiredBlock))
        return true;
    } else if (acceptWord(".reqnctapercluster")) {
      if (parseDim3(result.requiredCluster))
        return true;
    } else if (acceptWord(".minnctapersm") || acceptWord(".maxnreg") ||
               acceptWord(".maxnctapersm") || acceptWord(".maxclusterrank") ||
               acceptWord(".abi_preserve") ||
               acceptWord(".abi_preserve_control")) {
      if (parseInteger(ignored, "a number"))
        return true;
    } else if (acceptWord(".pragma")) {
      if (!token.is(Token::Kind::String))
        return failHere("expected a string");
      advance();
      if (expect(';'))
        return true;
    } else if (!acceptWord(".explicitcluster") && !acceptWord(".noreturn") &&
               !acceptWord(".blocksareclusters") && !acceptWord(".unique")) {
      return failHere("expected a directive of a function");
    }
  }
  return false;
}

bool Parser::parseFunction(bool isEntry, bool isExtern, bool isWeak) {
  auto result = std::make_unique<FunctionSyntax>();
  result->isEntry = isEntry;
  result->isWeak = isWeak;
  result->line = token.line;
  while (isWord(".attribute"))
    return failHere("function attributes are not known");
  if (!isEntry && token.is('(') && parseParameters(result->prototype.returns))
    return true;
  if (!token.is(Token::Kind::Identifier))
    return failHere("expected the name of a function");
  result->name = token.text;
  advance();
  if (token.is('(') && parseParameters(result->prototype.parameters))
    return true;
  if (parseFunctionDirectives(*result))
    return true;

  FunctionSyntax *raw = result.get();
  auto it = module.functionIndex.find(raw->name);
  if (it == module.functionIndex.end()) {
    module.functionIndex[raw->name] = module.functions.size();
    module.functions.push_back(std::move(result));
  } else if (token.is('{')) {
    if (module.functions[it->second]->hasBody)
      return fail("'" + raw->name + "' is defined twice");
    module.functions[it->second] = std::move(result);
  }
  if (accept(';'))
    return false;
  if (!token.is('{'))
    return failHere("expected the body of a function or ';'");
  if (isExtern)
    return fail("an external function has no body");
  raw->hasBody = true;
  function = raw;
  scopeIndex = 0;
  sourceIndex = 0;
  function->scopes.emplace_back();
  bool failed = parseBody();
  function = nullptr;
  return failed;
}

/// The statements between braces; the scope was entered already.
bool Parser::parseBody() {
  if (++depth > maximalDepth)
    return fail("blocks are nested too deep");
  if (expect('{'))
    return true;
  while (!accept('}')) {
    if (token.is(Token::Kind::End))
      return failHere("expected '}'");
    if (parseStatement())
      return true;
  }
  --depth;
  return false;
}

bool Parser::declareName(StringRef name) {
  Scope &s = scope();
  if (s.registers.count(name) || s.variables.count(name) ||
      s.labels.count(name))
    return fail("'" + name + "' is declared twice");
  return false;
}

bool Parser::parseRegisters() {
  if (isWord(".v2") || isWord(".v4"))
    return fail("vector registers are not emulated");
  if (!token.is(Token::Kind::DotWord))
    return failHere("expected the type of a register");
  Type type = parseType(token.text.drop_front());
  if (type == Type::None)
    return failHere("expected the type of a register");
  advance();
  do {
    if (!token.is(Token::Kind::Identifier))
      return failHere("expected the name of a register");
    StringRef name = token.text;
    advance();
    if (accept('<')) {
      uint64_t count;
      if (parseInteger(count, "the number of registers"))
        return true;
      if (count > (1u << 20))
        return fail("too many registers");
      if (expect('>'))
        return true;
      if (!scope()
               .ranges.try_emplace(name, Scope::Range{type, uint32_t(count)})
               .second)
        return fail("'" + name + "' is declared twice");
      continue;
    }
    if (declareName(name))
      return true;
    scope().registers[name] = type;
  } while (accept(','));
  return expect(';');
}

/// `.loc file line column [, function_name label [+ n], inlined_at f l c]`.
bool Parser::parseLoc() {
  uint64_t file, line, column;
  if (parseInteger(file, "a file number") || parseInteger(line, "a line") ||
      parseInteger(column, "a column"))
    return true;
  while (accept(',')) {
    if (!token.is(Token::Kind::Identifier))
      return failHere("expected 'function_name' or 'inlined_at'");
    StringRef attribute = token.text;
    advance();
    if (attribute == "function_name") {
      if (!token.is(Token::Kind::Identifier))
        return failHere("expected a label");
      advance();
      uint64_t offset;
      if (accept('+') && parseInteger(offset, "an offset"))
        return true;
    } else if (attribute == "inlined_at") {
      uint64_t f, l, c;
      if (parseInteger(f, "a file number") || parseInteger(l, "a line") ||
          parseInteger(c, "a column"))
        return true;
    } else {
      return fail("expected 'function_name' or 'inlined_at'");
    }
  }
  module.sourceLines.push_back({uint32_t(file), uint32_t(line)});
  sourceIndex = module.sourceLines.size();
  return false;
}

bool Parser::parsePrototype(StringRef name) {
  Prototype prototype;
  if (token.is('(') && parseParameters(prototype.returns))
    return true;
  if (!token.is(Token::Kind::Identifier))
    return failHere("expected '_'");
  advance();
  if (token.is('(') && parseParameters(prototype.parameters))
    return true;
  while (token.is(Token::Kind::DotWord)) {
    uint64_t ignored;
    bool hasNumber = isWord(".abi_preserve") || isWord(".abi_preserve_control");
    if (!hasNumber && !isWord(".noreturn"))
      return failHere("expected ';'");
    advance();
    if (hasNumber && parseInteger(ignored, "a number"))
      return true;
  }
  scope().prototypes[name] = std::move(prototype);
  return expect(';');
}

bool Parser::parseBranchTargets(StringRef name) {
  std::vector<StringRef> targets;
  do {
    if (!token.is(Token::Kind::Identifier))
      return failHere("expected a label");
    targets.push_back(token.text);
    advance();
  } while (accept(','));
  scope().branchTargets[name] = std::move(targets);
  return expect(';');
}

bool Parser::parseDirectiveInBody() {
  if (acceptWord(".reg"))
    return parseRegisters();
  if (acceptWord(".loc"))
    return parseLoc();
  if (acceptWord(".local"))
    return parseVariables(Space::Local, false);
  if (acceptWord(".param"))
    return parseVariables(Space::Param, false);
  if (acceptWord(".shared"))
    return parseVariables(Space::Shared, false);
  if (acceptWord(".global"))
    return parseVariables(Space::Global, false);
  if (acceptWord(".const"))
    return parseVariables(Space::Const, false);
  if (acceptWord(".extern")) {
    if (!acceptWord(".shared"))
      return failHere("expected '.shared'");
    return parseVariables(Space::Shared, true);
  }
  if (acceptWord(".file"))
    return parseFile();
  if (acceptWord(".pragma")) {
    if (!token.is(Token::Kind::String))
      return failHere("expected a string");
    // Pragmas that are not known are ignored, as PTX demands.
    StringRef mask = token.text.trim('"');
    if (mask.consume_front("used_bytes_mask") &&
        mask.trim().getAsInteger(0, usedBytesMask))
      return failHere("expected 'used_bytes_mask' and a number");
    advance();
    return expect(';');
  }
  return failHere("expected a statement");
}

bool Parser::parseStatement() {
  if (accept(';'))
    return false;
  if (token.is('{')) {
    uint32_t outer = scopeIndex;
    scopeIndex = function->scopes.size();
    function->scopes.emplace_back();
    function->scopes.back().parent = outer;
    bool failed = parseBody();
    scopeIndex = outer;
    return failed;
  }
  if (token.is(Token::Kind::DotWord))
    return parseDirectiveInBody();

  uint32_t line = token.line;
  const char *begin = token.text.begin();
  if (token.is(Token::Kind::Identifier)) {
    // A label ends in a colon; look one token ahead.
    Lexer saved = lexer;
    Token first = token;
    advance();
    if (accept(':')) {
      if (acceptWord(".callprototype"))
        return parsePrototype(first.text);
      if (acceptWord(".branchtargets"))
        return parseBranchTargets(first.text);
      if (declareName(first.text))
        return true;
      scope().labels[first.text] = function->statements.size();
      return false;
    }
    lexer = saved;
    token = first;
  }
  return parseInstruction(line, begin);
}

bool Parser::parseInstruction(uint32_t line, const char *begin) {
  Statement statement;
  statement.line = line;
  statement.scope = scopeIndex;
  statement.usedBytesMask = std::exchange(usedBytesMask, 0);
  statement.sourceIndex = sourceIndex;
  if (accept('@')) {
    statement.guardNegated = accept('!');
    if (!token.is(Token::Kind::Identifier))
      return failHere("expected a predicate register");
    statement.guard = token.text;
    advance();
  }
  if (!token.is(Token::Kind::Identifier))
    return failHere("expected an instruction");
  statement.line = token.line;
  statement.opcode = token.text;
  advance();
  while (token.is(Token::Kind::DotWord)) {
    statement.modifiers.push_back(token.text.drop_front());
    advance();
  }
  if (!token.is(';')) {
    do {
      OperandSyntax operand;
      if (parseOperand(operand))
        return true;
      statement.operands.push_back(std::move(operand));
    } while (accept(','));
  }
  if (!token.is(';'))
    return failHere("expected ',' or ';'");
  statement.text = StringRef(begin, token.text.begin() - begin);
  advance();
  function->statements.push_back(std::move(statement));
  return false;
}

/// A name that may hold dots, as `%tid.x`.
StringRef Parser::parseDottedName() {
  const char *begin = token.text.begin();
  advance();
  while (token.is(Token::Kind::DotWord) && token.text.begin() == previousEnd)
    advance();
  return StringRef(begin, previousEnd - begin);
}

bool Parser::parseOperandList(std::vector<OperandSyntax> &list, char close) {
  if (accept(close))
    return false;
  do {
    OperandSyntax child;
    if (parseOperand(child))
      return true;
    list.push_back(std::move(child));
  } while (accept(','));
  return expect(close);
}

bool Parser::parseOperand(OperandSyntax &operand) {
  if (++depth > maximalDepth)
    return fail("operands are nested too deep");
  if (parsePrimary(operand))
    return true;
  --depth;
  if (!accept('|'))
    return false;
  OperandSyntax first = std::move(operand);
  operand = OperandSyntax();
  operand.kind = OperandSyntax::Kind::Pair;
  operand.children.push_back(std::move(first));
  operand.children.emplace_back();
  return parsePrimary(operand.children.back());
}

bool Parser::parsePrimary(OperandSyntax &operand) {
  using Kind = OperandSyntax::Kind;
  if (accept('{')) {
    operand.kind = Kind::Vector;
    return parseOperandList(operand.children, '}');
  }
  if (accept('['))
    return parseAddress(operand);
  if (token.is('(')) {
    // Either the arguments of a call or a constant expression.
    Lexer saved = lexer;
    Token savedToken = token;
    advance();
    if (token.is(')') || token.is(Token::Kind::Identifier)) {
      operand.kind = Kind::List;
      return parseOperandList(operand.children, ')');
    }
    lexer = saved;
    token = savedToken;
  }
  bool negative = false;
  if (token.is('!') || token.is('-')) {
    Lexer saved = lexer;
    Token savedToken = token;
    negative = token.is('-');
    advance();
    if (token.is(Token::Kind::Identifier) && token.text != "WARP_SZ") {
      operand.negated = true;
    } else if (!(negative && token.is(Token::Kind::Float))) {
      lexer = saved;
      token = savedToken;
      negative = false;
    }
  }
  if (token.is(Token::Kind::Float)) {
    operand.kind = Kind::Float;
    operand.bits = token.value;
    operand.floatBits = token.floatBits;
    if (negative)
      operand.bits ^= uint64_t(1) << (token.floatBits - 1);
    advance();
    return false;
  }
  if (token.is(Token::Kind::Identifier) && token.text != "WARP_SZ") {
    if (token.text == "_") {
      operand.kind = Kind::Sink;
      advance();
      return false;
    }
    operand.kind = Kind::Name;
    operand.name = parseDottedName();
    bool minus = token.is('-');
    if (accept('+') || accept('-')) {
      if (parseConstant(operand.integer, operand.isUnsigned, 6))
        return true;
      if (minus)
        operand.integer = -uint64_t(operand.integer);
    }
    return false;
  }
  operand.kind = Kind::Integer;
  return parseConstant(operand.integer, operand.isUnsigned, 0);
}

/// After '['.
bool Parser::parseAddress(OperandSyntax &operand) {
  operand.kind = OperandSyntax::Kind::Address;
  if (token.is(Token::Kind::Identifier)) {
    operand.name = parseDottedName();
    while (token.is('+') || token.is('-')) {
      bool minus = token.is('-');
      advance();
      int64_t value;
      bool isUnsigned;
      if (parseConstant(value, isUnsigned, 6))
        return true;
      operand.integer =
          uint64_t(operand.integer) + (minus ? -uint64_t(value) : value);
    }
  } else if (parseConstant(operand.integer, operand.isUnsigned, 0)) {
    return true;
  }
  while (accept(',')) {
    OperandSyntax child;
    if (parseOperand(child))
      return true;
    operand.children.push_back(std::move(child));
  }
  return expect(']');
}

bool Parser::parseConstantAtom(int64_t &value, bool &isUnsigned) {
  if (++depth > maximalDepth)
    return fail("expressions are nested too deep");
  isUnsigned = false;
  bool failed = false;
  if (accept('-')) {
    failed = parseConstantAtom(value, isUnsigned);
    value = -uint64_t(value);
  } else if (accept('+')) {
    failed = parseConstantAtom(value, isUnsigned);
  } else if (accept('~')) {
    failed = parseConstantAtom(value, isUnsigned);
    value = ~value;
  } else if (accept('!')) {
    failed = parseConstantAtom(value, isUnsigned);
    value = !value;
  } else if (accept('(')) {
    // A cast such as (.s64) or a parenthesised expression.
    if (isWord(".s64") || isWord(".u64")) {
      bool toUnsigned = isWord(".u64");
      advance();
      failed = expect(')') || parseConstantAtom(value, isUnsigned);
      isUnsigned = toUnsigned;
    } else {
      failed = parseConstant(value, isUnsigned, 0) || expect(')');
    }
  } else if (token.is(Token::Kind::Identifier) && token.text == "WARP_SZ") {
    value = 32;
    advance();
  } else if (token.is(Token::Kind::Integer)) {
    value = int64_t(token.value);
    isUnsigned = token.isUnsigned || token.value > uint64_t(INT64_MAX);
    advance();
  } else {
    return failHere("expected an operand");
  }
  --depth;
  return failed;
}

/// The precedence of a binary operator of one or two characters; negative if
/// the token is none.  Only single-character operators occur in practice.
static int precedenceOf(const Token &token) {
  if (!token.is(Token::Kind::Punctuation))
    return -1;
  switch (token.text[0]) {
  case '^':
    return 2;
  case '&':
    return 3;
  case '+':
  case '-':
    return 5;
  case '*':
  case '/':
    return 6;
  default:
    return -1;
  }
}

bool Parser::parseConstant(int64_t &value, bool &isUnsigned,
                           int minPrecedence) {
  if (parseConstantAtom(value, isUnsigned))
    return true;
  while (true) {
    int precedence = precedenceOf(token);
    if (precedence < 0 || precedence < minPrecedence)
      return false;
    char op = token.text[0];
    advance();
    int64_t right;
    bool rightUnsigned;
    if (parseConstant(right, rightUnsigned, precedence + 1))
      return true;
    isUnsigned |= rightUnsigned;
    uint64_t a = value, b = right;
    switch (op) {
    case '^':
      value = a ^ b;
      break;
    case '&':
      value = a & b;
      break;
    case '+':
      value = a + b;
      break;
    case '-':
      value = a - b;
      break;
    case '*':
      value = a * b;
      break;
    default:
      if (b == 0 || (!isUnsigned && value == INT64_MIN && right == -1))
        return fail("division overflow in a constant expression");
      value = isUnsigned ? int64_t(a / b) : value / right;
      break;
    }
  }
}

llvm::Error tile_dialect::emulator::parseModule(ModuleSyntax &syntax) {
  return Parser(syntax).run();
}
