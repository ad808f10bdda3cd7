//===- ArgumentKey.cpp - The arguments of a launch as words ---------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentKey.h"
#include "CudaDriver.h"

#include <cstring>
#include <vector>

using namespace mlir::tile::python;

namespace {

enum Tag : uint64_t {
  // Run-time arguments.
  None,
  One,
  Bool,
  Float,
  Int32,
  Int64,
  ForcedInt,
  ArrayByCode,
  ArrayByObject,
  Tuple,
  NamedTuple,
  Descriptor,
  // Constants.
  ConstNone,
  ConstTrue,
  ConstFalse,
  ConstInt,
  ConstFloat,
  ConstString,
  ConstTuple,
  ConstFields,
  ConstObject,
  // Others.
  Option,
  DeviceIndex,
};

constexpr unsigned kAlignedShift = 8;
constexpr unsigned kPayloadShift = 16;
constexpr unsigned kSameAsShift = 48;
/// Tuples may be nested this deep.
constexpr unsigned kMaxDepth = 8;
/// Types beyond this number are left to Python: programs that make types
/// without end must not fill the memory.
constexpr size_t kMaxTypes = 256;

} // namespace

/// Entries stay where they are: code that runs while one is in use may add
/// more.
static std::vector<ArgumentType> &getTypes() {
  static std::vector<ArgumentType> types = [] {
    std::vector<ArgumentType> result;
    result.reserve(kMaxTypes);
    return result;
  }();
  return types;
}

static PyObject *typeDescriber = nullptr;

void mlir::tile::python::setTypeDescriber(PyObject *describer) {
  Py_INCREF(describer);
  Py_XDECREF(typeDescriber);
  typeDescriber = describer;
}

/// The table of functions of a type in the version that we know, or null.
static const dlpack::ExchangeAPI *getExchangeAPI(PyTypeObject *type) {
  PyObject *capsule = PyObject_GetAttrString(reinterpret_cast<PyObject *>(type),
                                             "__dlpack_c_exchange_api__");
  auto *api = capsule
                  ? static_cast<const dlpack::ExchangeAPI *>(
                        PyCapsule_GetPointer(capsule, "dlpack_exchange_api"))
                  : nullptr;
  Py_XDECREF(capsule);
  PyErr_Clear();
  while (api && api->version.major > dlpack::kMajorVersion)
    api = api->previous;
  if (!api || api->version.major != dlpack::kMajorVersion || !api->describe ||
      !api->getStream)
    return nullptr;
  return api;
}

/// Asks Python about a type that is new.
static const ArgumentType *describeType(PyObject *value) {
  std::vector<ArgumentType> &types = getTypes();
  if (!typeDescriber || types.size() >= kMaxTypes)
    return nullptr;
  PyObject *answer =
      PyObject_CallFunctionObjArgs(typeDescriber, value, nullptr);
  int array = 0, isIdentity = 0;
  PyObject *fields = nullptr;
  bool isValid =
      answer && PyArg_ParseTuple(answer, "ipO", &array, &isIdentity, &fields);
  // Kept for as long as the type.
  fields = isValid && PyTuple_CheckExact(fields) ? fields : nullptr;
  Py_XINCREF(fields);
  Py_XDECREF(answer);
  if (!isValid) {
    PyErr_Clear();
    return nullptr;
  }
  // Meanwhile other threads may have asked, about this type too.
  const ArgumentType *known = nullptr;
  for (const ArgumentType &other : types)
    known = other.type == Py_TYPE(value) ? &other : known;
  if (known || types.size() >= kMaxTypes) {
    Py_XDECREF(fields);
    return known;
  }
  ArgumentType entry{Py_TYPE(value), ArrayKind(array), isIdentity != 0, fields,
                     nullptr};
  if (entry.array == ArrayKind::Exchange) {
    entry.api = getExchangeAPI(entry.type);
    if (!entry.api)
      entry.array = ArrayKind::None;
  }
  // The type stays alive: another one at its address would be mistaken for it.
  Py_INCREF(reinterpret_cast<PyObject *>(entry.type));
  types.push_back(entry);
  return &types.back();
}

