//===- LauncherTypes.cpp - The Python types of launches -------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `KernelBase`, from which JITFunction is derived, and `Launcher`, which its
// `[grid]` makes; see Launcher.cpp. They are plain types of the C API:
// nanobind's have no subscripts in C and no vectorcall.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Launcher.h"

#include <cstddef>
#include <stdexcept>

#if PY_VERSION_HEX < 0x030C0000
#include <structmember.h>
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

namespace nb = nanobind;
using namespace mlir::tile::python;

static PyTypeObject *launcherType = nullptr;

/// These functions are called from C.
static PyObject *raise(const std::exception &error) {
  PyErr_SetString(PyExc_RuntimeError, error.what());
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The type Launcher
//===----------------------------------------------------------------------===//

static int traverseLauncher(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<LauncherObject *>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->kernel);
  Py_VISIT(self->grid);
  return 0;
}

static int clearLauncher(PyObject *object) {
  // A launcher without its kernel could not be called any more; breaking the
  // cycle at the grid is enough, kernels break those through themselves.
  auto *self = reinterpret_cast<LauncherObject *>(object);
  Py_INCREF(Py_None);
  PyObject *grid = std::exchange(self->grid, Py_None);
  Py_DECREF(grid);
  return 0;
}

static void freeLauncher(PyObject *object) {
  auto *self = reinterpret_cast<LauncherObject *>(object);
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  PyObject_GC_UnTrack(object);
  Py_DECREF(reinterpret_cast<PyObject *>(self->kernel));
  Py_DECREF(self->grid);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

static PyMemberDef launcherMembers[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET,
     offsetof(LauncherObject, vectorcall), Py_READONLY, nullptr},
    {"kernel", Py_T_OBJECT_EX, offsetof(LauncherObject, kernel), Py_READONLY,
     "The kernel that a call launches."},
    {"grid", Py_T_OBJECT_EX, offsetof(LauncherObject, grid), Py_READONLY,
     "The grid of the launches."},
    {nullptr, 0, 0, 0, nullptr}};

static PyType_Slot launcherSlots[] = {
    {Py_tp_doc,
     const_cast<char *>("A kernel with its grid; a call launches it.")},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseLauncher)},
    {Py_tp_clear, reinterpret_cast<void *>(clearLauncher)},
    {Py_tp_dealloc, reinterpret_cast<void *>(freeLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, launcherMembers},
    {0, nullptr}};

static PyType_Spec launcherSpec = {
    "tile._C.Launcher", sizeof(LauncherObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    launcherSlots};

/// `kernel[grid]`
static PyObject *makeLauncher(PyObject *kernel, PyObject *grid) {
  LauncherObject *self = PyObject_GC_New(LauncherObject, launcherType);
  if (!self)
    return nullptr;
  self->vectorcall = launch;
  Py_INCREF(kernel);
  self->kernel = reinterpret_cast<KernelObject *>(kernel);
  Py_INCREF(grid);
  self->grid = grid;
  self->isFixed = readGrid(grid, self->extents);
  PyObject_GC_Track(reinterpret_cast<PyObject *>(self));
  return reinterpret_cast<PyObject *>(self);
}

//===----------------------------------------------------------------------===//
// The type KernelBase
//===----------------------------------------------------------------------===//

static void forget(PyObject *&object) {
  PyObject *old = std::exchange(object, nullptr);
  Py_XDECREF(old);
}

static void clearState(LaunchState &state) {
  state.table.clear();
  state.plans.clear();
  dropGlobals(state);
  CallSignature signature = std::exchange(state.signature, {});
  for (LaunchParameter &parameter : signature.parameters) {
    Py_DECREF(parameter.name);
    Py_XDECREF(parameter.defaultValue);
  }
  for (PyObject *option : signature.options)
    Py_DECREF(option);
  Py_XDECREF(signature.ignored);
  // No strings: Python does the launches from now on.
  forget(state.strings);
  forget(state.usedGlobals);
}

static PyObject *newKernel(PyTypeObject *type, PyObject *, PyObject *) {
  auto allocate =
      reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject *object = allocate(type, 0);
  if (!object)
    return nullptr;
  auto *self = reinterpret_cast<KernelObject *>(object);
  self->hooks = PyList_New(0);
  try {
    self->state = new LaunchState;
  } catch (const std::exception &error) {
    Py_DECREF(object);
    return raise(error);
  }
  return object;
}

static int traverseKernel(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<KernelObject *>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->hooks);
  if (!self->state)
    return 0;
  const LaunchState &state = *self->state;
  for (const LaunchParameter &parameter : state.signature.parameters)
    Py_VISIT(parameter.defaultValue);
  for (const UsedGlobal &global : state.globalsInUse) {
    Py_VISIT(global.holder);
    Py_VISIT(global.value);
  }
  for (const std::unique_ptr<LaunchEntry> &entry : state.table.getEntries()) {
    Py_VISIT(entry->loaded);
    Py_VISIT(entry->compiled);
    Py_VISIT(entry->cache);
    for (PyObject *held : entry->held)
      Py_VISIT(held);
  }
  Py_VISIT(state.strings);
  Py_VISIT(state.usedGlobals);
  return 0;
}

