//===- ArgumentKey.h - The arguments of a launch as words -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a launch's arguments mean for the choice of a kernel, as a sequence of
// 64-bit words, and the values that are passed to it. Two argument lists of a
// kernel have the same words only if the classification in Python (jit.py) has
// the same key for both.
//
// An argument is one word, which holds a tag in its low byte, what the kernel
// may know of the value (divisible by 16: bit 8; the DLPack element type: from
// bit 16; the same address as array number n before it: n + 1 from bit 48), and
// for some tags a second word:
//
//   run-time None, 1, bool, float      the tag alone
//   run-time int                       Int32, Int64 or ForcedInt
//   run-time tuple                     tag with the length, its elements; of a
//                                      NamedTuple its class before these
//   tensor descriptor                  tag, its array, its block shape and
//                                      its padding as constexprs
//   array                              ArrayByCode (element type in the word),
//                                      or ArrayByObject and its dtype's address
//   constexpr int, float               tag, value
//   constexpr str                      tag, address of the kernel's own copy
//   constexpr tuple                    tag with the length, its elements
//   constexpr NamedTuple, or instance  tag with the length, class, the elements
//   of a frozen dataclass              or fields
//   other constexpr                    tag, address: for types of which the
//                                      Python side says that nothing in their
//                                      values changes
//
// What is not in this list is left to Python: `add...` returns false, without a
// Python error. Addresses in a key are those of objects that `getHeldObjects`
// names, which whoever keeps the words must keep alive.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_ARGUMENTKEY_H
#define TILEDIALECT_PYTHON_ARGUMENTKEY_H

#include "DLPack.h"

#include <Python.h>

namespace mlir::tile::python {

/// How a launch treats a parameter; see `Parameter` in jit.py.
struct LaunchParameter {
  /// Interned.
  PyObject *name;
  /// Null if the parameter has none.
  PyObject *defaultValue;
  bool isConstexpr;
  /// Whether the value 1 and divisibility by 16 lead to kernels of their own.
  bool specialise;
  bool align;
  /// Whether an annotation gives the parameter an integer type, or one of
  /// floating point.
  bool isForcedInt, isForcedFloat;
};

/// How arrays of a type are read.
enum class ArrayKind {
  None,
  /// DLPack's exchange API in C.
  Exchange,
  /// Methods and attributes of torch.Tensor, for versions without the former.
  Torch,
  /// `data_ptr()` and `dtype`.
  DataPointer,
  /// `__cuda_array_interface__`.
  CudaInterface,
  /// Not an array, but the class TensorDescriptor.
  Descriptor,
};

/// What is known of a type of arguments.
struct ArgumentType {
  PyTypeObject *type;
  ArrayKind array;
  /// Whether the address of such a constexpr stands for its value.
  bool isIdentity;
  /// The names of the fields of a NamedTuple or frozen dataclass, by which its
  /// constexprs are compared; null for other types.
  PyObject *fields;
  const dlpack::ExchangeAPI *api;
};

/// What is known of the type of `value`, or null. Asks the function that was
/// set by `setTypeDescriber` for each new type.
const ArgumentType *findArgumentType(PyObject *value);

/// `describer(value)` returns the number of an ArrayKind, a bool and a tuple of
/// strings or None, for the members of ArgumentType. Steals nothing, keeps a
/// reference.
void setTypeDescriber(PyObject *describer);

class ArgumentKey {
public:
  static constexpr unsigned kMaxParameters = 128;

  ArgumentKey() = default;
  ArgumentKey(const ArgumentKey &) = delete;
  ~ArgumentKey() {
    for (unsigned i = 0; i < numOwned; ++i)
      Py_DECREF(owned[i]);
  }

  /// Adds an argument. `strings` is a dict that maps the kernel's constant
  /// strings to themselves.
  bool add(const LaunchParameter &parameter, PyObject *value,
           PyObject *strings) {
    return addArgument(parameter, value, strings, 0);
  }
  /// Adds option number `index`.
  bool addOption(unsigned index, PyObject *value);
  /// Adds the device of the arrays; there must be one.
  bool addDevice();