const ArgumentType *mlir::tile::python::findArgumentType(PyObject *value) {
  PyTypeObject *type = Py_TYPE(value);
  for (const ArgumentType &entry : getTypes())
    if (entry.type == type)
      return &entry;
  return describeType(value);
}

static uint64_t getBits(double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

bool ArgumentKey::addInteger(const LaunchParameter &parameter,
                             PyObject *value) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow)
    return false;
  if (parameter.isForcedFloat)
    return pushValue(Float, getBits(double(number)));
  bool isAligned = parameter.specialise && number % 16 == 0;
  if (parameter.isForcedInt)
    return pushValue(ForcedInt | uint64_t(isAligned) << kAlignedShift,
                     uint64_t(number));
  if (parameter.specialise && number == 1)
    return push(One);
  isAligned &= parameter.align;
  Tag tag = number == int32_t(number) ? Int32 : Int64;
  return pushValue(tag | uint64_t(isAligned) << kAlignedShift,
                   uint64_t(number));
}

bool ArgumentKey::pushArray(uint64_t word, uint64_t address, bool isAligned) {
  if (numArrays == kMaxParameters)
    return false;
  // Null is no memory. There are few arrays.
  for (unsigned i = 0; address && i < numArrays; ++i)
    if (arrays[i] == address) {
      word |= uint64_t(i + 1) << kSameAsShift;
      break;
    }
  arrays[numArrays++] = address;
  isAligned &= address % 16 == 0;
  return pushValue(word | uint64_t(isAligned) << kAlignedShift, address);
}

bool ArgumentKey::addExchange(const ArgumentType &type, bool isAligned,
                              PyObject *value) {
  dlpack::Tensor tensor = {};
  if (type.api->describe(value, &tensor) != 0) {
    // Python finds the same error, with more words.
    PyErr_Clear();
    return false;
  }
  if (tensor.device.type != dlpack::kCUDA || !setDevice(tensor.device.id))
    return false;
  if (!api)
    api = type.api;
  uint64_t address =
      reinterpret_cast<uintptr_t>(tensor.data) + tensor.byteOffset;
  uint32_t code;
  static_assert(sizeof code == sizeof tensor.type);
  std::memcpy(&code, &tensor.type, sizeof code);
  return pushArray(ArrayByCode | uint64_t(code) << kPayloadShift, address,
                   isAligned);
}

/// Converts and drops `number`, a new reference or null.
static bool takeUnsigned(PyObject *number, uint64_t &result) {
  if (!number)
    return false;
  result = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  return !PyErr_Occurred();
}