static int clearKernel(PyObject *object) {
  auto *self = reinterpret_cast<KernelObject *>(object);
  forget(self->hooks);
  if (self->state)
    clearState(*self->state);
  return 0;
}

static void freeKernel(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  clearKernel(object);
  delete reinterpret_cast<KernelObject *>(object)->state;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject *>(type));
}

static PyObject *intern(PyObject *name) {
  Py_INCREF(name);
  PyUnicode_InternInPlace(&name);
  return name;
}

static bool configureParameters(CallSignature &signature,
                                PyObject *parameters) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(parameters); ++i) {
    PyObject *name, *defaults;
    int isConstexpr, specialise, align, isForcedInt, isForcedFloat;
    if (!PyArg_ParseTuple(PyTuple_GetItem(parameters, i), "UO!ppppp", &name,
                          &PyTuple_Type, &defaults, &isConstexpr, &specialise,
                          &align, &isForcedInt, &isForcedFloat))
      return false;
    // A tuple with the default, or an empty one.
    PyObject *defaultValue =
        PyTuple_Size(defaults) ? PyTuple_GetItem(defaults, 0) : nullptr;
    Py_XINCREF(defaultValue);
    signature.parameters.push_back(
        {intern(name), defaultValue, isConstexpr != 0, specialise != 0,
         align != 0, isForcedInt != 0, isForcedFloat != 0});
  }
  return true;
}

/// See `methods`.
static PyObject *configure(PyObject *object, PyObject *arguments) {
  PyObject *parameters, *options, *ignored, *usedGlobals;
  if (!PyArg_ParseTuple(arguments, "O!O!OO!", &PyTuple_Type, &parameters,
                        &PyTuple_Type, &options, &ignored, &PyDict_Type,
                        &usedGlobals))
    return nullptr;
  LaunchState &state = *reinterpret_cast<KernelObject *>(object)->state;
  try {
    clearState(state);
    if (!configureParameters(state.signature, parameters))
      return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_Size(options); ++i)
      state.signature.options.push_back(intern(PyTuple_GetItem(options, i)));
  } catch (const std::exception &error) {
    return raise(error);
  }
  Py_INCREF(ignored);
  state.signature.ignored = ignored;
  Py_INCREF(usedGlobals);
  state.usedGlobals = usedGlobals;
  // Longer lists of parameters are left to Python.
  if (state.signature.parameters.size() <= ArgumentKey::kMaxParameters)
    state.strings = PyDict_New();
  Py_RETURN_NONE;
}

static PyObject *forgetKernels(PyObject *object, PyObject *) {
  LaunchState &state = *reinterpret_cast<KernelObject *>(object)->state;
  ++state.numForgotten;
  state.table.clear();
  Py_RETURN_NONE;
}

static PyObject *getStatistics(PyObject *object, PyObject *) {
  const LaunchState &state = *reinterpret_cast<KernelObject *>(object)->state;
  return Py_BuildValue("nK", Py_ssize_t(state.table.size()),
                       static_cast<unsigned long long>(state.numFastLaunches));
}

static PyMethodDef kernelMethods[] = {
    {"_configure_launches", configure, METH_VARARGS,
     "Takes the parameters as tuples (name, (default,) or (), is constexpr, "
     "specialise, align, has an integer type, has a type of floating point), "
     "the names of options, a set of names that are ignored, and the dict of "
     "the variables that are compiled in, whose values are tuples (dict of "
     "globals, class or cell, name, value)."},
    {"_forget_kernels", forgetKernels, METH_NOARGS,
     "The next launch of each kind goes through Python."},
    {"_launch_statistics", getStatistics, METH_NOARGS,
     "The number of kernels that are known here, and of the launches that did "
     "not go through Python."},
    {nullptr, nullptr, 0, nullptr}};

