//===- TileGPUAttributes.cpp - Attributes of tile_gpu -----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout's own methods are in LayoutAttr.cpp.
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

/// Owns the layout; looked up by a reference to one.
struct mlir::tile_gpu::detail::LayoutAttrStorage : public AttributeStorage {
  using KeyTy = std::tuple<const Layout &>;

  explicit LayoutAttrStorage(const Layout &layout) : layout(layout) {}

  bool operator==(const KeyTy &key) const { return layout == std::get<0>(key); }
  KeyTy getAsKey() const { return KeyTy(layout); }

  static llvm::hash_code hashKey(const KeyTy &key) {
    const Layout &layout = std::get<0>(key);
    llvm::hash_code hash = llvm::hash_value(layout.getRank());
    for (unsigned dim = 0; dim < kNumHardwareDims; ++dim) {
      const auto &bases = layout.getBases(static_cast<HardwareDim>(dim));
      hash = llvm::hash_combine(hash, bases.size());
      for (const auto &basis : bases)
        hash = llvm::hash_combine(
            hash, llvm::hash_combine_range(basis.begin(), basis.end()));
    }
    return hash;
  }

  static LayoutAttrStorage *construct(AttributeStorageAllocator &allocator,
                                      const KeyTy &key) {
    // The uniquer runs the destructor: the type is not trivially destructible.
    return new (allocator.allocate<LayoutAttrStorage>())
        LayoutAttrStorage(std::get<0>(key));
  }

  Layout layout;
};

#define GET_ATTRDEF_CLASSES
#include "TileDialect/Dialect/TileGPU/IR/TileGPUAttributes.cpp.inc"

const Layout &LayoutAttr::getLayout() const { return getImpl()->layout; }

void TileGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "TileDialect/Dialect/TileGPU/IR/TileGPUAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// SharedAttr
//===----------------------------------------------------------------------===//

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int32_t> order, unsigned swizzle) {
  if (order.empty())
    return emitError() << "expected an order of at least one dimension";
  SmallVector<bool> seen(order.size(), false);
  for (int32_t dim : order) {
    if (dim < 0 || dim >= static_cast<int64_t>(order.size()) || seen[dim])
      return emitError() << "expected order to be a permutation of 0 to "
                         << static_cast<int64_t>(order.size()) - 1
                         << ", but found [" << order << "]";
    seen[dim] = true;
  }
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected swizzle to be 0, 32, 64 or 128 bytes, but "
                          "found "
                       << swizzle;
  return success();
}

SharedAttr SharedAttr::transpose(ArrayRef<int32_t> perm) const {
  SmallVector<int32_t> place(perm.size());
  for (auto [to, from] : llvm::enumerate(perm))
    place[from] = to;
  SmallVector<int32_t> order;
  for (int32_t dim : getOrder())
    order.push_back(place[dim]);
  return get(getContext(), order, getSwizzle());
}

//===----------------------------------------------------------------------===//
// ScratchAttr
//===----------------------------------------------------------------------===//

LogicalResult ScratchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t offset, int64_t bytes) {
  if (offset < 0 || bytes <= 0)
    return emitError() << "expected a non-negative offset and a positive "
                          "number of bytes, but found "
                       << offset << " and " << bytes;
  return success();
}
