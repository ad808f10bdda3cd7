//===- BuilderMemory.cpp - Memory ops and matrix products -----------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Builder.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"

#include <stdexcept>

using namespace mlir;
using namespace mlir::tile::python;

/// The enumerator that `keyword` names; `preset` for no keyword.
template <typename Enum>
static Enum parseEnum(const std::string &keyword, Enum preset) {
  if (keyword.empty())
    return preset;
  std::optional<Enum> value = tile::symbolizeEnum<Enum>(keyword);
  if (!value)
    throw std::invalid_argument("unknown keyword " + keyword);
  return *value;
}

Value KernelBuilder::load(Value ptr, std::optional<Value> mask,
                          std::optional<Value> other, const std::string &cache,
                          const std::string &eviction, bool isVolatile) {
  return LoadOp::create(
      ops, loc(), getPointeeLike(ptr.getType()), ptr, mask.value_or(Value()),
      other.value_or(Value()), parseEnum(cache, CacheModifier::None),
      parseEnum(eviction, EvictionPolicy::Normal), isVolatile);
}

void KernelBuilder::store(Value ptr, Value value, std::optional<Value> mask,
                          const std::string &cache,
                          const std::string &eviction) {
  StoreOp::create(ops, loc(), ptr, value, mask.value_or(Value()),
                  parseEnum(cache, CacheModifier::None),
                  parseEnum(eviction, EvictionPolicy::Normal),
                  /*is_volatile=*/false);
}

Value KernelBuilder::atomic(const std::string &kind, Value ptr, Value value,
                            std::optional<Value> mask, const std::string &order,
                            const std::string &scope) {
  return AtomicRMWOp::create(ops, loc(), getPointeeLike(ptr.getType()),
                             parseEnum(kind, RMWKind::Add), ptr, value,
                             mask.value_or(Value()),
                             parseEnum(order, MemSemantic::AcquireRelease),
                             parseEnum(scope, MemScope::GPU));
}

Value KernelBuilder::compareAndSwap(Value ptr, Value compare, Value value,
                                    const std::string &order,
                                    const std::string &scope) {
  return AtomicCASOp::create(ops, loc(), getPointeeLike(ptr.getType()), ptr,
                             compare, value,
                             parseEnum(order, MemSemantic::AcquireRelease),
                             parseEnum(scope, MemScope::GPU));
}

Value KernelBuilder::makeDescriptor(Value base, const Values &shape,
                                    const Values &strides,
                                    const std::vector<int64_t> &box,
                                    bool padWithNaN) {
  Type type =
      DescType::get(box, cast<PtrType>(base.getType()).getPointeeType());
  return MakeDescOp::create(ops, loc(), type, base, shape, strides,
                            padWithNaN ? Padding::NaN : Padding::Zero);
}

Value KernelBuilder::loadDescriptor(Value descriptor, const Values &offsets,
                                    Type result) {
  return DescLoadOp::create(ops, loc(), result, descriptor, offsets,
                            CacheModifier::None, EvictionPolicy::Normal);
}

void KernelBuilder::storeDescriptor(Value descriptor, const Values &offsets,
                                    Value value) {
  DescStoreOp::create(ops, loc(), descriptor, value, offsets);
}

void KernelBuilder::reduceDescriptor(const std::string &kind, Value descriptor,
                                     const Values &offsets, Value value) {
  DescReduceOp::create(ops, loc(), parseEnum(kind, RMWKind::Add), descriptor,
                       value, offsets);
}

Value KernelBuilder::dot(Value a, Value b, Value accumulator,
                         const std::string &precision,
                         int32_t maxNumImpreciseAcc) {
  return DotOp::create(ops, loc(), accumulator.getType(), a, b, accumulator,
                       parseEnum(precision, InputPrecision::TF32),
                       maxNumImpreciseAcc);
}