static PyObject *callMethod(PyObject *object, PyObject *name) {
  return PyObject_VectorcallMethod(name, &object,
                                   1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

bool ArgumentKey::addArrayWords(PyObject *elementType, uint64_t address,
                                bool isAligned) {
  return pushArray(ArrayByObject, address, isAligned) &&
         pushObject(elementType);
}

bool ArgumentKey::addObject(const ArgumentType &type, bool isAligned,
                            PyObject *value) {
  static PyObject *dataPointer = PyUnicode_InternFromString("data_ptr");
  static PyObject *getDevice = PyUnicode_InternFromString("get_device");
  static PyObject *elementTypeName = PyUnicode_InternFromString("dtype");
  uint64_t address = 0;
  if (!takeUnsigned(callMethod(value, dataPointer), address))
    return false;
  int index = 0;
  if (type.array == ArrayKind::Torch) {
    PyObject *number = callMethod(value, getDevice);
    index = number ? int(PyLong_AsLong(number)) : -1;
    Py_XDECREF(number);
  } else {
    // An empty array may be on any device.
    index = address ? getDeviceOfAddress(address) : -1;
  }
  PyObject *elementType = PyObject_GetAttr(value, elementTypeName);
  return own(elementType) && setDevice(index) &&
         addArrayWords(elementType, address, isAligned);
}

bool ArgumentKey::addStream(PyObject *stream) {
  if (!stream || stream == Py_None)
    return true;
  uint64_t handle = PyLong_AsUnsignedLongLong(stream);
  if (PyErr_Occurred() || handle == 0)
    return false;
  for (unsigned i = 0; i < numStreams; ++i)
    if (streams[i] == handle)
      return true;
  if (numStreams == kMaxStreams)
    return false;
  streams[numStreams++] = handle;
  return true;
}

bool ArgumentKey::addCudaInterface(bool isAligned, PyObject *value) {
  static PyObject *name =
      PyUnicode_InternFromString("__cuda_array_interface__");
  PyObject *description = PyObject_GetAttr(value, name);
  if (!own(description) || !PyDict_Check(description))
    return false;
  PyObject *data = PyDict_GetItemString(description, "data");
  PyObject *elementType = PyDict_GetItemString(description, "typestr");
  PyObject *mask = PyDict_GetItemString(description, "mask");
  if (!data || !PyTuple_CheckExact(data) || PyTuple_Size(data) != 2 ||
      !elementType || !PyUnicode_CheckExact(elementType) ||
      (mask && mask != Py_None))
    return false;
  uint64_t address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(data, 0));
  // Empty arrays may have no address, by which their device would be known.
  if (PyErr_Occurred() || address == 0 ||
      !setDevice(getDeviceOfAddress(address)) ||
      !addStream(PyDict_GetItemString(description, "stream")))
    return false;
  // One object for all strings of that value.
  Py_INCREF(elementType);
  PyUnicode_InternInPlace(&elementType);
  return own(elementType) && addArrayWords(elementType, address, isAligned);
}

bool ArgumentKey::addArray(const ArgumentType &type, bool isAligned,
                           PyObject *value) {
  switch (type.array) {
  case ArrayKind::None:
  case ArrayKind::Descriptor:
    return false;
  case ArrayKind::Exchange:
    return addExchange(type, isAligned, value);
  case ArrayKind::Torch:
  case ArrayKind::DataPointer:
  case ArrayKind::CudaInterface: {
    bool isRead = type.array == ArrayKind::CudaInterface
                      ? addCudaInterface(isAligned, value)
                      : addObject(type, isAligned, value);
    if (!isRead)
      PyErr_Clear();
    return isRead;
  }
  }
  return false;
}

static uint64_t getFloatBits(PyObject *value) {
  return getBits(PyFloat_AsDouble(value));
}

bool ArgumentKey::addConstant(PyObject *value, PyObject *strings,
                              unsigned depth) {
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyLong_Type) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow && push(ConstInt) && push(uint64_t(number));
  }
  if (type == &PyBool_Type)
    return push(value == Py_True ? ConstTrue : ConstFalse);
  if (value == Py_None)
    return push(ConstNone);
  if (type == &PyFloat_Type)
    return push(ConstFloat) && push(getFloatBits(value));
  if (type == &PyUnicode_Type) {
    PyObject *known = PyDict_GetItemWithError(strings, value);
    if (!known && PyDict_SetItem(strings, value, value) == 0)
      known = value;
    PyErr_Clear();
    // The dict may be emptied while the key is in use.
    Py_XINCREF(known);
    return own(known) && push(ConstString) && pushObject(known);
  }
  if (type == &PyTuple_Type) {
    Py_ssize_t size = PyTuple_Size(value);
    if (depth == kMaxDepth ||
        !push(ConstTuple | uint64_t(size) << kPayloadShift))
      return false;
    for (Py_ssize_t i = 0; i < size; ++i)
      if (!addConstant(PyTuple_GetItem(value, i), strings, depth + 1))
        return false;
    return true;
  }
  const ArgumentType *info = findArgumentType(value);
  if (info && info->fields)
    return addFields(*info, value, strings, depth);
  return info && info->isIdentity && push(ConstObject) && pushObject(value);
}

bool ArgumentKey::addFields(const ArgumentType &type, PyObject *value,
                            PyObject *strings, unsigned depth) {
  bool isTuple = PyTuple_Check(value);
  Py_ssize_t size = PyTuple_Size(isTuple ? value : type.fields);
  if (depth == kMaxDepth ||
      !push(ConstFields | uint64_t(size) << kPayloadShift) ||
      !pushObject(reinterpret_cast<PyObject *>(type.type)))
    return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject *part = isTuple ? PyTuple_GetItem(value, i) : nullptr;
    if (!isTuple) {
      part = PyObject_GetAttr(value, PyTuple_GetItem(type.fields, i));
      if (!own(part)) {
        PyErr_Clear();
        return false;
      }
    }
    if (!addConstant(part, strings, depth + 1))
      return false;
  }
  return true;
}

