#!/usr/bin/env python3
"""Feeds bad programs to tile-translate and tile-opt: each must give a diagnostic at a
place of the file and exit status 1, and neither crash, nor hang, nor compile.

    python hostile.py [--only=REGEX] [--tile-translate=PATH] [--tile-opt=PATH] [--verbose]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

CASES = {}  # name: (text, options)


def case(name, text, *options):
    CASES[name] = (text, list(options))


def module(text):
    return "gpu.module @m [#nvvm.target<chip = \"sm_80\">] {\n" + text + "\n}\n"


def kernel(body, parameters="%p: !tile.ptr<f32>, %q: !tile.ptr<i32>, %n: i32", attributes=""):
    return f"gpu.func @k({parameters}) kernel {attributes} {{\n{body}\n  gpu.return\n}}"


def body(name, text, *options, **named):
    case(name, module(kernel(text, **named)), *options)


LOAD = """  %i = tile.arange 0, 64 : tensor<64xi32>
  %ps = tile.splat %p : tensor<64x!tile.ptr<f32>>
  %pi = tile.addptr %ps, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %x = tile.load %pi : tensor<64x!tile.ptr<f32>>
"""
STORE = "  tile.store %pi, %y : tensor<64x!tile.ptr<f32>>\n"


# Text that is no module.
case("binary", bytes(range(256)) * 20)
case("bytecode-header", b"ML\xefR\x0dMLIR22.1.8\x00\x1f\x07\x01")
case("unterminated-region", "gpu.module @m { gpu.func @k() kernel { ")
case("truncated", module(kernel(LOAD + "  %y = arith.addf %x, %x : tensor<64xf32>\n" + STORE))[:-130])
case("unknown-dialect", module(kernel("  foo.bar\n")))
case("unknown-op", module(kernel("  tile.frobnicate %p : !tile.ptr<f32>\n")))
case("unknown-type", module(kernel("  %x = arith.constant 0 : !tile.nothing\n")))
case("deep-nesting", "[" * 20000)
case("garbage-utf8", "gpu.module @m { \u2603\u2603 }")

# Modules and kernels.
case("empty-file", "")
case("empty-module", module(""))
case("no-gpu-module", "module {}")
case("kernel-outside", kernel("", parameters=""))
case("kernel-in-func", "func.func @f() {\n  gpu.func @k() kernel {\n    gpu.return\n  }\n  return\n}")
case("tile-op-in-host-func", "func.func @f() {\n  %x = tile.arange 0, 8 : tensor<8xi32>\n  return\n}")
case("two-modules", module(kernel("")) + module(kernel("")).replace("@m", "@n"))
case("duplicate-kernels", module(kernel("") + "\n" + kernel("")))
case("module-named-wrong", module(kernel("")), "--module=nothing")
case("chip-unknown", module(kernel("")).replace("sm_80", "sm_1"))
case("chip-option-unknown", module(kernel("")), "--chip=sm_1")
case("chip-option-amd", module(kernel("")), "--chip=gfx90a")
case("target-rocdl", module(kernel("")).replace('#nvvm.target<chip = "sm_80">', "#rocdl.target"))
case("target-features", module(kernel("")).replace('"sm_80"', '"sm_80", features = "+nonsense"'))
case("kernel-tile-argument", module(kernel("", parameters="%x: tensor<64xf32>")))
case("kernel-desc-argument", module(kernel("  %c = arith.constant 0 : i32\n  %x = tile.desc_load %d[%c, %c] : !tile.desc<16x16xf32> -> tensor<16x16xf32>\n", parameters="%d: !tile.desc<16x16xf32>")))
case("kernel-memdesc-argument", module(kernel("", parameters="%d: !tile_gpu.memdesc<64xf32, #tile_gpu.shared<order = [0], swizzle = 0>>")))
case("kernel-memref-argument", module(kernel("", parameters="%d: memref<?xf32>")))
case("kernel-tuple-argument", module(kernel("", parameters="%d: tuple<i32, i32>")))
case("kernel-f8-argument", module(kernel("", parameters="%d: complex<f32>")))
case("kernel-result", module("gpu.func @k() -> i32 kernel {\n  %c = arith.constant 0 : i32\n  gpu.return %c : i32\n}"))
case("known-block-size", module(kernel("", attributes="attributes {known_block_size = array<i32: 96, 1, 1>}")))
case("known-block-size-3d", module(kernel("", attributes="attributes {known_block_size = array<i32: 16, 8, 1>}")))
case("known-block-size-other", module(kernel("", attributes="attributes {known_block_size = array<i32: 256, 1, 1>}")), "--num-warps=4")
case("declaration", module("gpu.func private @k(i32) kernel"))
for number in ("0", "3", "5", "64", "-1", "x", "99999999999999999999"):
    case(f"num-warps{number}", module(kernel("")), f"--num-warps={number}")
for option in ("--num-ctas=2", "--num-ctas=0", "--num-stages=0", "--num-stages=-5", "--max-registers=-1", "--opt-level=9", "--nonsense",
               "--max-registers=7", "--libdevice=/nonexistent"):
    text = module(kernel(LOAD + "  %y = math.tan %x : tensor<64xf32>\n" + STORE))
    case("option" + option, text, option)

# Helper functions.
case("recursive", module("func.func private @f(%x: i32) -> i32 {\n  %y = func.call @f(%x) : (i32) -> i32\n  return %y : i32\n}\n"
                         + kernel("  %y = func.call @f(%n) : (i32) -> i32\n  tile.store %q, %y : !tile.ptr<i32>\n")))
case("mutually-recursive", module("func.func private @f(%x: i32) -> i32 {\n  %y = func.call @g(%x) : (i32) -> i32\n  return %y : i32\n}\n"
                                  "func.func private @g(%x: i32) -> i32 {\n  %y = func.call @f(%x) : (i32) -> i32\n  return %y : i32\n}\n"
                                  + kernel("  %y = func.call @f(%n) : (i32) -> i32\n  tile.store %q, %y : !tile.ptr<i32>\n")))
case("helper-declaration", module("func.func private @f(i32) -> i32\n" + kernel("  %y = func.call @f(%n) : (i32) -> i32\n  tile.store %q, %y : !tile.ptr<i32>\n")))
case("helper-missing", module(kernel("  %y = func.call @f(%n) : (i32) -> i32\n")))
case("helper-type", module("func.func private @f(%x: f32) -> f32 {\n  return %x : f32\n}\n" + kernel("  %y = func.call @f(%n) : (i32) -> i32\n")))
case("indirect-call", module("func.func private @f(%x: i32) -> i32 {\n  return %x : i32\n}\n" + kernel(
    "  %f = func.constant @f : (i32) -> i32\n  %y = func.call_indirect %f(%n) : (i32) -> i32\n  tile.store %q, %y : !tile.ptr<i32>\n")))
case("call-kernel", module(kernel("").replace("@k", "@other") + "\n" + kernel("  %z = func.call @other(%p, %q, %n) : (!tile.ptr<f32>, !tile.ptr<i32>, i32) -> i32\n")))

# Ops that are not ours.
body("tensor-extract", LOAD + "  %c = arith.constant 0 : index\n  %e = tensor.extract %x[%c] : tensor<64xf32>\n  tile.store %p, %e : !tile.ptr<f32>\n")
body("tensor-empty", LOAD + "  %y = tensor.empty() : tensor<64xf32>\n" + STORE)
body("linalg", LOAD + "  %c = arith.constant 0.0 : f32\n  %y = linalg.fill ins(%c : f32) outs(%x : tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("vector", "  %v = arith.constant dense<0.0> : vector<4xf32>\n  %e = vector.extract %v[0] : f32 from vector<4xf32>\n  tile.store %p, %e : !tile.ptr<f32>\n")
body("tensor-cast", LOAD + "  %z = tensor.cast %x : tensor<64xf32> to tensor<?xf32>\n  %y = tensor.cast %z : tensor<?xf32> to tensor<64xf32>\n" + STORE)
body("complex", LOAD + "  %c = complex.create %n, %n : complex<i32>\n")
body("index-tile", LOAD + "  %c = arith.index_cast %i : tensor<64xi32> to tensor<64xindex>\n  %d = arith.index_cast %c : tensor<64xindex> to tensor<64xi32>\n  %y = arith.sitofp %d : tensor<64xi32> to tensor<64xf32>\n" + STORE)
body("i4-tile", LOAD + "  %c = arith.trunci %i : tensor<64xi32> to tensor<64xi4>\n  %d = arith.extsi %c : tensor<64xi4> to tensor<64xi32>\n  %y = arith.sitofp %d : tensor<64xi32> to tensor<64xf32>\n" + STORE)
body("i7-scalar", "  %c = arith.trunci %n : i32 to i7\n  %d = arith.extsi %c : i7 to i32\n  %e = arith.muli %d, %d : i32\n  tile.store %q, %e : !tile.ptr<i32>\n")
body("i128-tile", LOAD + "  %c = arith.extsi %i : tensor<64xi32> to tensor<64xi128>\n  %e = arith.muli %c, %c : tensor<64xi128>\n  %d = arith.trunci %e : tensor<64xi128> to tensor<64xi32>\n  %y = arith.sitofp %d : tensor<64xi32> to tensor<64xf32>\n" + STORE)
body("f80-tile", LOAD + "  %c = arith.extf %x : tensor<64xf32> to tensor<64xf80>\n  %y = arith.truncf %c : tensor<64xf80> to tensor<64xf32>\n" + STORE)
body("tf32-tile", LOAD + "  %c = arith.truncf %x : tensor<64xf32> to tensor<64xtf32>\n  %y = arith.extf %c : tensor<64xtf32> to tensor<64xf32>\n" + STORE)
body("f8E5M2FNUZ-tile", LOAD + "  %c = arith.truncf %x : tensor<64xf32> to tensor<64xf8E5M2FNUZ>\n  %y = arith.extf %c : tensor<64xf8E5M2FNUZ> to tensor<64xf32>\n" + STORE)
body("f4-tile", LOAD + "  %c = arith.truncf %x : tensor<64xf32> to tensor<64xf4E2M1FN>\n  %y = arith.extf %c : tensor<64xf4E2M1FN> to tensor<64xf32>\n" + STORE)
body("f128-scalar", "  %c = arith.sitofp %n : i32 to f128\n  %d = arith.addf %c, %c : f128\n  %e = arith.fptosi %d : f128 to i32\n  tile.store %q, %e : !tile.ptr<i32>\n")
body("rank-0", "  %x = arith.constant dense<1> : tensor<i32>\n  %y = arith.addi %x, %x : tensor<i32>\n")
body("dynamic-extent", "  %x = tile.splat %n : tensor<?xi32>\n")
body("zero-extent", "  %x = tile.splat %n : tensor<0xi32>\n")
body("zero-extent-arith", "  %x = arith.constant dense<> : tensor<0xi32>\n  %y = arith.addi %x, %x : tensor<0xi32>\n")
body("huge-tile", "  %x = tile.splat %n : tensor<1048576x1024xi32>\n")
body("huge-constant", "  %x = arith.constant dense<1> : tensor<1073741824xi32>\n  %y = arith.addi %x, %x : tensor<1073741824xi32>\n")
body("huge-extents-overflow", "  %x = arith.constant dense<1> : tensor<4294967296x4294967296xi32>\n  %y = arith.addi %x, %x : tensor<4294967296x4294967296xi32>\n")
body("arange-empty", "  %x = tile.arange 5, 5 : tensor<0xi32>\n")
body("arange-reversed", "  %x = tile.arange 9, 5 : tensor<4xi32>\n")
body("arange-mismatch", "  %x = tile.arange 0, 5 : tensor<4xi32>\n")
body("arange-extreme", "  %x = tile.arange -2147483648, 2147483647 : tensor<4xi32>\n")
body("foreign-encoding", "  %x = tile.splat %n : tensor<64xi32, \"hello\">\n  %y = arith.addi %x, %x : tensor<64xi32, \"hello\">\n")
body("layout-of-other-warps", "  %x = tile.splat %n : tensor<64xi32, #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []}>>\n  tile.print \"x\" (%x : tensor<64xi32, #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []}>>)\n")
body("mixed-layouts", "  %x = tile.splat %n : tensor<64xi32>\n  %y = tile.splat %n : tensor<64xi32, #tile_gpu.layout<{register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1], [0]]}>>\n  tile.print \"x\" (%x, %y : tensor<64xi32>, tensor<64xi32, #tile_gpu.layout<{register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1], [0]]}>>)\n")
body("cast", "  %x = tile.splat %n : tensor<64xi32>\n  %y = builtin.unrealized_conversion_cast %x : tensor<64xi32> to tensor<64xf32>\n  tile.print \"x\" (%y : tensor<64xf32>)\n")
body("poison-of-nothing", "  %x = ub.poison : tensor<64xcomplex<f32>>\n  tile.print \"x\" (%n : i32)\n  %y = ub.poison : complex<f32>\n  \"foo.use\"(%x, %y) : (tensor<64xcomplex<f32>>, complex<f32>) -> ()\n")
body("gpu-shuffle-tile", "  %c = arith.constant 1 : i32\n  %w = arith.constant 7 : i32\n  %y, %v = gpu.shuffle xor %n, %c, %w : i32\n  tile.store %q, %y : !tile.ptr<i32>\n")
body("gpu-launch", "  %c = arith.constant 1 : index\n  gpu.launch_func @m::@k blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%p : !tile.ptr<f32>, %q : !tile.ptr<i32>, %n : i32)\n")
body("memref-alloc", "  %m = memref.alloc() : memref<64xf32>\n  memref.dealloc %m : memref<64xf32>\n")
body("scf-parallel", "  %c = arith.constant 1 : index\n  scf.parallel (%a) = (%c) to (%c) step (%c) {\n    tile.print \"x\" (%n : i32)\n    scf.reduce\n  }\n")
body("scf-forall", "  scf.forall (%a) in (4) {\n    tile.print \"x\" (%n : i32)\n  }\n")
body("execute-region", LOAD + "  %y = scf.execute_region -> tensor<64xf32> {\n    scf.yield %x : tensor<64xf32>\n  }\n" + STORE)
body("index-switch", LOAD + "  %c = arith.index_cast %n : i32 to index\n  %y = scf.index_switch %c -> tensor<64xf32>\n  case 2 {\n    scf.yield %x : tensor<64xf32>\n  }\n  default {\n    %z = arith.addf %x, %x : tensor<64xf32>\n    scf.yield %z : tensor<64xf32>\n  }\n" + STORE)
body("affine", "  affine.for %a = 0 to 4 {\n    tile.print \"x\" (%n : i32)\n  }\n")
body("async", "  %t = async.execute {\n    async.yield\n  }\n")
body("assert-cf", "  %c = arith.constant false\n  cf.assert %c, \"no\"\n")
body("switch-cf", LOAD + "  cf.switch %n : i32, [\n    default: ^a(%x : tensor<64xf32>),\n    3: ^b\n  ]\n^b:\n  gpu.return\n^a(%y: tensor<64xf32>):\n" + STORE)
body("unreachable-block", "  gpu.return\n^b:\n  %x = tile.arange 0, 64 : tensor<64xi32>\n  tile.print \"x\" (%x : tensor<64xi32>)\n")
body("endless-loop", "  cf.br ^a\n^a:\n  cf.br ^a\n^b:\n")
body("irreducible", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %c = arith.constant 0 : i32\n  %d = arith.cmpi eq, %n, %c : i32\n  cf.cond_br %d, ^a(%x : tensor<64xi32>), ^b(%x : tensor<64xi32>)\n"
     "^a(%y: tensor<64xi32>):\n  %z = arith.addi %y, %y : tensor<64xi32>\n  cf.cond_br %d, ^b(%z : tensor<64xi32>), ^c\n^b(%w: tensor<64xi32>):\n  %v = arith.muli %w, %w : tensor<64xi32>\n  cf.cond_br %d, ^a(%v : tensor<64xi32>), ^c\n^c:\n")

# Ops of ours, misused.
body("load-of-int", "  %x = tile.load %n : i32\n")
body("load-other-without-mask", "  %x = tile.load %p other %n : !tile.ptr<f32>\n")
body("pointer-to-pointer", "  %x = tile.load %r : !tile.ptr<!tile.ptr<f32>>\n  %y = tile.load %x : !tile.ptr<f32>\n  tile.store %x, %y : !tile.ptr<f32>\n", parameters="%r: !tile.ptr<!tile.ptr<f32>>")
body("pointer-space", "  tile.store %r, %n : !tile.ptr<i32, 77>\n", parameters="%r: !tile.ptr<i32, 77>, %n: i32")
body("pointer-to-tensor", "", parameters="%r: !tile.ptr<tensor<4xf32>>")
body("pointer-to-index", "", parameters="%r: !tile.ptr<index>")
body("divisibility-zero", "", parameters="%r: !tile.ptr<f32> {tile.divisibility = array<i32: 0>}")
body("divisibility-negative", "", parameters="%r: !tile.ptr<f32> {tile.divisibility = array<i32: -16>}")
body("divisibility-3", "  %x = tile.load %r : !tile.ptr<f32>\n  tile.store %r, %x : !tile.ptr<f32>\n", parameters="%r: !tile.ptr<f32> {tile.divisibility = array<i32: 3>}")
body("divisibility-string", "", parameters="%r: !tile.ptr<f32> {tile.divisibility = \"16\"}")
body("divisibility-rank", "", parameters="%r: !tile.ptr<f32> {tile.divisibility = array<i32: 16, 16>}")
body("unknown-tile-attribute", "", parameters="%r: !tile.ptr<f32> {tile.nonsense}")
body("f8-dot", "  %a = arith.constant dense<1.0> : tensor<16x16xf32>\n  %y = tile.dot %a, %a, %a : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>\n  tile.print \"x\" (%y : tensor<16x16xf32>)\n")
body("dot-shape", "  %a = arith.constant dense<1.0> : tensor<16x8xf32>\n  %y = tile.dot %a, %a, %a : tensor<16x8xf32> * tensor<16x8xf32> -> tensor<16x8xf32>\n")
body("dot-scaled", "  %a = arith.constant dense<1> : tensor<32x32xi8>\n  %s = arith.constant dense<1> : tensor<32x1xi8>\n  %c = arith.constant dense<0.0> : tensor<32x32xf32>\n"
     "  %y = tile.dot_scaled %a scale %s e4m3, %a scale %s e4m3, %c : tensor<32x32xi8>, tensor<32x1xi8> * tensor<32x32xi8>, tensor<32x1xi8> -> tensor<32x32xf32>\n  tile.print \"x\" (%y : tensor<32x32xf32>)\n")
body("reshape-count", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reshape %x : tensor<64xi32> -> tensor<63xi32>\n")
body("trans-order", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.trans %x [1] : tensor<64xi32> -> tensor<64xi32>\n")
body("trans-repeat", "  %x = arith.constant dense<1> : tensor<8x8xi32>\n  %y = tile.trans %x [0, 0] : tensor<8x8xi32> -> tensor<8x8xi32>\n")
body("expand-axis", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.expand_dims %x 7 : tensor<64xi32> -> tensor<64x1xi32>\n")
body("broadcast-shape", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.broadcast %x : tensor<64xi32> -> tensor<128xi32>\n")
body("gather-axis", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.gather %x[%x] axis -1 : tensor<64xi32>, tensor<64xi32> -> tensor<64xi32>\n")
body("join-rank-9", "  %x = arith.constant dense<1> : tensor<1x1x1x1x1x1x1x2xi32>\n  %y = tile.join %x, %x : tensor<1x1x1x1x1x1x1x2xi32> -> tensor<1x1x1x1x1x1x1x2x2xi32>\n  tile.print \"x\" (%y : tensor<1x1x1x1x1x1x1x2x2xi32>)\n")
body("reduce-axis", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reduce(%x) axis 3 : (tensor<64xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  tile.yield %a : i32\n  }\n")
body("reduce-tile-in-region", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reduce(%x) axis 0 : (tensor<64xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  %t = tile.splat %a : tensor<4xi32>\n  tile.yield %a : i32\n  }\n")
body("reduce-load-in-region", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reduce(%x) axis 0 : (tensor<64xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  tile.print \"x\"\n  tile.yield %a : i32\n  }\n")
body("reduce-foreign-op", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reduce(%x) axis 0 : (tensor<64xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  %i = arith.index_cast %a : i32 to index\n  %j = index.add %i, %i\n  %k = arith.index_cast %j : index to i32\n  tile.yield %k : i32\n  }\n  tile.store %q, %y : !tile.ptr<i32>\n")
body("reduce-program-id", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reduce(%x) axis 0 : (tensor<64xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  %i = tile.program_id x : i32\n  %k = arith.addi %a, %i : i32\n  tile.yield %k : i32\n  }\n  tile.store %q, %y : !tile.ptr<i32>\n")
body("reduce-empty-region", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = \"tile.reduce\"(%x) <{axis = 0 : i32}> ({\n  }) : (tensor<64xi32>) -> i32\n")
body("reduce-vector-op", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reduce(%x) axis 0 : (tensor<64xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  %v = vector.broadcast %a : i32 to vector<4xi32>\n  %k = vector.extract %v[1] : i32 from vector<4xi32>\n  tile.yield %k : i32\n  }\n  tile.store %q, %y : !tile.ptr<i32>\n")
case("reduce-call-recursive", module("func.func private @f(%x: i32) -> i32 {\n  %y = func.call @f(%x) : (i32) -> i32\n  return %y : i32\n}\n" + kernel(
    "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reduce(%x) axis 0 : (tensor<64xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  %k = func.call @f(%a) : (i32) -> i32\n  tile.yield %k : i32\n  }\n  tile.store %q, %y : !tile.ptr<i32>\n")))
case("reduce-call-declaration", module("func.func private @f(i32) -> i32\n" + kernel(
    "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.reduce(%x) axis 0 : (tensor<64xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  %k = func.call @f(%a) : (i32) -> i32\n  tile.yield %k : i32\n  }\n  tile.store %q, %y : !tile.ptr<i32>\n")))
body("map-pack", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.map_elementwise(%x) pack 0 : (tensor<64xi32>) -> tensor<64xi32> {\n^bb0(%a: i32):\n  tile.yield %a : i32\n  }\n")
body("map-nothing", "  %y = tile.map_elementwise() : () -> tensor<64xi32> {\n  %a = arith.constant 0 : i32\n  tile.yield %a : i32\n  }\n")
body("map-asm", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.map_elementwise(%x) : (tensor<64xi32>) -> tensor<64xi32> {\n^bb0(%a: i32):\n  %b = tile.extern_elementwise pure \"nothing\"(%a) : (i32) -> i32\n  tile.yield %b : i32\n  }\n  tile.print \"x\" (%y : tensor<64xi32>)\n")
body("map-memref", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = tile.map_elementwise(%x) : (tensor<64xi32>) -> tensor<64xi32> {\n^bb0(%a: i32):\n  %m = memref.alloca() : memref<4xi32>\n  tile.yield %a : i32\n  }\n  tile.print \"x\" (%y : tensor<64xi32>)\n")
body("asm-constraints", LOAD + "  %y = tile.inline_asm_elementwise pure \"mov.b32 $0, $1;\" constraints \"=f\" (%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("asm-constraints-nonsense", LOAD + "  %y = tile.inline_asm_elementwise pure \"mov.b32 $0, $1;\" constraints \"{hello},!!,=\" (%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("asm-constraint-type", LOAD + "  %y = tile.inline_asm_elementwise pure \"mov.b64 $0, $1;\" constraints \"=l,l\" (%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("asm-memory-constraint", LOAD + "  %y = tile.inline_asm_elementwise pure \"mov.b32 $0, $1;\" constraints \"=m,m\" (%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("asm-operand-number", LOAD + "  %y = tile.inline_asm_elementwise pure \"mov.b32 $0, $9;\" constraints \"=f,f\" (%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("extern-missing", LOAD + "  %y = tile.extern_elementwise pure \"__nv_nothing\"(%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("extern-type", LOAD + "  %y = tile.extern_elementwise pure \"__nv_sinf\"(%i) : (tensor<64xi32>) -> tensor<64xf32>\n" + STORE)
body("extern-two-types", LOAD + "  %y = tile.extern_elementwise pure \"__nv_sinf\"(%x) : (tensor<64xf32>) -> tensor<64xf32>\n  %z = tile.extern_elementwise pure \"__nv_sinf\"(%i) : (tensor<64xi32>) -> tensor<64xi32>\n  tile.print \"x\" (%z : tensor<64xi32>)\n" + STORE)
body("extern-empty-name", LOAD + "  %y = tile.extern_elementwise pure \"\"(%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("extern-kernel-name", LOAD + "  %y = tile.extern_elementwise pure \"k\"(%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("extern-intrinsic-name", LOAD + "  %y = tile.extern_elementwise pure \"llvm.nothing\"(%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("extern-library-missing", LOAD + "  %y = tile.extern_elementwise pure \"f\" from \"/nonexistent.bc\"(%x) : (tensor<64xf32>) -> tensor<64xf32>\n" + STORE)
body("make-desc-rank", "  %d = tile.make_desc %p shape[%n] strides[] : !tile.ptr<f32> -> !tile.desc<16xf32>\n")
body("desc-zero", "", parameters="%d: !tile.desc<0xf32>")
body("desc-huge", "", parameters="%d: !tile.desc<9999999999x9999999999xf32>")
body("desc-select", "  %s = arith.constant 1 : i64\n  %d = tile.make_desc %p shape[%n] strides[%s] : !tile.ptr<f32> -> !tile.desc<16xf32>\n  %e = tile.make_desc %p shape[%n] strides[%s] padding(nan) : !tile.ptr<f32> -> !tile.desc<16xf32>\n"
     "  %c = arith.constant 0 : i32\n  %b = arith.cmpi eq, %n, %c : i32\n  %f = arith.select %b, %d, %e : !tile.desc<16xf32>\n  %x = tile.desc_load %f[%n] : !tile.desc<16xf32> -> tensor<16xf32>\n  tile.print \"x\" (%x : tensor<16xf32>)\n")
body("desc-loop", "  %s = arith.constant 1 : i64\n  %d = tile.make_desc %p shape[%n] strides[%s] : !tile.ptr<f32> -> !tile.desc<16xf32>\n  %c = arith.constant 0 : i32\n  %o = arith.constant 1 : i32\n"
     "  %r = scf.for %t = %c to %n step %o iter_args(%e = %d) -> (!tile.desc<16xf32>) : i32 {\n    %x = tile.desc_load %e[%t] : !tile.desc<16xf32> -> tensor<16xf32>\n    tile.print \"x\" (%x : tensor<16xf32>)\n    scf.yield %e : !tile.desc<16xf32>\n  }\n")
body("histogram-type", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %h = tile.histogram %x : tensor<64xi32> -> tensor<4x4xi32>\n")
body("histogram-huge", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %h = tile.histogram %x : tensor<64xi32> -> tensor<1048576xi32>\n  tile.print \"x\" (%h : tensor<1048576xi32>)\n")
body("atomic-kind-type", "  %o = tile.atomic_rmw fadd %q, %n : !tile.ptr<i32>\n")
body("atomic-i8", "  %c = arith.trunci %n : i32 to i8\n  %o = tile.atomic_rmw add %r, %c : !tile.ptr<i8>\n", parameters="%r: !tile.ptr<i8>, %n: i32")
body("cas-i8", "  %c = arith.trunci %n : i32 to i8\n  %o = tile.atomic_cas %r, %c, %c : !tile.ptr<i8>\n", parameters="%r: !tile.ptr<i8>, %n: i32")
body("shared-too-much", "  %a = arith.constant dense<1> : tensor<512x1024xi32>\n  %i = tile.arange 0, 512 : tensor<512xi32>\n  %j = tile.expand_dims %i 1 : tensor<512xi32> -> tensor<512x1xi32>\n  %k = tile.broadcast %j : tensor<512x1xi32> -> tensor<512x1024xi32>\n"
     "  %g = tile.gather %k[%k] axis 0 : tensor<512x1024xi32>, tensor<512x1024xi32> -> tensor<512x1024xi32>\n  %s = arith.addi %g, %a : tensor<512x1024xi32>\n  %r = tile.reshape %s : tensor<512x1024xi32> -> tensor<524288xi32>\n  %m = tile.reduce(%r) axis 0 : (tensor<524288xi32>) -> i32 {\n^bb0(%x: i32, %y: i32):\n  %z = arith.xori %x, %y : i32\n  tile.yield %z : i32\n  }\n  tile.store %q, %m : !tile.ptr<i32>\n")
body("scalar-f8-types", "  %c = arith.truncf %f : f32 to f8E4M3FN\n  %d = math.exp %c : f8E4M3FN\n  %e = arith.maximumf %d, %c : f8E4M3FN\n  %g = arith.extf %e : f8E4M3FN to f32\n  tile.store %p, %g : !tile.ptr<f32>\n", parameters="%p: !tile.ptr<f32>, %f: f32")
body("math-of-f8-tile", LOAD + "  %c = arith.truncf %x : tensor<64xf32> to tensor<64xf8E5M2>\n  %d = math.tanh %c : tensor<64xf8E5M2>\n  %e = arith.divf %d, %c : tensor<64xf8E5M2>\n  %y = arith.extf %e : tensor<64xf8E5M2> to tensor<64xf32>\n" + STORE)
body("yield-outside", "  tile.yield %n : i32\n")
body("print-nothing", "  tile.print \"%s %n %d\"\n")
body("store-of-tile-to-scalar", LOAD + "  tile.store %p, %x : !tile.ptr<f32>\n")
body("barrier-in-divergence", LOAD + "  %c = arith.constant dense<0.0> : tensor<64xf32>\n  tile.barrier\n  gpu.barrier\n")

# What is used cannot be removed as dead code.
USE = '  tile.print "y" (%y : {0})\n'
body("rank-0-used", "  %x = builtin.unrealized_conversion_cast %n : i32 to tensor<i32>\n  %y = arith.addi %x, %x : tensor<i32>\n  %z = builtin.unrealized_conversion_cast %y : tensor<i32> to i32\n  tile.store %q, %z : !tile.ptr<i32>\n")
body("zero-extent-used", "  %x = arith.constant dense<> : tensor<0xi32>\n  %y = arith.addi %x, %x : tensor<0xi32>\n" + USE.format("tensor<0xi32>"))
body("huge-used", "  %x = arith.constant dense<1> : tensor<1073741824xi32>\n  %y = math.ctpop %x : tensor<1073741824xi32>\n" + USE.format("tensor<1073741824xi32>"))
body("huge-loop", "  %x = arith.constant dense<1> : tensor<4194304xi32>\n  %c = arith.constant 0 : i32\n  %o = arith.constant 1 : i32\n  %y = scf.for %i = %c to %n step %o iter_args(%t = %x) -> (tensor<4194304xi32>) : i32 {\n"
     "    %u = arith.addi %t, %t : tensor<4194304xi32>\n    scf.yield %u : tensor<4194304xi32>\n  }\n")
body("complex-tile", "  %x = ub.poison : tensor<64xcomplex<f32>>\n  %y = arith.select %b, %x, %x : tensor<64xcomplex<f32>>\n  %z = arith.bitcast %f : f32 to i32\n", parameters="%b: i1, %f: f32")
body("f80-loop", "  %x = arith.constant dense<1.0> : tensor<64xf80>\n  %c = arith.constant 0 : i32\n  %o = arith.constant 1 : i32\n  %y = scf.for %i = %c to %n step %o iter_args(%t = %x) -> (tensor<64xf80>) : i32 {\n"
     "    %u = arith.addf %t, %t : tensor<64xf80>\n    scf.yield %u : tensor<64xf80>\n  }\n  %z = arith.truncf %y : tensor<64xf80> to tensor<64xf32>\n  tile.print \"z\" (%z : tensor<64xf32>)\n")
TWENTY = [f"%l{i}" for i in range(20)] + [f"%r{i}" for i in range(20)]
body("reduce-20", "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y:20 = tile.reduce(" + ", ".join(["%x"] * 20) + ") axis 0 : (" + ", ".join(["tensor<64xi32>"] * 20) + ") -> (" + ", ".join(["i32"] * 20)
     + ") {\n^bb0(" + ", ".join(t + ": i32" for t in TWENTY) + "):\n  tile.yield " + ", ".join(TWENTY[:20]) + " : " + ", ".join(["i32"] * 20) + "\n  }\n  tile.store %q, %y#7 : !tile.ptr<i32>\n")
case("no-inline", module("func.func private @f(%x: tensor<64xi32>) -> tensor<64xi32> attributes {no_inline} {\n  return %x : tensor<64xi32>\n}\n" + kernel(
    "  %x = tile.arange 0, 64 : tensor<64xi32>\n  %y = func.call @f(%x) {no_inline} : (tensor<64xi32>) -> tensor<64xi32>\n  tile.print \"y\" (%y : tensor<64xi32>)\n")))
case("device-function", module("gpu.func @f(%x: i32) {\n  gpu.return\n}\n" + kernel("")))
case("device-function-tile", module("gpu.func @f(%x: tensor<64xi32>) {\n  tile.print \"x\" (%x : tensor<64xi32>)\n  gpu.return\n}\n" + kernel("")))
case("odd-kernel-name", module(kernel("").replace("@k", '@"a b-c"')))
case("shared-symbol", module("llvm.mlir.global internal @k_shared_memory() {addr_space = 3 : i32} : !llvm.array<4 x i8>\n" + kernel(
    "  %x = tile.arange 0, 2048 : tensor<2048xi32>\n  %y = tile.reduce(%x) axis 0 : (tensor<2048xi32>) -> i32 {\n^bb0(%a: i32, %b: i32):\n  %c = arith.addi %a, %b : i32\n  tile.yield %c : i32\n  }\n  tile.store %q, %y : !tile.ptr<i32>\n")))
case("workgroup-attribution", module("gpu.func @k(%n: i32) workgroup(%w: memref<32xf32, 3>) kernel {\n  gpu.return\n}"))
case("two-kernels-one-bad", module(kernel("") + "\n" + kernel("  %x = tile.splat %n : tensor<64xi32>\n  %y = builtin.unrealized_conversion_cast %x : tensor<64xi32> to tensor<64xf32>\n  tile.print \"x\" (%y : tensor<64xf32>)\n").replace("@k", "@bad")))
body("signed-type", "  %x = builtin.unrealized_conversion_cast %n : i32 to si32\n  %y = tile.splat %x : tensor<64xsi32>\n")
body("pointer-difference", "  %x = arith.select %b, %p, %r : !tile.ptr<f32>\n  %v = tile.load %x : !tile.ptr<f32>\n  tile.store %p, %v : !tile.ptr<f32>\n", parameters="%p: !tile.ptr<f32>, %r: !tile.ptr<f32>, %b: i1")
body("parameters-of-all-types", "  tile.print \"x\" (%a, %b, %c, %d, %e, %f, %g, %h : i1, i8, i16, i64, f16, bf16, f64, f8E5M2)\n", parameters="%a: i1, %b: i8, %c: i16, %d: i64, %e: f16, %f: bf16, %g: f64, %h: f8E5M2")
body("many-parameters", "", parameters=", ".join(f"%p{i}: !tile.ptr<f32>" for i in range(5000)))
body("deep-control-flow", "".join("  scf.if %b {\n" for _ in range(300)) + '  tile.print "deep"\n' + "  }\n" * 300, parameters="%b: i1")
body("long-chain", "  %x0 = tile.splat %n : tensor<64xi32>\n" + "".join(f"  %x{i + 1} = arith.xori %x{i}, %x{max(i - 1, 0)} : tensor<64xi32>\n" for i in range(3000)) + '  tile.print "x" (%x3000 : tensor<64xi32>)\n')
body("divide-by-zero-constant", "  %z = arith.constant dense<0> : tensor<64xi32>\n  %x = tile.splat %n : tensor<64xi32>\n  %y = arith.divsi %x, %z : tensor<64xi32>\n  %r = arith.remui %z, %z : tensor<64xi32>\n  tile.print \"x\" (%y, %r : tensor<64xi32>, tensor<64xi32>)\n")
body("shift-too-far", "  %z = arith.constant dense<77> : tensor<64xi32>\n  %x = tile.splat %n : tensor<64xi32>\n  %y = arith.shli %x, %z : tensor<64xi32>\n  tile.print \"x\" (%y : tensor<64xi32>)\n")

# Good programs, to see that the others fail for their own reason.
GOOD = {"empty-module", "declaration", "pointer-to-pointer", "divisibility-3", "call-in-map", "print-nothing", "barrier-in-divergence",
        "scalar-f8-types", "math-of-f8-tile", "index-switch", "execute-region", "switch-cf", "unreachable-block", "irreducible",
        "desc-loop", "assert-cf", "reduce-20", "device-function", "two-kernels", "pointer-difference", "parameters-of-all-types",
        "deep-control-flow", "long-chain", "divide-by-zero-constant", "shift-too-far", "no-inline", "option--max-registers=7", "reduce-foreign-op",
        "index-tile", "i4-tile", "i128-tile", "scf-forall", "scf-parallel", "mixed-layouts", "unknown-tile-attribute", "shared-symbol", "workgroup-attribution",
        # Dead code goes away before anybody looks at it.
        "f80-tile", "rank-0", "zero-extent-arith", "huge-constant", "huge-extents-overflow", "foreign-encoding", "huge-loop", "complex-tile", "reduce-program-id", "i7-scalar", "vector", "join-rank-9", "endless-loop", "gpu-shuffle-tile"}


def judge(done, name, may_pass):
    """What is wrong with a run, or None."""
    text = done.stderr
    for bad in ("PLEASE submit a bug report", "Stack dump", "LLVM ERROR", "Assertion", "UNREACHABLE", "terminate called", "internal error"):
        if bad in text:
            return f"crashed: {text[-800:]}"
    if done.returncode == 0:
        return None if may_pass else "was accepted"
    if done.returncode != 1:
        return f"exit status {done.returncode}: {text[-600:]}"
    if "error:" not in text and "rror" not in text and "nknown" not in text and "for the --" not in text:
        return f"no diagnostic: {text[-300:]!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--tile-translate", default="tile-translate")
    parser.add_argument("--tile-opt", default="tile-opt")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, arguments) in CASES.items():
            if not re.search(options.only, name):
                continue
            path = os.path.join(folder, name.replace("/", "_") + ".mlir")
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            commands = [[options.tile_translate, path, "-o", os.devnull] + arguments]
            if not arguments:
                commands.append([options.tile_opt, path, "--tile-to-nvvm", "-o", os.devnull])
            for command in commands:
                count += 1
                try:
                    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=30)
                    problem = judge(done, name, name in GOOD or "tile-opt" in command[0])
                except subprocess.TimeoutExpired:
                    problem = "took more than 30 seconds"
                if problem:
                    failures += 1
                    print(f"FAIL {name} ({os.path.basename(command[0])}): {problem}", flush=True)
                elif options.verbose:
                    print(f"{name} ({os.path.basename(command[0])}) {done.returncode}: {done.stderr.strip()[:230]}", flush=True)
    print(f"{count - failures} of {count} runs ended with a diagnostic")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
