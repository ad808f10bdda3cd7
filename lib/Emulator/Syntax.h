//===- Syntax.h - The syntax tree of a PTX module ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_SYNTAX_H
#define TILEDIALECT_LIB_EMULATOR_SYNTAX_H

#include "TileDialect/Emulator/Report.h"
#include "Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile_dialect::emulator {

/// An operand as it is written.  Names refer to the module's text.
struct OperandSyntax {
  enum class Kind : uint8_t {
    /// A register, a variable, a label, a function; `integer` is added.
    Name,
    /// `integer`; `isUnsigned` if it was written with U or needs 64 bits.
    Integer,
    /// `bits` as written with 0f (`floatBits` 32), or the bits of a double.
    Float,
    /// `{a, b}`: children.
    Vector,
    /// `[name + integer]` or `[integer]`; the children are what follows the
    /// base, such as the coordinates of a tensor.
    Address,
    /// `(a, b)`: children.
    List,
    /// `a|b`: two children.
    Pair,
    /// `_`.
    Sink,
  };
  Kind kind = Kind::Name;
  llvm::StringRef name;
  int64_t integer = 0;
  bool isUnsigned = false;
  /// `!p` or `-%f` before a name.
  bool negated = false;
  unsigned floatBits = 64;
  uint64_t bits = 0;
  std::vector<OperandSyntax> children;
};

struct Statement {
  uint32_t line = 0;
  /// The position of the `.loc` in force plus one; zero for none.
  uint32_t sourceIndex = 0;
  uint32_t scope = 0;
  llvm::StringRef guard;
  bool guardNegated = false;
  /// `.pragma "used_bytes_mask"` in front of a load: the bytes that it needs,
  /// by bit (PTX ISA, "Pragma Strings"); zero for none.
  uint32_t usedBytesMask = 0;
  llvm::StringRef opcode;
  llvm::SmallVector<llvm::StringRef, 6> modifiers;
  std::vector<OperandSyntax> operands;
  /// The whole statement, for messages.
  llvm::StringRef text;
};

/// One value of an initialiser, or a symbol's address.
struct InitialValue {
  enum class Kind : uint8_t { Integer, Float, Symbol } kind = Kind::Integer;
  int64_t integer = 0;
  uint64_t bits = 0;
  unsigned floatBits = 64;
  llvm::StringRef symbol;
  /// `generic(symbol)`.
  bool generic = false;
  /// `0xFF00(symbol)`: which byte of the address is meant.
  int maskByte = -1;
};

/// A declared variable of any space but registers.
struct Variable {
  llvm::StringRef name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint32_t align = 1;
  uint64_t count = 1;
  uint64_t bytes = 0;
  bool isExtern = false;
  uint32_t line = 0;
  std::vector<InitialValue> initializer;
};

/// A prototype that `.callprototype` declares, or a function's own.
struct Prototype {
  std::vector<Variable> returns, parameters;
};

/// A `{ }` block: the names that are declared in it.
struct Scope {
  uint32_t parent = ~0u;
  /// Registers that are named one by one.
  llvm::StringMap<Type> registers;
  /// `%r<8>`: prefix, count and type.
  struct Range {
    Type type;
    uint32_t count;
  };
  llvm::StringMap<Range> ranges;
  /// Positions in FunctionSyntax::variables.
  llvm::StringMap<uint32_t> variables;
  /// The statement that a label stands before.
  llvm::StringMap<uint32_t> labels;
  llvm::StringMap<Prototype> prototypes;
  llvm::StringMap<std::vector<llvm::StringRef>> branchTargets;
};

struct FunctionSyntax {
  llvm::StringRef name;
  bool isEntry = false;
  bool hasBody = false;
  bool isWeak = false;
  uint32_t line = 0;
  Prototype prototype;
  std::optional<Dim3> requiredBlock, maximalBlock, requiredCluster;
  std::vector<Variable> variables;
  /// Scope 0 is the body; it holds no parameter.
  std::vector<Scope> scopes;
  std::vector<Statement> statements;
};

/// A `.loc`.
struct SourceLine {
  uint32_t file = 0, line = 0;
};

struct ModuleSyntax {
  std::string fileName;
  std::string text;
  llvm::StringRef target;
  std::vector<Variable> variables;
  llvm::StringMap<uint32_t> variableIndex;
  std::vector<std::unique_ptr<FunctionSyntax>> functions;
  llvm::StringMap<uint32_t> functionIndex;
  std::vector<SourceLine> sourceLines;
  std::vector<std::pair<uint32_t, llvm::StringRef>> sourceFiles;
};

/// Parses `syntax.text`; an error is a ReportError of kind Syntax.
llvm::Error parseModule(ModuleSyntax &syntax);

/// The error "file:line: message" with the text of that line below.
llvm::Error syntaxError(const ModuleSyntax &syntax, uint32_t line,
                        const llvm::Twine &message);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_SYNTAX_H
