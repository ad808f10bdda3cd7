//===- OptionParser.cpp - A small parser of command lines ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OptionParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

using namespace tile_dialect::tile_run;
using llvm::StringRef;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

void OptionParser::add(StringRef name, StringRef value, StringRef help,
                       std::string &target) {
  options.push_back({name.str(), value.str(), help.str(), "", false,
                     [&target](StringRef text) {
                       target = text.str();
                       return llvm::Error::success();
                     }});
}

void OptionParser::add(StringRef name, StringRef value, StringRef help,
                       std::vector<std::string> &target) {
  options.push_back({name.str(), value.str(), help.str(), "", false,
                     [&target](StringRef text) {
                       target.push_back(text.str());
                       return llvm::Error::success();
                     }});
}

void OptionParser::add(StringRef name, StringRef help, uint64_t &target) {
  options.push_back({name.str(), "N", help.str(), "", false,
                     [&target](StringRef text) -> llvm::Error {
                       if (text.getAsInteger(0, target))
                         return makeError("'" + text + "' is not a number");
                       return llvm::Error::success();
                     }});
}

void OptionParser::add(StringRef name, StringRef help, double &target) {
  options.push_back({name.str(), "X", help.str(), "", false,
                     [&target](StringRef text) -> llvm::Error {
                       if (text.getAsDouble(target))
                         return makeError("'" + text + "' is not a number");
                       return llvm::Error::success();
                     }});
}

void OptionParser::addOptional(StringRef name, StringRef value,
                               StringRef implied, StringRef help,
                               std::string &target) {
  add(name, value, help, target);
  options.back().implied = implied.str();
  options.back().valueOptional = true;
}

llvm::Error OptionParser::parse(int argc, char **argv,
                                std::vector<std::string> &positional) const {
  bool onlyPositional = false;
  for (int i = 1; i < argc; ++i) {
    StringRef text = argv[i];
    if (onlyPositional || !text.starts_with("-") || text == "-") {
      positional.push_back(text.str());
      continue;
    }
    if (text == "--") {
      onlyPositional = true;
      continue;
    }
    text.consume_front("-");
    text.consume_front("-");
    auto [name, value] = text.split('=');
    auto it = llvm::find_if(
        options, [&name = name](const Option &o) { return o.name == name; });
    if (it == options.end())
      return makeError("unknown option '--" + name + "'; see --help");
    if (!text.contains('=')) {
      if (it->valueOptional)
        value = it->implied;
      else if (i + 1 < argc)
        value = argv[++i];
      else
        return makeError("option '--" + name + "' needs a value");
    }
    if (llvm::Error error = it->set(value))
      return makeError("--" + name + ": " + llvm::toString(std::move(error)));
  }
  return llvm::Error::success();
}

void OptionParser::printHelp(llvm::raw_ostream &os, StringRef usage) const {
  os << usage << "\n\nOptions:\n";
  for (const Option &option : options) {
    std::string head = "  --" + option.name;
    if (option.valueOptional)
      head += "[=" + option.value + "]";
    else if (!option.value.empty())
      head += "=" + option.value;
    os << head;
    llvm::SmallVector<StringRef> lines;
    StringRef(option.help).split(lines, '\n');
    for (unsigned i = 0; i < lines.size(); ++i) {
      size_t column = i == 0 ? head.size() : 0;
      if (column >= 27) {
        os << '\n';
        column = 0;
      }
      os.indent(28 - column) << lines[i] << '\n';
    }
  }
}
