//===- Launcher.cpp - kernel[grid](...) without Python --------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launch path. `JITFunction` in jit.py derives from the type `KernelBase`
// here, whose `[grid]` makes a `Launcher`, a small object that holds kernel and
// grid and that is called through the vectorcall protocol. A call
//
//   1. finds where each argument belongs (CallPlan: by the number of positional
//      arguments and the address of the tuple of keywords),
//   2. turns the arguments into words (ArgumentKey),
//   3. looks the words up (LaunchTable), and
//   4. packs the values into a buffer on the stack and calls the driver.
//
// A hit on arrays with the exchange API makes no Python object, but for the
// dict that a callable grid is called with. It waits for nothing, so a launch
// can be captured into a CUDA graph. It keeps no reference to an array.
//
// The fast path understands arrays on one GPU whose context is current,
// numbers, tuples, descriptors and the usual constants. Everything else goes to
// `JITFunction.run`, which does it all in Python: the first launch of each key,
// host arrays, hooks, and all errors. After a launch from Python with a key
// that the fast path understands the kernel is entered into the table.
//
// What invalidates an entry is checked at each launch without environment or
// dict work: the lists of hooks are empty, the globals that were compiled in
// are the same objects (Python compares their values if not), the dict of
// compiled kernels was not cleared, the context is the one that the kernel was
// loaded in.
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"
#include "Bindings.h"
#include "CudaKernel.h"

#include <stdexcept>

namespace nb = nanobind;
using namespace mlir::tile::python;

namespace {

/// Strings beyond this number replace the earlier ones.
constexpr Py_ssize_t kMaxStrings = 4096;

enum class Outcome { Launched, Failed, LeftToPython };

/// Marks that arguments are being read.
class ReadingScope {
public:
  explicit ReadingScope(LaunchState &state) : state(state) {
    state.isReading = true;
  }
  ReadingScope(const ReadingScope &) = delete;
  ~ReadingScope() { state.isReading = false; }

private:
  LaunchState &state;
};

} // namespace

/// Returns the stream of torch or CuPy on a device.
static PyObject *streamGetter = nullptr;

void mlir::tile::python::setStreamGetter(PyObject *getter) {
  Py_INCREF(getter);
  Py_XDECREF(streamGetter);
  streamGetter = getter;
}

/// The lists of functions that are called around all launches.
static PyObject *hooksBefore = nullptr, *hooksAfter = nullptr;

void mlir::tile::python::setLaunchHooks(PyObject *before, PyObject *after) {
  Py_INCREF(before);
  Py_INCREF(after);
  PyObject *oldBefore = std::exchange(hooksBefore, before);
  PyObject *oldAfter = std::exchange(hooksAfter, after);
  Py_XDECREF(oldBefore);
  Py_XDECREF(oldAfter);
}

static bool isEmptyList(PyObject *list) {
  return list && PyList_CheckExact(list) && PyList_Size(list) == 0;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

bool mlir::tile::python::readGrid(PyObject *grid,
                                  std::array<uint32_t, 3> &extents) {
  bool isTuple = PyTuple_CheckExact(grid);
  if (!isTuple && !PyList_CheckExact(grid))
    return false;
  Py_ssize_t size = isTuple ? PyTuple_Size(grid) : PyList_Size(grid);
  if (size < 1 || size > 3)
    return false;
  extents = {1, 1, 1};
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject *extent =
        isTuple ? PyTuple_GetItem(grid, i) : PyList_GetItem(grid, i);
    if (!PyLong_CheckExact(extent))
      return false;
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(extent, &overflow);
    if (overflow || value < 0 || value > UINT32_MAX)
      return false;
    extents[i] = uint32_t(value);
  }
  return true;
}

/// What a function as grid returns for the arguments by name; other grids stand
/// for themselves. A new reference.
static PyObject *evaluateGrid(LauncherObject *self, const CallPlan &plan,
                              PyObject *const *arguments) {
  if (!PyCallable_Check(self->grid)) {
    Py_INCREF(self->grid);
    return self->grid;
  }
  const CallSignature &signature = self->kernel->state->signature;
  Reference meta(nullptr);
  {
    // A new dict may start the garbage collector, and what it runs may launch
    // this kernel, which would replace the plan.
    ReadingScope scope(*self->kernel->state);
    meta.reset(PyDict_New());
    if (!meta)
      return nullptr;
    for (size_t i = 0; i < signature.parameters.size(); ++i)
      if (PyDict_SetItem(meta.get(), signature.parameters[i].name,
                         plan.getArgument(signature, i, arguments)))
        return nullptr;
  }
  PyObject *argument = meta.get();
  return PyObject_Vectorcall(self->grid, &argument, 1, nullptr);
}

