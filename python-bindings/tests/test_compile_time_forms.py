# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values known at compile time, in arguments, types, shapes and names; and other forms that
programs for Triton use."""

import numpy as np
import pytest

import tile
import tile.language as tl

MODES = pytest.mark.parametrize("mode", [lambda kernel: kernel, tile.interpret],
                                ids=["compiled", "interpreted"])


# Constants --------------------------------------------------------------------------------


@tile.jit
def nested_constants(out, values, pair: tl.constexpr):
    tl.static_assert(values[1][0] == 3)
    tl.static_assert(pair[0] + pair[1] == 7)
    tl.store(out, tl.load(values[0]) + values[1][0] * 10 + values[2])


@MODES
def test_constants_in_tuples_of_arguments(mode):
    x, out = np.array([5], np.int32), np.zeros(1, np.int32)
    mode(nested_constants)[(1, )](out, (x, (tl.constexpr(3), ), 100), (tl.constexpr(3), 4))
    assert out[0] == 135


@tile.jit
def takes_either(out, n):
    for i in tl.static_range(n):
        tl.store(out + i, i + 1)


@MODES
def test_a_constant_for_a_parameter_that_is_none(mode):
    out = np.zeros(4, np.int32)
    mode(takes_either)[(1, )](out, tl.constexpr(3))
    assert out.tolist() == [1, 2, 3, 0]


@tile.jit
def types_of_constants(out, n: tl.constexpr, one, text: tl.constexpr):
    tl.static_assert(n.type == tl.constexpr_type(6))
    tl.static_assert(n.type != tl.constexpr_type(7))
    tl.static_assert(isinstance(one.type, tl.constexpr_type))
    tl.static_assert(text.type == tl.core.constexpr_type("abc"))
    tl.static_assert((1, 2).type == tl.constexpr_type((1, 2)))
    tl.static_assert(n.type.is_int() and not n.type.is_ptr())
    variable = n
    tl.static_assert(variable.type == tl.int32)
    tl.store(out, variable + one)


@MODES
def test_types_of_constants(mode):
    out = np.zeros(1, np.int32)
    mode(types_of_constants)[(1, )](out, 6, 1, "abc")
    assert out[0] == 7
    assert repr(tl.constexpr_type(3)) == "constexpr_type[3]"
    with pytest.raises(AttributeError, match="constexpr_type.*has no attribute 'is_int'"):
        tl.constexpr_type("abc").is_int  # noqa: B018


@tile.jit
def shapes_and_lists(out):
    x = tl.full((4, 8), 1, tl.int32)
    tl.static_assert(x.shape == [4, 8])
    tl.static_assert([4, 8] == x.shape)
    tl.static_assert(x.shape != [8, 4])
    parts = [1]
    parts.append(2)
    tl.static_assert(parts == [1, 2] and [1] + parts == [1, 1, 2])
    tl.static_assert(not (parts != (1, 2)))
    tl.static_assert(x.shape + [2] == (4, 8, 2) and [2] + x.shape[1:] == [2, 8])
    tl.static_assert([2 * extent for extent in x.shape] == (8, 16))
    tl.store(out, tl.sum(x))


@MODES
def test_shapes_are_equal_to_lists(mode):
    out = np.zeros(1, np.int32)
    mode(shapes_and_lists)[(1, )](out)
    assert out[0] == 32


def test_types_of_the_module_core():
    assert tl.core.float32 is tl.float32 and tl.core.tensor is tl.tensor
    with pytest.raises(AttributeError):
        tl.core.no_such_name  # noqa: B018


@pytest.mark.parametrize("dtype,numpy_type", [(tl.float16, np.float16), (tl.float32, np.float32),
                                              (tl.bfloat16, np.float32), (tl.float64, np.float64)])
def test_exponent_bias(dtype, numpy_type):
    assert dtype.exponent_bias == 1 - np.finfo(numpy_type).minexp


@tile.must_use_result("It only returns.")
@tile.jit
def only_returns(x):
    return x + 1


@tile.jit
def uses_the_result(out):
    tl.store(out, only_returns(1))


@tile.jit
def forgets_the_result(out):
    only_returns(1)


def test_results_that_must_be_used():
    out = np.zeros(1, np.int32)
    uses_the_result[(1, )](out)
    assert out[0] == 2
    with pytest.raises(tile.CompilationError, match="The result of only_returns is not being used. It only"):
        forgets_the_result[(1, )](out)


# Names ------------------------------------------------------------------------------------


def by_signature(specialization):
    constants = [f"{name}{value}" for name, value in specialization.constants.items()]
    return f"k <{specialization.signature['x']}>, {specialization.signature['n']}, {'_'.join(constants)}"


@tile.jit(repr=by_signature)
def named(x, n, SIZE: tl.constexpr):
    tl.store(x + tl.arange(0, SIZE), n)


def test_repr_names_the_kernel():
    x = np.zeros(4, np.float32)
    kernel = named[(1, )](x, 2**40, SIZE=4)
    assert kernel.name == "k___fp32___i64__SIZE4" and f".entry {kernel.name}(" in kernel.asm["ptx"]
    assert kernel.metadata.name == kernel.name
    assert named.warmup(x, 1, SIZE=4, grid=(1, )).name == "k___fp32___constexpr__n1_SIZE4"
    assert named.warmup(tl.uint16, np.int32(7), SIZE=2, grid=(1, )).name == "k___u16___i32__SIZE2"


def test_repr_must_return_a_name():
    @tile.jit(repr=lambda specialization: None)
    def kernel(x):
        pass

    with pytest.raises(TypeError, match="repr of kernel must return the kernel's name, got None"):
        kernel.warmup(tl.float32, grid=(1, ))


# Pointers to memory that is only read -----------------------------------------------------


@tile.jit
def reads_only(x: tl.const, out, CHOOSE: tl.constexpr, BRANCH: tl.constexpr, flag):
    tl.static_assert(x.dtype.is_const() and not out.dtype.is_const())
    if BRANCH:
        if flag > 5:
            target = x
        else:
            target = out
    else:
        target = x if CHOOSE else out
    tl.store(target, tl.load(x) + 1)


def test_pointers_to_constants():
    x, out = np.ones(1, np.float32), np.zeros(1, np.float32)
    reads_only[(1, )](x, out, False, False, 7)
    assert out[0] == 2
    with pytest.raises(tile.CompilationError, match="cannot store to a constant pointer"):
        reads_only[(1, )](x, out, True, False, 7)
    with pytest.raises(tile.CompilationError, match=r"target has type const_pointer<fp32> if the condition "
                       r"holds, but pointer<fp32> otherwise") as error:
        reads_only[(1, )](x, out, True, True, 7)
    assert error.value.error_message == error.value.message
    assert isinstance(error.value, tile.TritonError)
    interpreted = tile.interpret(reads_only)
    interpreted[(1, )](x, out, False, True, 3)
    with pytest.raises(ValueError, match="cannot store to a constant pointer"):
        interpreted[(1, )](x, out, False, True, 7)


@tile.jit
def changes_what_it_reads(x: tl.const, HOW: tl.constexpr):
    if HOW == "add":
        tl.atomic_add(x + tl.arange(0, 4), 1)
    elif HOW == "cas":
        tl.atomic_cas(x, 0, 1)
    elif HOW == "store":
        tl.atomic_store(x, tl.atomic_load(x))
    elif HOW == "descriptor":
        tl.make_tensor_descriptor(x, [4], [1], [4]).store([0], tl.arange(0, 4))
    else:
        tl.make_tensor_descriptor(x, [4], [1], [4]).atomic_max([0], tl.arange(0, 4))


@MODES
@pytest.mark.parametrize("how", ["add", "cas", "store", "descriptor", "reduce"])
def test_nothing_changes_what_is_only_read(mode, how):
    with pytest.raises((tile.CompilationError, ValueError), match="cannot store to a constant pointer"):
        mode(changes_what_it_reads)[(1, )](np.zeros(4, np.int32), how)


# Conditions and regions -------------------------------------------------------------------


@tile.jit
def on_one_element(x, out):
    large = tl.load(x + tl.arange(0, 1)) > 42
    if large:
        tl.store(out, 1)
    tl.store(out + 1, 5 if large else 6)
    n = tl.zeros((1, 1), tl.int32)
    while n < 3:
        n += 1
    tl.store(out + 2, n.item())


@MODES
@pytest.mark.parametrize("value", [41, 43])
def test_a_tile_of_one_element_as_condition(mode, value):
    out = np.zeros(3, np.int32)
    mode(on_one_element)[(1, )](np.array([value], np.int32), out)
    assert out.tolist() == ([1, 5, 3] if value > 42 else [0, 6, 3])


@tile.jit
def checked_sum(a, b):
    tl.device_assert(a >= 0)
    return a + b


@tile.jit
def reduces_with_checks(x, out, scanned, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.reduce(v, 0, checked_sum))
    tl.store(scanned + tl.arange(0, N), tl.associative_scan(v, 0, checked_sum))


@MODES
def test_assertions_in_combine_functions(mode):
    x, out, scanned = np.arange(64, dtype=np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32)
    mode(reduces_with_checks)[(1, )](x, out, scanned, 64)
    assert out[0] == x.sum() and (scanned == x.cumsum()).all()


@tile.jit
def changing_descriptors(x, y, out, n, rounds):
    desc = tl.make_tensor_descriptor(x, [n, 8], [8, 1], [2, 8])
    for i in range(rounds):
        if i == 2:
            desc = tl.make_tensor_descriptor(y, [n - 1, 8], [8, 1], [2, 8])
        v = desc.load([2 * i, 0])
        tl.store(out + (2 * i + tl.arange(0, 2)[:, None]) * 8 + tl.arange(0, 8)[None, :], v)


@MODES
def test_descriptors_that_a_loop_changes(mode):
    x = np.arange(64, dtype=np.float32).reshape(8, 8) + 1
    y, out = -x, np.zeros((8, 8), np.float32)
    mode(changing_descriptors)[(1, )](x, y, out, 8, 4)
    expected = np.concatenate([x[:4], y[4:]])
    expected[7] = 0
    assert (out == expected).all()


@tile.jit
def descriptors_of_two_shapes(x, out, flag):
    desc = tl.make_tensor_descriptor(x, [8, 8], [8, 1], [2, 8])
    if flag > 5:
        desc = tl.make_tensor_descriptor(x, [8, 8], [8, 1], [4, 8])
    tl.store(out, tl.sum(desc.load([0, 0])))


@tile.jit
def descriptors_of_two_paddings(x, out, flag):
    desc = tl.make_tensor_descriptor(x, [8, 8], [8, 1], [2, 8])
    if flag > 5:
        desc = tl.make_tensor_descriptor(x, [8, 8], [8, 1], [2, 8], padding_option="nan")
    tl.store(out, tl.sum(desc.load([0, 0])))


def test_descriptors_of_two_shapes():
    x = np.zeros((8, 8), np.float32)
    with pytest.raises(tile.CompilationError, match="fp32> padded with nan if the condition holds"):
        descriptors_of_two_paddings[(1, )](x, x, 7)
    with pytest.raises(tile.CompilationError, match=r"desc has type tensor descriptor of <\[4, 8\], fp32> if "
                       r"the condition holds, but tensor descriptor of <\[2, 8\], fp32> otherwise"):
        descriptors_of_two_shapes[(1, )](x, x, 7)


# Functions --------------------------------------------------------------------------------


@tile.jit
def smallest(x, out, N: tl.constexpr, K: tl.constexpr, DESCENDING: tl.constexpr):
    v = tl.load(x + tl.arange(0, 4)[:, None] * N + tl.arange(0, N)[None, :])
    top = tl.topk(v, K, descending=DESCENDING)
    tl.store(out + tl.arange(0, 4)[:, None] * K + tl.arange(0, K)[None, :], top)


@MODES
@pytest.mark.parametrize("descending", [False, True])
def test_topk_in_both_directions(mode, descending):
    x = np.random.default_rng(0).permutation(64).astype(np.float32).reshape(4, 16)
    out = np.zeros((4, 4), np.float32)
    mode(smallest)[(1, )](x, out, 16, 4, descending)
    order = np.sort(x, axis=1)
    assert (out == (order[:, :-5:-1] if descending else order[:, :4])).all()


@tile.jit
def batched_product(a, b, out):
    i = tl.arange(0, 4 * 16 * 16)
    x = tl.load(a + i).reshape([2, 2, 16, 16])
    y = tl.load(b + i).reshape([2, 2, 16, 16])
    tl.store(out + i, tl.dot(x, tl.trans(y)).reshape([4 * 16 * 16]))


@MODES
def test_dot_of_four_dimensions(mode):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (2, 2, 16, 16)).astype(np.float16) for _ in range(2))
    out = np.zeros((2, 2, 16, 16), np.float32)
    mode(batched_product)[(1, )](a, b, out)
    assert (out == a.astype(np.float32) @ b.astype(np.float32).swapaxes(2, 3)).all()


@tile.jit
def integer_product(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    z = tl.dot(tl.load(a + i), tl.load(b + i), out_dtype=tl.int8)
    tl.static_assert(z.dtype == tl.int32)
    tl.store(out + i, z)


def test_dot_of_integers_is_int32():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (32, 32)).astype(np.int8) for _ in range(2))
    out = np.zeros((32, 32), np.int32)
    integer_product[(1, )](a, b, out, 32)
    assert (out == a.astype(np.int32) @ b.astype(np.int32)).all()


@tile.jit
def copies_in_assembly(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.inline_asm_elementwise("{ .reg .b32 t; ld.global.b32 t, [$1]; st.global.b32 [$2], t; mov.b32 $0, t; }",
                              "=r,l,l", [x + i, y + i], dtype=tl.int32, is_pure=False, pack=1)


def test_pointers_in_assembly():
    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    copies_in_assembly[(1, )](x, y, 32)
    assert (x == y).all()


@tile.jit
def prints_prefixes(x):
    v = tl.load(x)
    tl.device_print("plain", v)
    tl.device_print("colon:", v)
    tl.device_print("space ", v)
    tl.device_print("both: ", v)
    tl.device_print("", v)


@MODES
def test_prefixes_of_prints_end_alike(mode, capfd):
    mode(prints_prefixes)[(1, )](np.array([7], np.int32))
    assert capfd.readouterr().out.splitlines() == [
        f"pid (0, 0, 0) {name}: 7" for name in ("plain", "colon", "space", "both", "")]


# Random numbers ---------------------------------------------------------------------------


def philox_4x64(counters, key, rounds):
    """Philox of Salmon et al. with words of 64 bits, on Python's integers."""
    mask = 2**64 - 1
    c0, c1, c2, c3 = counters
    k0, k1 = key
    for _ in range(rounds):
        high, low = 0xCA5A826395121157 * c2, 0xD2E7470EE14C6C93 * c0
        c0, c1, c2, c3 = ((high >> 64) ^ c1 ^ k0, high & mask, (low >> 64) ^ c3 ^ k1, low & mask)
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & mask, (k1 + 0xBB67AE8584CAA73B) & mask
    return c0, c1, c2, c3


