//===- DLPack.h - The ABI of DLPack -----------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The structures of DLPack 1.3, as its specification lays them out.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_DLPACK_H
#define TILEDIALECT_PYTHON_DLPACK_H

#include <cstdint>

namespace mlir::tile::python::dlpack {

/// The version whose structures stand here.
constexpr uint32_t kMajorVersion = 1;
/// Device types; memory that is managed is accessible on its device, too.
constexpr int32_t kCUDA = 2;
constexpr int32_t kCUDAManaged = 13;

struct Version {
  uint32_t major, minor;
};

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType type;
  int64_t *shape;
  int64_t *strides;
  uint64_t byteOffset;
};
static_assert(sizeof(Tensor) == 48);

/// What a capsule named "dltensor" holds.
struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

/// What a capsule named "dltensor_versioned" holds.
struct VersionedTensor {
  Version version;
  void *context;
  void (*deleter)(VersionedTensor *);
  uint64_t flags;
  Tensor tensor;
};
constexpr uint64_t kFlagReadOnly = 1;

/// What the capsule "dlpack_exchange_api" of a type holds, which is the type's
/// attribute `__dlpack_c_exchange_api__`. Functions return 0, or -1 with a
/// Python error set.
struct ExchangeAPI {
  Version version;
  /// The table of an older version, or null.
  ExchangeAPI *previous;
  void *allocate;
  void *exportManaged;
  void *importManaged;
  /// Describes an object of the type, which stays the owner of all; may be
  /// null.
  int (*describe)(void *object, Tensor *result);
  /// The stream that the library is working on.
  int (*getStream)(int32_t deviceType, int32_t deviceId, void **stream);
};

} // namespace mlir::tile::python::dlpack

#endif // TILEDIALECT_PYTHON_DLPACK_H