/// Finds the extents of a grid that is not a tuple of ints. Returns false with
/// a Python error set if it is none.
static bool findExtents(LauncherObject *self, const CallPlan &plan,
                        PyObject *const *arguments,
                        std::array<uint32_t, 3> &extents) {
  Reference grid(evaluateGrid(self, plan, arguments));
  if (!grid)
    return false;
  if (readGrid(grid.get(), extents))
    return true;
  Reference read(PyObject_CallMethod(reinterpret_cast<PyObject *>(self->kernel),
                                     "read_extents", "(O)", grid.get()));
  if (!read)
    return false;
  if (readGrid(read.get(), extents))
    return true;
  PyErr_SetString(PyExc_TypeError, "read_extents returned no grid");
  return false;
}

//===----------------------------------------------------------------------===//
// The fast path
//===----------------------------------------------------------------------===//

/// The value of a variable now, a new reference; null if it has none.
static PyObject *getValue(PyObject *holder, PyObject *name) {
  if (PyDict_CheckExact(holder)) {
    PyObject *value = PyDict_GetItemWithError(holder, name);
    PyErr_Clear();
    Py_XINCREF(value);
    return value;
  }
  // The functions for cells are not in the stable ABI.
  static PyObject *contents = PyUnicode_InternFromString("cell_contents");
  PyObject *value =
      PyObject_GetAttr(holder, PyType_Check(holder) ? name : contents);
  if (!value)
    PyErr_Clear();
  return value;
}

/// Whether the globals that are compiled in are the same objects still.
static bool areGlobalsUnchanged(LaunchState &state) {
  // Attributes of classes may be computed, by any code.
  ReadingScope scope(state);
  if (PyDict_Size(state.usedGlobals) != Py_ssize_t(state.globalsInUse.size()))
    return false;
  for (const UsedGlobal &global : state.globalsInUse) {
    Reference value(getValue(global.holder, global.name));
    if (value.get() != global.value)
      return false;
  }
  return true;
}

/// Turns the arguments into words. Returns false if Python must do that.
static bool readArguments(LaunchState &state, const CallPlan &plan,
                          PyObject *const *arguments, ArgumentKey &key) {
  ReadingScope scope(state);
  // What the table and keys in use need of them they hold themselves.
  if (PyDict_Size(state.strings) >= kMaxStrings)
    PyDict_Clear(state.strings);
  const CallSignature &signature = state.signature;
  for (size_t i = 0; i < signature.parameters.size(); ++i)
    if (!key.add(signature.parameters[i],
                 plan.getArgument(signature, i, arguments), state.strings))
      return false;
  for (const CallPlan::OptionSource &option : plan.options)
    if (!key.addOption(option.option, arguments[option.argument]))
      return false;
  return key.addDevice();
}

/// The stream to launch on.
static bool findStream(const ArgumentKey &key, CudaHandle &stream) {
  if (const dlpack::ExchangeAPI *api = key.getExchangeAPI())
    return api->getStream(dlpack::kCUDA, key.getDevice(), &stream) == 0;
  Reference number(PyObject_CallFunction(streamGetter, "i", key.getDevice()));
  if (!number)
    return false;
  uint64_t handle = PyLong_AsUnsignedLongLong(number.get());
  stream = reinterpret_cast<CudaHandle>(handle);
  return !PyErr_Occurred();
}

/// Launches a kernel whose references the caller holds.
static Outcome launchKernel(const CudaKernel &kernel, ArgumentKey &key,
                            const std::array<uint32_t, 3> &extents) {
  if (extents[0] == 0 || extents[1] == 0 || extents[2] == 0)
    return Outcome::Launched;
  CudaHandle stream = nullptr;
  if (!findStream(key, stream))
    return Outcome::Failed;
  uint64_t *values = key.getValues();
  kernel.getParameters().packInPlace(values);
  void *pointers[ArgumentKey::kMaxParameters];
  for (unsigned i = 0; i < key.getNumValues(); ++i)
    pointers[i] = &values[i];
  // A full queue makes the driver wait for the GPU, which may wait for a host
  // function that needs the GIL.
  CudaStatus status;
  {
    GilReleased released;
    for (unsigned i = 0; i < key.getNumStreams(); ++i)
      if (!isSameStream(reinterpret_cast<uintptr_t>(stream),
                        key.getStreams()[i]))
        waitForStream(stream,
                      reinterpret_cast<CudaHandle>(key.getStreams()[i]));
    status = kernel.launchPacked(extents, pointers, stream);
  }
  if (status != 0)
    kernel.throwLaunchError(status);
  return Outcome::Launched;
}