@tile.jit
def wide_philox(out, seed, N: tl.constexpr, ROUNDS: tl.constexpr):
    i = tl.arange(0, N)
    numbers = tl.philox(seed, i.to(tl.uint64), 1, 2, 3, ROUNDS)
    tl.static_assert(numbers[0].dtype == tl.uint64)
    for k in tl.static_range(4):
        tl.store(out + i * 4 + k, numbers[k])


@MODES
@pytest.mark.parametrize("rounds", [1, 10])
def test_philox_of_64_bits(mode, rounds):
    out = np.zeros((4, 4), np.uint64)
    mode(wide_philox)[(1, )](out, 123456789, 4, rounds)
    expected = [philox_4x64((i, 1, 2, 3), (123456789, 0), rounds) for i in range(4)]
    assert out.tolist() == [list(row) for row in expected]


@tile.jit
def uniform(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.random.uint_to_uniform_float(tl.load(x + i)))


@MODES
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_uniform_floats_stay_below_one(mode, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x, out = np.array([low, high, high // 2, 0], dtype), np.zeros(4, np.float32)
    mode(uniform)[(1, )](x, out, 4)
    assert (out >= 0).all() and (out < 1).all() and out.max() > 0.999


@tile.jit
def random_of(out, seed):
    tl.store(out, tl.rand(seed, 0))


def test_the_seed_is_an_integer():
    message = "the seed of random numbers must be an integer, got fp32"
    with pytest.raises(tile.CompilationError, match=message):
        random_of[(1, )](np.zeros(1, np.float32), 1.5)


# Arrays that are seen as another type -----------------------------------------------------


class FakeTensor:
    """What programs ask of a tensor, without torch."""

    data = device = shape = "as the tensor's"

    def stride(self, *dim):
        return ("stride", *dim)

    def numel(self):
        return 3

    def clone(self):
        return "a clone"


def test_wrappers_answer_as_tensors_do():
    wrapper = tile.reinterpret(FakeTensor(), tl.float8e5)
    assert wrapper.shape == wrapper.device == wrapper.data == "as the tensor's"
    assert wrapper.stride(1) == ("stride", 1) and wrapper.numel() == 3
    assert wrapper.clone().base == "a clone" and wrapper.clone().dtype is tl.float8e5
    again = tile.reinterpret(wrapper, tl.int8)
    assert again.base is wrapper.base and again.dtype is tl.int8
    assert str(wrapper).startswith("TensorWrapper[fp8e5](")


@pytest.mark.parametrize("seen_as,expected", [(np.dtype(np.float32), 1.5), (tl.float32, 1.5),
                                              (tl.int32, 0x3fc00000)])
def test_arrays_seen_as_another_type(seen_as, expected):
    out = np.zeros(1, np.float64)
    copy_one[(1, )](tile.reinterpret(np.array([1.5], np.float32), seen_as), out)
    assert out[0] == expected


@tile.jit
def copy_one(x, out):
    tl.store(out, tl.load(x))


def test_arrays_seen_as_types_of_other_machines():
    with pytest.raises(TypeError, match="the argument x of copy_one: arrays of fp8e4b15 are not supported: "
                       "kernels know the 8-bit floats tl.float8e4nv and tl.float8e5"):
        copy_one[(1, )](tile.reinterpret(np.zeros(1, np.int8), tl.float8e4b15), np.zeros(1))


# Annotations ------------------------------------------------------------------------------

half = tl.float16


def set_annotations(**annotations):
    def decorate(function):
        function.__annotations__ = annotations
        return function

    return decorate


@tile.jit
@set_annotations(value=tl.bfloat16, count="tl.uint8")
def annotated_by_decorator(out, value, count):
    tl.static_assert(value.dtype == tl.bfloat16 and count.dtype == tl.uint8)
    tl.store(out, value + count)


@tile.jit
def annotated_by_variable(out, value: half, count: "anything at all"):  # noqa: F722
    tl.static_assert(value.dtype == tl.float16 and count.dtype == tl.int32)
    tl.store(out, value + count)


@MODES
@pytest.mark.parametrize("kernel", [annotated_by_decorator, annotated_by_variable])
def test_annotations_that_are_not_in_the_text(mode, kernel):
    out = np.zeros(1, np.float32)
    mode(kernel)[(1, )](out, 2.5, 4)
    assert out[0] == 6.5
