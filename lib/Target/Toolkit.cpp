//===- Toolkit.cpp - Where ptxas and libdevice are ------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/Toolkit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Where pip puts the parts of a toolkit, below `site-packages`: the packages
/// for CUDA 12 have a folder each, those for CUDA 13 share one.
static constexpr StringLiteral pipFolders[] = {"nvidia/cu13",
                                               "nvidia/cuda_nvcc"};

/// `root` itself, and all `site-packages` folders below it if it is a Python
/// environment.
static SmallVector<std::string> expandRoot(StringRef root) {
  SmallVector<std::string> folders = {root.str()};
  SmallString<128> lib(root);
  path::append(lib, "lib");
  std::error_code error;
  for (fs::directory_iterator it(lib, error), end; !error && it != end;
       it.increment(error)) {
    if (!path::filename(it->path()).starts_with("python3"))
      continue;
    SmallString<128> packages(it->path());
    path::append(packages, "site-packages");
    if (fs::is_directory(packages))
      folders.push_back(packages.str().str());
  }
  return folders;
}

/// The first `root/file` or `root/<pip folder>/file` that exists.
static std::string findFile(ArrayRef<std::string> roots, StringRef file) {
  for (const std::string &root : roots) {
    for (const std::string &folder : expandRoot(root)) {
      SmallString<128> candidate(folder);
      path::append(candidate, file);
      if (fs::exists(candidate))
        return candidate.str().str();
      for (StringRef pip : pipFolders) {
        candidate = folder;
        path::append(candidate, pip, file);
        if (fs::exists(candidate))
          return candidate.str().str();
      }
    }
  }
  return "";
}

std::string tile::ToolkitSearch::findPtxas() const {
  std::string found = findFile(roots, "bin/ptxas");
  if (found.empty() && searchPath)
    if (llvm::ErrorOr<std::string> program =
            llvm::sys::findProgramByName("ptxas"))
      found = *program;
  return found;
}

std::string tile::ToolkitSearch::findLibdevice() const {
  return findFile(roots, "nvvm/libdevice/libdevice.10.bc");
}

tile::ToolkitSearch tile::ToolkitSearch::forTool(ArrayRef<std::string> roots,
                                                 StringRef executable) {
  ToolkitSearch search;
  search.roots.assign(roots.begin(), roots.end());
  for (const char *name : {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV"})
    if (std::optional<std::string> value = llvm::sys::Process::GetEnv(name))
      if (!value->empty())
        search.roots.push_back(*value);
  search.roots.push_back("/usr/local/cuda");
  // <checkout>/.venv, as scripts/setup.sh makes it, for
  // <checkout>/build/bin/tool.
  SmallString<128> folder(executable);
  for (int up = 0; up < 3; ++up) {
    path::remove_filename(folder);
    SmallString<128> environment(folder);
    path::append(environment, ".venv");
    if (!folder.empty() && fs::is_directory(environment))
      search.roots.push_back(environment.str().str());
  }
  return search;
}

std::string tile::ToolkitSearch::describe() const {
  std::string text = llvm::join(roots, ", ");
  if (searchPath)
    text += text.empty() ? "PATH" : " and PATH";
  return text;
}