/// Launches if the kernel is known; sets `result` to the compiled kernel then.
/// Otherwise `isKeyComplete` says whether `key` stands for the arguments.
static Outcome launchFast(LauncherObject *self, PyObject *const *arguments,
                          Py_ssize_t numPositional, PyObject *keywords,
                          ArgumentKey &key, bool &isKeyComplete,
                          PyObject *&result) {
  KernelObject *kernel = self->kernel;
  LaunchState &state = *kernel->state;
  if (state.isReading || !state.strings)
    return Outcome::LeftToPython;
  const CallPlan *plan =
      state.plans.find(state.signature, numPositional, keywords);
  if (!plan)
    return Outcome::LeftToPython;
  if (!readArguments(state, *plan, arguments, key) ||
      !isEmptyList(kernel->hooks) || !isEmptyList(hooksBefore) ||
      !isEmptyList(hooksAfter))
    return Outcome::LeftToPython;
  isKeyComplete = true;
  // First, for it may run code that clears the table.
  if (!areGlobalsUnchanged(state))
    return Outcome::LeftToPython;
  LaunchEntry *entry = state.table.find(key.getWords(), key.getNumWords());
  if (!entry)
    return Outcome::LeftToPython;
  if (PyDict_Size(entry->cache) < entry->cacheSize) {
    state.table.clear();
    return Outcome::LeftToPython;
  }
  const CudaKernel &loaded = *entry->kernel;
  if (!loaded.isContextCurrent())
    return Outcome::LeftToPython;
  // What runs below may clear the table.
  Py_INCREF(entry->loaded);
  Py_INCREF(entry->compiled);
  Reference loadedOwner(entry->loaded), compiled(entry->compiled);
  std::array<uint32_t, 3> extents = self->extents;
  if (!self->isFixed && !findExtents(self, *plan, arguments, extents))
    return Outcome::Failed;
  ++state.numFastLaunches;
  Outcome outcome = launchKernel(loaded, key, extents);
  if (outcome == Outcome::Launched)
    result = compiled.release();
  return outcome;
}

//===----------------------------------------------------------------------===//
// The way through Python
//===----------------------------------------------------------------------===//

void mlir::tile::python::dropGlobals(LaunchState &state) {
  std::vector<UsedGlobal> old = std::move(state.globalsInUse);
  state.globalsInUse.clear();
  for (UsedGlobal &global : old) {
    Py_DECREF(global.holder);
    Py_DECREF(global.name);
    Py_XDECREF(global.value);
  }
}

/// Notes which globals are compiled in, and their values, which Python has
/// found to be right.
static void noteGlobals(LaunchState &state) {
  // Attributes of classes may be computed, by any code.
  ReadingScope scope(state);
  dropGlobals(state);
  PyObject *key, *used;
  Py_ssize_t position = 0;
  while (PyDict_Next(state.usedGlobals, &position, &key, &used)) {
    PyObject *holder, *name, *unused;
    if (!PyArg_ParseTuple(used, "OOO", &holder, &name, &unused)) {
      // Fewer than there are: launches are left to Python.
      PyErr_Clear();
      continue;
    }
    Py_INCREF(holder);
    Py_INCREF(name);
    PyObject *value = getValue(holder, name);
    state.globalsInUse.push_back({holder, name, value});
  }
}

/// Enters the kernel that Python launched into the table. `numForgotten` is
/// from before the launch: a thread or a grid's function may have changed since
/// what kernels are compiled with.
static bool enterKernel(KernelObject *kernel, const ArgumentKey &key,
                        PyObject *compiled, uint64_t numForgotten) {
  // (the loaded kernel, the dict that the compiled one is in), or None.
  Reference answer(PyObject_CallMethod(reinterpret_cast<PyObject *>(kernel),
                                       "_loaded_kernel", "Oi", compiled,
                                       key.getDevice()));
  if (!answer)
    return false;
  PyObject *loaded, *cache;
  if (answer.get() == Py_None)
    return true;
  if (!PyArg_ParseTuple(answer.get(), "OO!", &loaded, &PyDict_Type, &cache))
    return false;
  auto *cudaKernel = nb::cast<const CudaKernel *>(nb::handle(loaded));
  if (cudaKernel->getParameters().size() != key.getNumValues())
    return true;
  LaunchState &state = *kernel->state;
  if (state.isReading || state.numForgotten != numForgotten)
    return true;
  noteGlobals(state);
  auto entry = std::make_unique<LaunchEntry>();
  entry->key.assign(key.getWords(), key.getWords() + key.getNumWords());
  entry->held.assign(key.getHeldObjects(),
                     key.getHeldObjects() + key.getNumHeldObjects());
  for (PyObject *object : entry->held)
    Py_INCREF(object);
  entry->kernel = cudaKernel;
  Py_INCREF(loaded);
  entry->loaded = loaded;
  Py_INCREF(compiled);
  entry->compiled = compiled;
  Py_INCREF(cache);
  entry->cache = cache;
  entry->cacheSize = PyDict_Size(cache);
  state.table.insert(std::move(entry));
  return true;
}

