# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists, dicts and objects that kernels have as constants and that change between launches: no
launch may take the code of what they were."""

import dataclasses
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = [pytest.mark.compiled, pytest.mark.emulator]


def stored(kernel, *constants) -> int:
    out = np.zeros(1, np.int32)
    kernel[(1, )](out, *constants)
    return int(out[0])


@tile.jit
def store_sum(out, VALUES: tl.constexpr):
    total: tl.constexpr = 0
    for value in tl.static_range(len(VALUES)):
        total += VALUES[value]
    tl.store(out, total)


def test_lists():
    values = [1, 2]
    assert stored(store_sum, values) == 3
    values.append(4)
    assert stored(store_sum, values) == 7
    values[:] = [1, 2]
    assert stored(store_sum, values) == 3
    nested = tl.constexpr((values, ))
    assert stored(store_first_sum, nested) == 3
    values.append(5)
    assert stored(store_first_sum, nested) == 8


@tile.jit
def store_first_sum(out, VALUES: tl.constexpr):
    tl.store(out, sum(VALUES[0]))


@pytest.mark.parametrize("value", [{"a": 1}, {1, 2}, bytearray(2), np.zeros(2)])
def test_values_without_a_hash(value):
    with pytest.raises(TypeError, match="the constexpr VALUES must be hashable, got a "):
        stored(store_sum, value)
    with pytest.raises(TypeError, match="the constexpr VALUES must be hashable, got a "):
        stored(store_sum, (value, 1))


class Plain:

    def __init__(self, value):
        self.value = value


class Slotted:
    __slots__ = ("value", )

    def __init__(self, value):
        self.value = value


@dataclasses.dataclass(eq=False)
class ByIdentity:
    value: object


@dataclasses.dataclass(unsafe_hash=True)
class Hashable:
    value: object


@dataclasses.dataclass(frozen=True)
class Holder:
    value: object


class Derived(Holder):
    """Other attributes than the fields of the base can be set."""


class HashedByValue:

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, HashedByValue) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


@tile.jit
def store_value(out, SETTING: tl.constexpr):
    tl.store(out, SETTING.value)


@tile.jit
def store_inner(out, SETTING: tl.constexpr):
    tl.store(out, SETTING.value.value)


@tile.jit
def store_second(out, SETTING: tl.constexpr):
    tl.store(out, SETTING.value[1])


@pytest.mark.parametrize("kind", [Plain, Slotted, ByIdentity, Hashable, HashedByValue])
def test_objects(kind):
    setting = kind(1)
    for value in (1, 2, 1, 3):
        setting.value = value
        assert stored(store_value, setting) == value
        assert stored(store_inner, Holder(setting)) == value


@pytest.mark.parametrize("kind", [Plain, Slotted, ByIdentity])
def test_objects_with_lists_and_objects(kind):
    setting = kind([1, 2])
    assert stored(store_second, setting) == 2
    setting.value[1] = 3
    assert stored(store_second, setting) == 3
    setting = kind(kind(4))
    assert stored(store_inner, setting) == 4
    setting.value.value = 5
    if kind is not Slotted:
        setting.itself = setting
    assert stored(store_inner, setting) == 5


def test_dataclasses_are_compared_by_value():
    compiles = []
    tile.knobs.runtime.jit_post_compile_hook = lambda **unused: compiles.append(1)
    try:
        for value in (7, 8, 7):
            assert stored(store_value, ByIdentity(value)) == value
    finally:
        tile.knobs.runtime.jit_post_compile_hook = None
    assert len(compiles) == 2


class OfClass:
    value = 1


@tile.jit
def call_method(out, METHOD: tl.constexpr):
    tl.store(out, METHOD())


def test_attributes_of_the_class(monkeypatch):
    assert stored(store_value, setting := OfClass()) == 1
    monkeypatch.setattr(OfClass, "value", 2)
    with pytest.raises(RuntimeError, match="the variable value has changed since store_value was compiled"):
        stored(store_value, setting)
    setting.value = 3
    monkeypatch.undo()
    assert stored(store_value, setting) == 3


def test_bound_methods():

    class Counter:

        def __init__(self):
            self.count = 0

        def get(self):
            return self.count + 10

    counter = Counter()
    for counter.count in (1, 2):
        assert stored(call_method, counter.get) == counter.count + 10


def _kernel_of(body: str, tmp_path, **names):
    """A kernel of a module that has the given variables."""
    module = types.ModuleType(f"changing_{tmp_path.name}")
    path = tmp_path / "changing.py"
    path.write_text(f"@tile.jit\ndef kernel(out):\n    tl.store(out, {body})\n")
    vars(module).update(names, tile=tile, tl=tl)
    sys.modules[module.__name__] = module
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    return module.kernel


def _append(values):
    values.append(9)


def _change(setting):
    setting.value = 9


class Methods(Plain):

    def get(self):
        return self.value

    @property
    def computed(self):
        return self.value

    def __call__(self):
        return self.value

    def count(self):
        """Changes the object itself."""
        self.calls = getattr(self, "calls", 0) + 1
        return self.value


class Indexed(Plain):
    """In a kernel, more is done with it than to read attributes."""

    def __getitem__(self, index):
        return self.value

    def __len__(self):
        return self.value

    def __iter__(self):
        return iter([self.value])

    def __eq__(self, other):
        return self.value == other

    __hash__ = object.__hash__


@tile.jit
def first_of(setting):
    return setting[0]


@tl.constexpr_function
def value_of(setting):
    return setting.value


@pytest.mark.parametrize("body, value, change", [
    ("THIS[-1]", tl.constexpr([1, 2]), lambda c: _append(c.value)),
    ("THIS['a']", tl.constexpr({"a": 1}), lambda c: c.value.update(a=9)),
    ("THIS.value", tl.constexpr(Plain(1)), lambda c: _change(c.value)),
    ("THIS.value", Plain(1), _change),
    ("THIS.value.value", Plain(Plain(1)), lambda o: _change(o.value)),
    ("THIS[0].value", (Plain(1), ), lambda o: _change(o[0])),
])
def test_constants_that_change_within(body, value, change, tmp_path):
    kernel = _kernel_of(body, tmp_path, THIS=value)
    old = stored(kernel)
    assert stored(kernel) == old != 9
    change(value)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="has changed since kernel was compiled, which would use its old"):
            stored(kernel)
    kernel.device_caches.clear()
    kernel.compiled_function().used_globals.clear()
    assert stored(kernel) == 9


@pytest.mark.parametrize("body, value, change", [
    ("THIS.value[-1]", Plain([1]), lambda o: _append(o.value)),
    ("THIS.get()", Methods(1), _change),
    ("THIS.count()", Methods(6), _change),
    ("THIS()", Methods(1), _change),
    ("value_of(THIS)", Methods(1), _change),
    ("THIS.LIST[-1]", types.SimpleNamespace(LIST=[1]), lambda m: _append(m.LIST)),
    ("THIS.value['a']", Plain({"a": 1}), lambda o: o.value.update(a=9)),
    ("THIS[0]", Indexed(1), _change),
    ("len(THIS)", Indexed(1), _change),
    ("sum([i for i in THIS])", Indexed(1), _change),
    ("1 if THIS == 1 else 9", Indexed(1), _change),
    ("int(THIS[0])", np.array([1, 2]), lambda a: a.fill(9)),
    ("helper(THIS)", Indexed(1), _change),
])
def test_variables_that_change_within(body, value, change, tmp_path):
    """They are nowhere said to be constant: kernels are compiled anew."""
    kernel = _kernel_of(body, tmp_path, THIS=value, value_of=value_of, helper=first_of)
    old = stored(kernel)
    assert stored(kernel) < 9
    change(value)
    for _ in range(2):
        assert stored(kernel) >= 9 > old


@pytest.mark.parametrize("kind", [Slotted, Methods])
def test_slots_and_properties(kind, tmp_path):
    kernel = _kernel_of("THIS.value" if kind is Slotted else "THIS.computed", tmp_path, THIS=(value := kind(1)))
    assert stored(kernel) == 1
    _change(value)
    assert stored(kernel) == 9


def test_kernels_are_kept_while_lists_stay(tmp_path):
    value = Plain([1])
    kernel, compiles = _kernel_of("THIS.value[0]", tmp_path, THIS=value), []
    tile.knobs.runtime.jit_post_compile_hook = lambda **unused: compiles.append(1)
    try:
        for value.value[:] in ([1], [1], [1, 2], [1, 2]):
            assert stored(kernel) == 1
    finally:
        tile.knobs.runtime.jit_post_compile_hook = None
    assert len(compiles) == 2


def test_unread_attributes_may_change(tmp_path):
    value = Methods(1)
    kernel = _kernel_of("OBJECT.value", tmp_path, OBJECT=value)
    assert stored(kernel) == 1
    value.calls = 3
    assert stored(kernel) == 1


def _table():
    table, factor = {}, 2

    @tl.constexpr_function
    def look_up(value):
        return table.setdefault(value, value) * factor

    def change(name, value):
        nonlocal factor
        if name == "factor":
            factor = value
        else:
            table[5] = value

    return look_up, change


def test_what_constexpr_functions_read(tmp_path):
    """What they keep for themselves, too: kernels are compiled anew then."""
    look_up, change = _table()
    kernel = _kernel_of("look_up(5)", tmp_path, look_up=look_up)
    for _ in range(3):
        assert stored(kernel) == 10
    change("table", 6)
    assert stored(kernel) == 12
    change("factor", 3)
    with pytest.raises(RuntimeError, match="the variable factor has changed"):
        stored(kernel)


DEFAULT = [1, 2]


@tile.jit
def with_default(out, VALUES: tl.constexpr = DEFAULT):
    tl.store(out, VALUES[-1])


@tile.jit
def calls_with_default(out):
    with_default(out)


def test_defaults():
    assert stored(with_default) == stored(calls_with_default) == 2
    DEFAULT.append(3)
    try:
        assert stored(with_default) == stored(calls_with_default) == 3
    finally:
        DEFAULT.pop()
    assert stored(with_default) == stored(calls_with_default) == 2


def test_constexprs_keep_their_values():
    constant = tl.constexpr(3)
    with pytest.raises(AttributeError, match="the value of a constexpr does not change: make another one"):
        constant.value = 4
    assert constant.value == 3


class Sizes(NamedTuple):
    rows: int
    columns: object


@tile.jit
def store_rows(out, SIZES: tl.constexpr):
    tl.store(out, SIZES.rows)


def test_named_tuples():
    assert stored(store_rows, Sizes(2, [1])) == 2
    assert stored(store_rows, Sizes(3, [1])) == 3


@tile.jit
def store_extra(out, SETTING: tl.constexpr):
    tl.store(out, SETTING.extra)


def test_attributes_of_derived_classes():
    setting = Derived(1)
    for setting.extra in (2, 3):
        assert stored(store_extra, setting) == setting.extra


def test_objects_that_have_each_other():
    """No more than once each is looked at."""
    objects = [Plain(i) for i in range(40)]
    for one in objects:
        one.others = objects[:]
    assert stored(store_value, objects[7]) == 7
    objects[39].value = 1
    objects[7].value = 8
    assert stored(store_value, objects[7]) == 8


NUMBERS, CONFIGS = [1, 2], [tile.Config({}, pre_hook=lambda args: None)]


@tile.jit
def reads_lists(out):
    tl.store(out, THIS_MODULE.NUMBERS[0] + len(THIS_MODULE.CONFIGS))


THIS_MODULE = sys.modules[__name__]


def test_keys_of_kernels_with_lists(monkeypatch):
    """They have lists of numbers in them, but nothing that is another one in the next process."""
    key = reads_lists.cache_key
    assert stored(reads_lists) == 2
    monkeypatch.setattr(THIS_MODULE, "NUMBERS", [5, 2])
    assert stored(reads_lists) == 6
    monkeypatch.undo()
    NUMBERS[0] = 5
    assert stored(reads_lists) == 6 and reads_lists.cache_key != key
    NUMBERS[0] = 1
    monkeypatch.setattr(CONFIGS[0], "pre_hook", print)
    assert stored(reads_lists) == 2 and reads_lists.cache_key == key


class Limits:
    maximum = 4

    @classmethod
    def get(cls):
        return cls.maximum


def _with_default(values=[1]):  # noqa: B006
    return values[0] + with_attribute.extra


def with_attribute():
    return with_attribute.extra + Limits.maximum


with_attribute.extra = 0


@pytest.mark.parametrize("function, change", [
    (_with_default, lambda patch: patch.setitem(_Items(_with_default.__defaults__[0]), 0, 9)),
    (with_attribute, lambda patch: patch.setattr(with_attribute, "extra", 5)),
    (with_attribute, lambda patch: patch.setattr(Limits, "maximum", 9)),
    (Limits.get, lambda patch: patch.setattr(Limits, "maximum", 9)),
])
def test_what_functions_read_of_others(function, change, monkeypatch, tmp_path):
    """Attributes of classes and functions, and lists that are defaults."""
    kernel = _kernel_of("THIS()", tmp_path, THIS=function)
    assert stored(kernel) < 9
    with monkeypatch.context() as patch:
        change(patch)
        try:
            assert stored(kernel) == 9
        except RuntimeError as error:
            assert "has changed since kernel was compiled" in str(error)
    assert stored(kernel) < 9


class _Items(dict):
    """A list, for monkeypatch."""

    def __init__(self, values):
        self.values = values

    def get(self, index, default):
        return self.values[index]

    def __setitem__(self, index, value):
        self.values[index] = value


CONSTANTS = tl.constexpr([1, 2])


@tile.jit
def changes_a_constant(out):
    CONSTANTS.append(3)
    tl.store(out, len(CONSTANTS))


def test_kernels_that_change_constants():
    try:
        with pytest.raises(tile.CompilationError, match="CONSTANTS has changed while the kernel was compiled"):
            stored(changes_a_constant)
    finally:
        CONSTANTS.value[:] = [1, 2]