/// Adds the first `size` elements of a tuple of ints as values that are passed.
bool ArgumentKey::addNumbers(PyObject *tuple, Py_ssize_t size) {
  if (numValues + size > kMaxParameters)
    return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject *number = PyTuple_GetItem(tuple, i);
    int overflow = 0;
    values[numValues++] = PyLong_CheckExact(number)
                              ? PyLong_AsLongLongAndOverflow(number, &overflow)
                              : (overflow = 1);
    if (overflow)
      return false;
  }
  return true;
}

bool ArgumentKey::addDescriptor(PyObject *value, PyObject *strings) {
  static PyObject *names[] = {PyUnicode_InternFromString("base"),
                              PyUnicode_InternFromString("shape"),
                              PyUnicode_InternFromString("strides"),
                              PyUnicode_InternFromString("block_shape"),
                              PyUnicode_InternFromString("padding")};
  PyObject *parts[5];
  for (int i = 0; i < 5; ++i) {
    parts[i] = PyObject_GetAttr(value, names[i]);
    if (!own(parts[i])) {
      PyErr_Clear();
      return false;
    }
  }
  auto [base, shape, strides, blockShape, padding] = parts;
  if (!PyTuple_CheckExact(shape) || !PyTuple_CheckExact(strides) ||
      !PyTuple_CheckExact(blockShape))
    return false;
  Py_ssize_t rank = PyTuple_Size(blockShape);
  const ArgumentType *type = findArgumentType(base);
  // What the kernel knows of the alignment is the same for all descriptors.
  return rank > 0 && PyTuple_Size(shape) == rank &&
         PyTuple_Size(strides) == rank && type && push(Descriptor) &&
         addArray(*type, /*isAligned=*/false, base) &&
         addConstant(blockShape, strings, 0) &&
         addConstant(padding, strings, 0) && addNumbers(shape, rank) &&
         addNumbers(strides, rank - 1);
}

bool ArgumentKey::addElements(const LaunchParameter &parameter, PyObject *tuple,
                              PyObject *strings, unsigned depth) {
  for (Py_ssize_t i = 0, size = PyTuple_Size(tuple); i < size; ++i)
    if (!addArgument(parameter, PyTuple_GetItem(tuple, i), strings, depth + 1))
      return false;
  return true;
}

bool ArgumentKey::addArgument(const LaunchParameter &parameter, PyObject *value,
                              PyObject *strings, unsigned depth) {
  if (parameter.isConstexpr)
    return addConstant(value, strings, 0);
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyLong_Type)
    return addInteger(parameter, value);
  if (type == &PyFloat_Type)
    return pushValue(Float, getFloatBits(value));
  if (type == &PyBool_Type)
    return pushValue(Bool, value == Py_True);
  if (value == Py_None)
    return push(None);
  if (type == &PyTuple_Type) {
    uint64_t size = PyTuple_Size(value);
    return depth < kMaxDepth && push(Tuple | size << kPayloadShift) &&
           addElements(parameter, value, strings, depth);
  }
  const ArgumentType *info = findArgumentType(value);
  if (!info)
    return false;
  if (info->fields && PyTuple_Check(value)) {
    uint64_t size = PyTuple_Size(value);
    return depth < kMaxDepth && push(NamedTuple | size << kPayloadShift) &&
           pushObject(reinterpret_cast<PyObject *>(info->type)) &&
           addElements(parameter, value, strings, depth);
  }
  if (info->array == ArrayKind::Descriptor)
    return addDescriptor(value, strings);
  return addArray(*info, parameter.specialise && parameter.align, value);
}

bool ArgumentKey::addOption(unsigned index, PyObject *value) {
  PyTypeObject *type = Py_TYPE(value);
  if (type != &PyLong_Type && type != &PyBool_Type && value != Py_None)
    return false;
  return push(Option | uint64_t(index) << kPayloadShift) &&
         addConstant(value, nullptr, 0);
}

bool ArgumentKey::addDevice() {
  return device >= 0 && push(DeviceIndex | uint64_t(device) << kPayloadShift);
}