/// Whether a keyword of a call is a keyword of `run`, too: the kernel has a
/// parameter of that name.
static bool isAmbiguous(PyObject *keywords) {
  for (Py_ssize_t i = 0; keywords && i < PyTuple_Size(keywords); ++i) {
    PyObject *name = PyTuple_GetItem(keywords, i);
    if (PyUnicode_CompareWithASCIIString(name, "grid") == 0 ||
        PyUnicode_CompareWithASCIIString(name, "warmup") == 0)
      return true;
  }
  return false;
}

/// `kernel.run_named(grid, arguments, keywords)`
static PyObject *callRunNamed(LauncherObject *self, PyObject *const *arguments,
                              Py_ssize_t numPositional, PyObject *keywords) {
  Reference values(PyTuple_New(numPositional)), named(PyDict_New());
  if (!values || !named)
    return nullptr;
  for (Py_ssize_t i = 0; i < numPositional; ++i) {
    Py_INCREF(arguments[i]);
    PyTuple_SetItem(values.get(), i, arguments[i]);
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(keywords); ++i)
    if (PyDict_SetItem(named.get(), PyTuple_GetItem(keywords, i),
                       arguments[numPositional + i]))
      return nullptr;
  return withoutUnwinding([&] {
    return PyObject_CallMethod(reinterpret_cast<PyObject *>(self->kernel),
                               "run_named", "OOO", self->grid, values.get(),
                               named.get());
  });
}

/// `kernel.run(*arguments, **keywords, grid=grid)`
static PyObject *callRun(LauncherObject *self, PyObject *const *arguments,
                         Py_ssize_t numPositional, PyObject *keywords) {
  Py_ssize_t numKeywords = keywords ? PyTuple_Size(keywords) : 0;
  if (isAmbiguous(keywords))
    return callRunNamed(self, arguments, numPositional, keywords);
  Reference run(PyObject_GetAttrString(
      reinterpret_cast<PyObject *>(self->kernel), "run"));
  Reference names(PyTuple_New(numKeywords + 1));
  if (!run || !names)
    return nullptr;
  for (Py_ssize_t i = 0; i < numKeywords; ++i) {
    PyObject *name = PyTuple_GetItem(keywords, i);
    Py_INCREF(name);
    PyTuple_SetItem(names.get(), i, name);
  }
  PyTuple_SetItem(names.get(), numKeywords, PyUnicode_InternFromString("grid"));
  // The first element is the callee's to use.
  std::vector<PyObject *> all{nullptr};
  all.insert(all.end(), arguments, arguments + numPositional + numKeywords);
  all.push_back(self->grid);
  return withoutUnwinding([&] {
    return PyObject_Vectorcall(run.get(), all.data() + 1,
                               numPositional | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               names.get());
  });
}

PyObject *mlir::tile::python::launch(PyObject *callable,
                                     PyObject *const *arguments,
                                     size_t numArguments, PyObject *keywords) {
  auto *self = reinterpret_cast<LauncherObject *>(callable);
  Py_ssize_t numPositional = PyVectorcall_NARGS(numArguments);
  if (keywords && PyTuple_Size(keywords) == 0)
    keywords = nullptr;
  try {
    ArgumentKey key;
    bool isKeyComplete = false;
    PyObject *result = nullptr;
    switch (launchFast(self, arguments, numPositional, keywords, key,
                       isKeyComplete, result)) {
    case Outcome::Launched:
      return result;
    case Outcome::Failed:
      return nullptr;
    case Outcome::LeftToPython:
      break;
    }
    uint64_t numForgotten = self->kernel->state->numForgotten;
    Reference compiled(callRun(self, arguments, numPositional, keywords));
    if (!compiled)
      return nullptr;
    if (isKeyComplete &&
        !enterKernel(self->kernel, key, compiled.get(), numForgotten))
      return nullptr;
    return compiled.release();
  } catch (nb::python_error &error) {
    error.restore();
    return nullptr;
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}