  const uint64_t *getWords() const { return words; }
  unsigned getNumWords() const { return numWords; }
  /// The values that are passed: integers in two's complement, addresses, bits
  /// of doubles.
  uint64_t *getValues() { return values; }
  unsigned getNumValues() const { return numValues; }
  int getDevice() const { return device; }
  /// The first exchange API among the arrays, which knows the stream to launch
  /// on; null if there is none.
  const dlpack::ExchangeAPI *getExchangeAPI() const { return api; }
  /// Streams that wrote arrays and that the launch must wait for.
  const uint64_t *getStreams() const { return streams; }
  unsigned getNumStreams() const { return numStreams; }
  PyObject *const *getHeldObjects() const { return held; }
  unsigned getNumHeldObjects() const { return numHeld; }

private:
  static constexpr unsigned kMaxWords = 512;
  static constexpr unsigned kMaxObjects = 128;
  static constexpr unsigned kMaxStreams = 8;

  bool push(uint64_t word) {
    if (numWords == kMaxWords)
      return false;
    words[numWords++] = word;
    return true;
  }
  bool pushValue(uint64_t word, uint64_t value) {
    if (numValues == kMaxParameters || !push(word))
      return false;
    values[numValues++] = value;
    return true;
  }
  /// Adds the address of an object that must stay alive.
  bool pushObject(PyObject *object) {
    if (numHeld == kMaxObjects)
      return false;
    held[numHeld++] = object;
    return push(reinterpret_cast<uintptr_t>(object));
  }
  /// Takes over a reference until the end of this launch.
  bool own(PyObject *object) {
    if (!object)
      return false;
    if (numOwned == kMaxObjects) {
      Py_DECREF(object);
      return false;
    }
    owned[numOwned++] = object;
    return true;
  }
  bool setDevice(int index) {
    if (device < 0)
      device = index;
    return device == index && index >= 0;
  }

  bool addArgument(const LaunchParameter &parameter, PyObject *value,
                   PyObject *strings, unsigned depth);
  /// The elements of a tuple at `depth`.
  bool addElements(const LaunchParameter &parameter, PyObject *tuple,
                   PyObject *strings, unsigned depth);
  bool addInteger(const LaunchParameter &parameter, PyObject *value);
  bool addArray(const ArgumentType &type, bool isAligned, PyObject *value);
  bool addExchange(const ArgumentType &type, bool isAligned, PyObject *value);
  bool addObject(const ArgumentType &type, bool isAligned, PyObject *value);
  bool addCudaInterface(bool isAligned, PyObject *value);
  bool addDescriptor(PyObject *value, PyObject *strings);
  bool addNumbers(PyObject *tuple, Py_ssize_t size);
  bool addArrayWords(PyObject *elementType, uint64_t address, bool isAligned);
  /// Adds an array; `word` holds its tag and payload.
  bool pushArray(uint64_t word, uint64_t address, bool isAligned);
  bool addConstant(PyObject *value, PyObject *strings, unsigned depth);
  bool addFields(const ArgumentType &type, PyObject *value, PyObject *strings,
                 unsigned depth);
  bool addStream(PyObject *stream);

  unsigned numWords = 0, numValues = 0, numHeld = 0, numOwned = 0,
           numStreams = 0, numArrays = 0;
  int device = -1;
  const dlpack::ExchangeAPI *api = nullptr;
  // Left as they are: only the first elements are used.
  uint64_t words[kMaxWords];
  uint64_t values[kMaxParameters];
  uint64_t arrays[kMaxParameters];
  uint64_t streams[kMaxStreams];
  PyObject *held[kMaxObjects];
  PyObject *owned[kMaxObjects];
};

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_ARGUMENTKEY_H
