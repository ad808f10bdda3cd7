//===- OptionParser.h - A small parser of command lines ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TOOLS_TILERUN_OPTIONPARSER_H
#define TILEDIALECT_TOOLS_TILERUN_OPTIONPARSER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>
#include <vector>

namespace tile_dialect::tile_run {

/// Parses `--name=value`, `--name value` and `--name`.  The tool does not use
/// llvm::cl because the libraries that it links register options of their own
/// there, with names such as `stats`.
class OptionParser {
public:
  /// An option with a value.
  void add(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
           std::string &target);
  /// An option that may be given several times.
  void add(llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
           std::vector<std::string> &target);
  /// An option with a number.
  void add(llvm::StringRef name, llvm::StringRef help, uint64_t &target);
  void add(llvm::StringRef name, llvm::StringRef help, double &target);
  /// A switch whose value may be left out: it is then `implied`.
  void addOptional(llvm::StringRef name, llvm::StringRef value,
                   llvm::StringRef implied, llvm::StringRef help,
                   std::string &target);

  /// Parses; what is no option goes to `positional`.
  llvm::Error parse(int argc, char **argv,
                    std::vector<std::string> &positional) const;
  void printHelp(llvm::raw_ostream &os, llvm::StringRef usage) const;

private:
  struct Option {
    std::string name, value, help, implied;
    bool valueOptional = false;
    std::function<llvm::Error(llvm::StringRef)> set;
  };
  std::vector<Option> options;
};

} // namespace tile_dialect::tile_run

#endif // TILEDIALECT_TOOLS_TILERUN_OPTIONPARSER_H