static PyMemberDef kernelMembers[] = {
    {"pre_run_hooks", Py_T_OBJECT_EX, offsetof(KernelObject, hooks), 0,
     "The list of functions that are called before each launch."},
    {nullptr, 0, 0, 0, nullptr}};

static PyType_Slot kernelSlots[] = {
    {Py_tp_doc, const_cast<char *>("What JITFunction is derived from.")},
    {Py_tp_new, reinterpret_cast<void *>(newKernel)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseKernel)},
    {Py_tp_clear, reinterpret_cast<void *>(clearKernel)},
    {Py_tp_dealloc, reinterpret_cast<void *>(freeKernel)},
    {Py_tp_methods, kernelMethods},
    {Py_tp_members, kernelMembers},
    {Py_mp_subscript, reinterpret_cast<void *>(makeLauncher)},
    {0, nullptr}};

static PyType_Spec kernelSpec = {
    "tile._C.KernelBase", sizeof(KernelObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, kernelSlots};

//===----------------------------------------------------------------------===//
// What Python needs besides
//===----------------------------------------------------------------------===//

/// What a DLPack capsule describes: address, type (code, bits), device (type,
/// index), whether it is read-only. The capsule stays the owner.
static nb::tuple readCapsule(nb::handle capsule) {
  const dlpack::Tensor *tensor = nullptr;
  bool isReadOnly = false;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto *managed = static_cast<dlpack::VersionedTensor *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major != dlpack::kMajorVersion)
      throw nb::type_error("the array speaks a version of DLPack that is not "
                           "known");
    tensor = &managed->tensor;
    isReadOnly = managed->flags & dlpack::kFlagReadOnly;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    tensor = &static_cast<dlpack::ManagedTensor *>(
                  PyCapsule_GetPointer(capsule.ptr(), "dltensor"))
                  ->tensor;
  } else {
    throw nb::type_error("expected a DLPack capsule");
  }
  if (tensor->type.lanes != 1)
    throw nb::type_error("arrays of vectors cannot be passed to kernels");
  uint64_t address =
      reinterpret_cast<uintptr_t>(tensor->data) + tensor->byteOffset;
  return nb::make_tuple(address, tensor->type.code, tensor->type.bits,
                        tensor->device.type, tensor->device.id, isReadOnly);
}

/// What the exchange API of the type of `array` says: address, type (code,
/// bits), device (type, index), stream.
static nb::object readExchange(nb::handle array) {
  const ArgumentType *type = findArgumentType(array.ptr());
  if (!type || !type->api)
    return nb::none();
  dlpack::Tensor tensor = {};
  void *stream = nullptr;
  if (type->api->describe(array.ptr(), &tensor) ||
      type->api->getStream(tensor.device.type, tensor.device.id, &stream))
    throw nb::python_error();
  uint64_t address =
      reinterpret_cast<uintptr_t>(tensor.data) + tensor.byteOffset;
  return nb::make_tuple(address, tensor.type.code, tensor.type.bits,
                        tensor.device.type, tensor.device.id,
                        uint64_t(reinterpret_cast<uintptr_t>(stream)));
}

void mlir::tile::python::bindLauncher(nb::module_ &module) {
  launcherType =
      reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&launcherSpec));
  PyObject *kernelType = PyType_FromSpec(&kernelSpec);
  if (!launcherType || !kernelType)
    throw nb::python_error();
  module.attr("Launcher") =
      nb::borrow(reinterpret_cast<PyObject *>(launcherType));
  module.attr("KernelBase") = nb::steal(kernelType);
  module.def(
      "set_launch_helpers",
      [](nb::object describeType, nb::object getStream) {
        setTypeDescriber(describeType.ptr());
        setStreamGetter(getStream.ptr());
      },
      "`describe_type(value)` returns (ArrayKind, is identity) for the type of "
      "a value; `get_stream(device)` the stream to launch on.");
  module.def(
      "set_launch_hooks",
      [](nb::list before, nb::list after) {
        setLaunchHooks(before.ptr(), after.ptr());
      },
      "While one of these lists of functions has an element, all launches go "
      "through Python.");
  module.def("read_capsule", readCapsule);
  module.def("read_exchange", readExchange);
}
