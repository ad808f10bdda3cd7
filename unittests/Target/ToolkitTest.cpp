//===- ToolkitTest.cpp - Tests of the search for ptxas --------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/Toolkit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::tile;

namespace {

/// A temporary folder to put files in.
class ToolkitTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tile-toolkit", root));
    search.searchPath = false;
  }
  void TearDown() override {
    EXPECT_FALSE(llvm::sys::fs::remove_directories(root));
  }

  std::string getPath(llvm::StringRef name) {
    llvm::SmallString<128> path(root);
    llvm::sys::path::append(path, name);
    return std::string(path);
  }

  /// Creates an empty file and returns its path.
  std::string touch(llvm::StringRef name) {
    std::string path = getPath(name);
    std::error_code error =
        llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
    EXPECT_FALSE(error);
    llvm::raw_fd_ostream stream(path, error);
    EXPECT_FALSE(error);
    return path;
  }

  llvm::SmallString<128> root;
  ToolkitSearch search;
};

} // namespace

TEST_F(ToolkitTest, FindsNothingWhereNothingIs) {
  EXPECT_EQ(search.findPtxas(), "");
  search.roots = {getPath("absent"), std::string(root)};
  EXPECT_EQ(search.findPtxas(), "");
  EXPECT_EQ(search.findLibdevice(), "");
}

TEST_F(ToolkitTest, FindsAToolkit) {
  std::string ptxas = touch("cuda/bin/ptxas");
  std::string libdevice = touch("cuda/nvvm/libdevice/libdevice.10.bc");
  search.roots = {getPath("cuda")};
  EXPECT_EQ(search.findPtxas(), ptxas);
  EXPECT_EQ(search.findLibdevice(), libdevice);
}

TEST_F(ToolkitTest, FindsPipPackagesOfBothLayouts) {
  std::string old =
      touch("old/lib/python3.11/site-packages/nvidia/cuda_nvcc/bin/ptxas");
  std::string recent =
      touch("new/lib/python3.12/site-packages/nvidia/cu13/bin/ptxas");
  search.roots = {getPath("old")};
  EXPECT_EQ(search.findPtxas(), old);
  search.roots = {getPath("new")};
  EXPECT_EQ(search.findPtxas(), recent);
  search.roots = {getPath("new/lib/python3.12/site-packages")};
  EXPECT_EQ(search.findPtxas(), recent);
}

TEST_F(ToolkitTest, TakesTheFirstRoot) {
  touch("second/bin/ptxas");
  std::string first = touch("first/bin/ptxas");
  search.roots = {getPath("first"), getPath("second")};
  EXPECT_EQ(search.findPtxas(), first);
}

TEST_F(ToolkitTest, ToolsFindTheEnvironmentOfTheirCheckout) {
  std::string ptxas = touch(
      "checkout/.venv/lib/python3.11/site-packages/nvidia/cuda_nvcc/bin/ptxas");
  ToolkitSearch tool =
      ToolkitSearch::forTool({}, getPath("checkout/build/bin/tile-translate"));
  EXPECT_EQ(tool.roots.back(), getPath("checkout/.venv"));
  tool.roots = {tool.roots.back()};
  EXPECT_EQ(tool.findPtxas(), ptxas);
}

TEST_F(ToolkitTest, DescribesWhereItLooked) {
  search.roots = {"/a", "/b"};
  EXPECT_EQ(search.describe(), "/a, /b");
  search.searchPath = true;
  EXPECT_EQ(search.describe(), "/a, /b and PATH");
}
