//===- TensorMapTest.cpp - im2col and tensormap.replace ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Emulator/TensorMap.h"
#include "EmulatorTest.h"
#include <cstring>
#include <random>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

namespace {

constexpr unsigned sharedWords = 2048;

std::string join(const std::string &prefix, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text;
}

/// A kernel (map, buffer, bytes) of 32 threads that fills shared memory, runs
/// `body` in thread 0 and, if `waits`, waits for %bar and writes what shared
/// memory holds to the buffer.
std::string tensorKernel(const std::string &body, bool waits,
                         const std::string &setup = "") {
  std::string size = std::to_string(4 * sharedWords);
  return ".version 8.6\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 buffer,"
         " .param .u32 bytes)\n{\n"
         "  .reg .b32 %t, %smem, %bar, %x, %w, %i, %n, %copy;\n"
         "  .reg .b16 %o<3>;\n  .reg .b32 %c<5>;\n"
         "  .reg .b64 %map, %at, %v<8>;\n  .reg .pred %p, %done;\n"
         "  .shared .align 1024 .b8 data[" +
         size +
         "];\n  .shared .align 128 .b8 copied[128];\n"
         "  .shared .align 8 .b64 full;\n"
         "  mov.u32 %t, %tid.x;\n  mov.u32 %smem, data;\n"
         "  mov.u32 %bar, full;\n  mov.u32 %copy, copied;\n"
         "  mov.b64 %map, map;\n  cvta.param.u64 %map, %map;\n"
         "  ld.param.u64 %at, [buffer];\n  ld.param.u32 %n, [bytes];\n"
         "  mad.wide.u32 %at, %t, 4, %at;\n  mad.lo.u32 %x, %t, 4, %smem;\n"
         "  mov.u32 %i, 0;\n"
         "fill:\n" +
         std::string(waits ? "  mov.u32 %w, 0x5A5A5A5A;\n"
                           : "  ld.global.u32 %w, [%at];\n") +
         "  st.shared.u32 [%x], %w;\n  add.u64 %at, %at, 128;\n"
         "  add.u32 %x, %x, 128;\n  add.u32 %i, %i, 128;\n"
         "  setp.lt.u32 %p, %i, " +
         size +
         ";\n  @%p bra fill;\n"
         "  setp.ne.u32 %p, %t, 0;\n"
         "  @!%p mbarrier.init.shared.b64 [%bar], 1;\n"
         "  fence.proxy.async;\n  bar.sync 0;\n" +
         setup + "  @%p bra wait;\n" + body + "wait:\n" +
         (waits ? "again:\n  mbarrier.try_wait.parity.shared::cta.b64 %done, "
                  "[%bar], 0;\n  @!%done bra again;\n"
                  "  ld.param.u64 %at, [buffer];\n"
                  "  mad.wide.u32 %at, %t, 4, %at;\n"
                  "  mad.lo.u32 %x, %t, 4, %smem;\n  mov.u32 %i, 0;\n"
                  "dump:\n  ld.shared.u32 %w, [%x];\n"
                  "  st.global.u32 [%at], %w;\n  add.u64 %at, %at, 128;\n"
                  "  add.u32 %x, %x, 128;\n  add.u32 %i, %i, 128;\n"
                  "  setp.lt.u32 %p, %i, " +
                      size + ";\n  @%p bra dump;\n"
                : std::string()) +
         "  ret;\n}\n";
}

std::string loadCode(unsigned rank, const std::string &map,
                     const std::string &coordinates,
                     const std::string &offsets) {
  std::string mode = offsets.empty() ? "tile" : "im2col";
  return "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], %n;\n"
         "  cp.async.bulk.tensor." +
         std::to_string(rank) + "d.shared::cluster.global." + mode +
         ".mbarrier::complete_tx::bytes [%smem], [" + map + ", {" +
         coordinates + "}], [%bar]" +
         (offsets.empty() ? "" : ", {" + offsets + "}") + ";\n";
}

/// Moves constants to registers.
std::string setRegisters(const std::string &type, const std::string &prefix,
                         llvm::ArrayRef<int> values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += "  mov." + type + " " + prefix + std::to_string(i) + ", " +
            std::to_string(values[i]) + ";\n";
  return text;
}

//===----------------------------------------------------------------------===//
// im2col
//===----------------------------------------------------------------------===//

/// A tensor of 16-bit elements with its box of pixels.
struct Images {
  std::vector<uint64_t> dim;
  std::vector<int32_t> lower, upper;
  std::vector<uint32_t> step;
  uint32_t channels = 16, pixels = 20;
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorFill fill = TensorFill::Zero;

  unsigned rank() const { return dim.size(); }
  std::vector<uint64_t> strides() const {
    std::vector<uint64_t> result;
    uint64_t bytes = 2;
    for (unsigned i = 0; i + 1 < rank(); ++i)
      result.push_back(bytes *= dim[i]);
    return result;
  }
  llvm::Error encode(uint64_t address, uint8_t *bytes) const {
    auto stride = strides();
    TensorMapIm2colArguments arguments;
    arguments.dataType = TensorDataType::Float16;
    arguments.globalAddress = address;
    arguments.globalDim = dim;
    arguments.globalStrides = stride;
    arguments.elementStrides = step;
    arguments.swizzle = swizzle;
    arguments.fill = fill;
    arguments.lowerCorner = lower;
    arguments.upperCorner = upper;
    arguments.channelsPerPixel = channels;
    arguments.pixelsPerColumn = pixels;
    return encodeTensorMapIm2col(bytes, arguments);
  }
  /// The base pixels in the order of the hardware, as coordinates of
  /// dimensions 1 and up.
  std::vector<std::vector<int>> basePixels() const {
    std::vector<std::vector<int>> result = {{}};
    for (unsigned i = rank() - 1; i > 0; --i) {
      bool isSpatial = i + 1 < rank();
      int begin = isSpatial ? lower[i - 1] : 0;
      int end = int(dim[i]) + (isSpatial ? upper[i - 1] : 0);
      std::vector<std::vector<int>> longer;
      for (const auto &outer : result)
        for (int at = begin; at < end; at += isSpatial ? step[i] : 1) {
          auto pixel = outer;
          pixel.insert(pixel.begin(), at);
          longer.push_back(pixel);
        }
      result = longer;
    }
    return result;
  }
  size_t elements() const {
    size_t count = 1;
    for (uint64_t extent : dim)
      count *= extent;
    return count;
  }
  /// The index of an element; -1 outside.
  int64_t indexOf(int channel, const std::vector<int> &pixel,
                  llvm::ArrayRef<int> offsets) const {
    int64_t index = channel, stride = dim[0];
    if (channel < 0 || channel >= int(dim[0]))
      return -1;
    for (unsigned i = 1; i < rank(); ++i) {
      int at = pixel[i - 1] + (i - 1 < offsets.size() ? offsets[i - 1] : 0);
      if (at < 0 || at >= int(dim[i]))
        return -1;
      index += at * stride;
      stride *= dim[i];
    }
    return index;
  }
};

std::string launch(const std::string &text, const Images &images,
                   std::vector<uint16_t> &tensor, std::vector<uint32_t> &buffer,
                   EmulatorOptions options = {}) {
  Runner runner(text, options);
  auto address =
      runner.emulator.memory().map(tensor.data(), tensor.size() * 2, "tensor");
  std::vector<uint8_t> map(tensorMapBytes);
  if (llvm::Error error = images.encode(*address, map.data()))
    return llvm::toString(std::move(error));
  runner.arguments.addBytes(map);
  runner.map(buffer);
  runner.add(uint32_t(images.channels * images.pixels * 2));
  auto result = runner.tryRun("k", Dim3{1, 1, 1}, Dim3{32, 1, 1});
  if (!result)
    return llvm::toString(result.takeError());
  return result->reports.empty() ? "" : result->reports[0].str();
}

const Images someImages[] = {
    // 3 x 3 windows with a border of one pixel.
    {{32, 7, 6, 3}, {-1, -1}, {-1, -1}, {1, 1, 1, 1}},
    // A stride of two, no border.
    {{16, 9, 8, 2}, {0, 0}, {-2, -2}, {1, 2, 2, 1}},
    {{64, 30, 4}, {-2}, {1}, {1, 1, 1}, 64, 16, TensorSwizzle::Bytes128},
    {{16, 5, 4, 3, 2}, {-1, 0, -1}, {0, -1, -1}, {1, 1, 2, 1, 1}, 8, 33},
    {{32, 7, 6, 3},
     {-1, -1},
     {-1, -1},
     {1, 1, 1, 1},
     32,
     30,
     TensorSwizzle::Bytes64,
     TensorFill::NaN},
};

TEST(Im2col, LoadsAgreeWithLoops) {
  for (const Images &images : someImages)
    for (unsigned seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE("rank " + std::to_string(images.rank()) + " seed " +
                   std::to_string(seed));
      std::mt19937 random(seed);
      std::vector<uint16_t> tensor(images.elements());
      for (uint16_t &value : tensor)
        value = random();
      std::vector<uint32_t> out(sharedWords);
      auto pixels = images.basePixels();
      size_t first = random() % pixels.size();
      std::vector<int> coordinates = pixels[first], offsets;
      int channel = int(random() % 3) * 8;
      coordinates.insert(coordinates.begin(), channel);
      for (unsigned i = 0; i + 2 < images.rank(); ++i)
        offsets.push_back(random() % 3);
      std::string text = tensorKernel(setRegisters("s32", "%c", coordinates) +
                                          setRegisters("u16", "%o", offsets) +
                                          loadCode(images.rank(), "%map",
                                                   join("%c", images.rank()),
                                                   join("%o", offsets.size())),
                                      true);
      EmulatorOptions options;
      options.checkRaces = options.checkUninitialized = true;
      ASSERT_EQ(launch(text, images, tensor, out, options), "");
      const auto *shared = reinterpret_cast<const uint16_t *>(out.data());
      unsigned width =
          images.swizzle == TensorSwizzle::None
              ? images.channels * 2
              : std::max(images.channels * 2, 16u << unsigned(images.swizzle));
      for (unsigned p = 0; p < images.pixels; ++p)
        for (unsigned c = 0; c < images.channels; ++c) {
          // Behind the last image everything is outside.
          int64_t index =
              first + p < pixels.size()
                  ? images.indexOf(channel + c, pixels[first + p], offsets)
                  : -1;
          uint16_t want = index >= 0                       ? tensor[index]
                          : images.fill == TensorFill::NaN ? 0x7FF7
                                                           : 0;
          unsigned byte = p * width + c * 2;
          if (images.swizzle != TensorSwizzle::None)
            byte ^= byte / 128 % (1u << unsigned(images.swizzle)) * 16;
          ASSERT_EQ(shared[byte / 2], want)
              << "pixel " << p << " channel " << c;
        }
    }
}

static std::string storeCode(unsigned rank) {
  return "  cp.async.bulk.tensor." + std::to_string(rank) +
         "d.global.shared::cta.im2col_no_offs.bulk_group [%map, {" +
         join("%c", rank) +
         "}], [%smem];\n  cp.async.bulk.commit_group;\n"
         "  cp.async.bulk.wait_group 0;\n";
}

TEST(Im2col, Stores) {
  for (Images images : someImages) {
    if (images.swizzle != TensorSwizzle::None)
      continue;
    for (int &corner : images.lower)
      corner = std::max(corner, 0);
    SCOPED_TRACE("rank " + std::to_string(images.rank()));
    std::mt19937 random(3);
    std::vector<uint16_t> tensor(images.elements()), before;
    for (uint16_t &value : tensor)
      value = random();
    before = tensor;
    std::vector<uint32_t> in(sharedWords);
    for (uint32_t &word : in)
      word = random();
    auto pixels = images.basePixels();
    size_t first = pixels.size() / 3;
    std::vector<int> coordinates = pixels[first];
    coordinates.insert(coordinates.begin(), 8);
    std::string text = tensorKernel(setRegisters("s32", "%c", coordinates) +
                                        storeCode(images.rank()),
                                    false);
    ASSERT_EQ(launch(text, images, tensor, in), "");
    const auto *shared = reinterpret_cast<const uint16_t *>(in.data());
    for (unsigned p = 0; p < images.pixels && first + p < pixels.size(); ++p)
      for (unsigned c = 0; c < images.channels; ++c)
        if (int64_t i = images.indexOf(8 + c, pixels[first + p], {}); i >= 0)
          before[i] = shared[p * images.channels + c];
    EXPECT_EQ(tensor, before);
  }
}

/// The H200 traps whether the copy begins there or its walk comes there.
TEST(Im2col, StoresTrapAtNegativeCoordinates) {
  Images images = someImages[0];
  ASSERT_LT(images.lower[0], 0);
  std::vector<uint16_t> tensor(images.elements());
  std::vector<uint32_t> in(sharedWords);
  auto run = [&](std::vector<int> coordinates) {
    coordinates.resize(images.rank());
    return launch(tensorKernel(setRegisters("s32", "%c", coordinates) +
                                   storeCode(images.rank()),
                               false),
                  images, tensor, in);
  };
  EXPECT_NE(run({0, -1}).find("begins at coordinate -1 of dimension 1"),
            std::string::npos);
  EXPECT_NE(run({0, 0}).find("comes to coordinate -1 of dimension 1"),
            std::string::npos);
}

TEST(Im2col, RefusesWhatTheDriverRefuses) {
  auto expect = [](auto change, const std::string &message) {
    Images images = someImages[0];
    change(images);
    uint8_t bytes[tensorMapBytes];
    std::string error = llvm::toString(images.encode(4096, bytes));
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  expect([](Images &images) { images.channels = 257; },
         "the channels of a pixel must be 1 to 256, found 257");
  expect([](Images &images) { images.pixels = 1025; },
         "the pixels of a column must be 1 to 1024, found 1025");
  expect([](Images &images) { images.lower[1] = -129; },
         "must be -128 to 127, found -129");
  expect([](Images &images) { images.upper.pop_back(); },
         "needs 2 values of each corner");
  expect([](Images &images) { images.channels = 4; },
         "must be a multiple of 16 bytes, found 8");
  expect(
      [](Images &images) {
        images.dim = {32, 7};
        images.step = {1, 1};
        images.lower = images.upper = {};
      },
      "the rank must be 3 to 5 for im2col, found 2");
}

TEST(Im2col, Misuse) {
  std::vector<uint16_t> tensor(someImages[0].elements());
  std::vector<uint32_t> out(sharedWords);
  std::string error =
      launch(tensorKernel(loadCode(4, "%map", join("%c", 4), ""), true),
             someImages[0], tensor, out);
  EXPECT_NE(error.find("is one of the im2col mode, the instruction is not"),
            std::string::npos)
      << error;
  auto expect = [](const std::string &body, const std::string &message) {
    std::string text = parseError(wrapBody(body));
    EXPECT_NE(text.find(message), std::string::npos) << text;
  };
  expect("cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::"
         "complete_tx::bytes [%r0], [%d0, {%r1, %r2}], [%r4], {%h0};",
         "the im2col mode needs .3d, .4d or .5d");
  expect("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::"
         "complete_tx::bytes [%r0], [%d0, {%r1, %r2, %r3}], [%r4], {%h0,%h1};",
         "operand 3 takes 1 registers here, found 2");
  expect("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::"
         "complete_tx::bytes [%r0], [%d0, {%r1, %r2, %r3}], [%r4];",
         "takes 4 operands here, found 3");
  expect("cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group "
         "[%d0, {%r1, %r2, %r3}], [%r4];",
         "copies to .global have '.im2col_no_offs'");
  expect("cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::"
         "complete_tx::bytes [%r0], [%d0, {%r1, %r2, %r3}], [%r4], {%h0};",
         "'.im2col::w' of cp.async.bulk.tensor, which sm_100 has");
}

//===----------------------------------------------------------------------===//
// tensormap.replace and tensormap.cp_fenceproxy
//===----------------------------------------------------------------------===//

/// Copies the parameter's map to shared memory, changes it there and copies it
/// to the beginning of the buffer, 512 bytes behind which the tensor lies.
std::string editSetup(const std::string &edits) {
  std::string text = "  @%p bra copy_end;\n";
  for (unsigned i = 0; i < 16; ++i) {
    std::string at = std::to_string(8 * i);
    text += "  ld.param.b64 %v0, [map+" + at + "];\n  st.shared.b64 [%copy+" +
            at + "], %v0;\n";
  }
  return text + "  ld.param.u64 %v1, [buffer];\n  add.u64 %v2, %v1, 512;\n" +
         edits +
         "copy_end:\n  bar.warp.sync -1;\n  ld.param.u64 %v1, [buffer];\n"
         "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
         ".release.gpu.sync.aligned [%v1], [%copy], 128;\n"
         "  fence.proxy.tensormap::generic.acquire.gpu [%v1], 128;\n";
}

std::string replaceCode(const std::string &field, unsigned bits,
                        const std::string &operands) {
  return "  tensormap.replace.tile." + field + ".shared::cta.b1024.b" +
         std::to_string(bits) + " [%copy], " + operands + ";\n";
}

/// Runs an edited map of f16 [16 x 4]; the buffer has the tensor at byte 512.
std::string runEdited(const std::string &edits, unsigned rank,
                      std::vector<uint32_t> &buffer, unsigned bytes) {
  uint64_t dim[] = {16, 4}, stride[] = {32};
  uint32_t box[] = {16, 4}, step[] = {1, 1};
  TensorMapArguments arguments;
  arguments.globalAddress = 4096;
  arguments.globalDim = dim;
  arguments.globalStrides = stride;
  arguments.boxDim = box;
  arguments.elementStrides = step;
  std::vector<uint8_t> map(tensorMapBytes);
  if (llvm::Error error = encodeTensorMap(map.data(), arguments))
    return llvm::toString(std::move(error));
  Runner runner(tensorKernel(setRegisters("s32", "%c", {0, 0, 0, 0, 0}) +
                                 loadCode(rank, "%v1", join("%c", rank), ""),
                             true, editSetup(edits)));
  runner.arguments.addBytes(map);
  // At a multiple of 64, which a vector need not be.
  Memory &memory = runner.emulator.memory();
  size_t size = buffer.size() * 4;
  auto address = memory.allocate(size, "buffer");
  std::memcpy(memory.hostPointer(*address, size), buffer.data(), size);
  runner.add(*address).add(uint32_t(bytes));
  auto result = runner.tryRun("k", Dim3{1, 1, 1}, Dim3{32, 1, 1});
  std::memcpy(buffer.data(), memory.hostPointer(*address, size), size);
  return result ? "" : llvm::toString(result.takeError());
}

TEST(TensorMapReplace, ChangesEveryField) {
  // s32 [8 x 6 x 3] with padded rows of 48 bytes, every second row.
  std::string edits =
      replaceCode("global_address", 64, "%v2") + replaceCode("rank", 32, "2") +
      replaceCode("elemtype", 32, "3") +
      replaceCode("interleave_layout", 32, "0") +
      replaceCode("swizzle_mode", 32, "1") + replaceCode("fill_mode", 32, "0");
  const unsigned dims[] = {8, 6, 3}, boxes[] = {8, 4, 2}, steps[] = {1, 2, 1},
                 strides[] = {48, 48 * 6};
  for (unsigned i = 0; i < 3; ++i) {
    auto numbered = [&](unsigned value) {
      return std::to_string(i) + ", " + std::to_string(value);
    };
    edits += replaceCode("global_dim", 32, numbered(dims[i])) +
             replaceCode("box_dim", 32, numbered(boxes[i])) +
             replaceCode("element_stride", 32, numbered(steps[i]));
    if (i < 2)
      edits += replaceCode("global_stride", 64, numbered(strides[i]));
  }
  std::vector<uint32_t> buffer(sharedWords), before;
  std::mt19937 random(4);
  for (uint32_t &word : buffer)
    word = random();
  before = buffer;
  ASSERT_EQ(runEdited(edits, 3, buffer, 8 * 2 * 2 * 4), "");
  for (unsigned k = 0; k < 2; ++k)
    for (unsigned j = 0; j < 2; ++j)
      for (unsigned i = 0; i < 8; ++i) {
        unsigned byte = ((k * 2 + j) * 8 + i) * 4;
        byte ^= byte / 128 % 2 * 16;
        EXPECT_EQ(buffer[byte / 4], before[128 + (k * 6 + 2 * j) * 12 + i])
            << i << "," << j << "," << k;
      }
}

TEST(TensorMapReplace, Errors) {
  std::vector<uint32_t> buffer(sharedWords);
  auto expect = [&](const std::string &edits, const std::string &message) {
    std::string error = runEdited(edits, 2, buffer, 128);
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  // A value that no tensor map has, and a combination that is invalid.
  expect(replaceCode("box_dim", 32, "0, 300"), "is no value of this field");
  expect(replaceCode("rank", 32, "5"), "is no value of this field");
  expect(replaceCode("elemtype", 32, "13"), "is no value of this field");
  expect("  st.shared.b64 [%copy], %v1;\n" + replaceCode("rank", 32, "1"),
         "there is no tiled tensor map at this address");
  expect(replaceCode("box_dim", 32, "0, 3"),
         "there is no tensor map of the emulator");
  expect("  add.u32 %copy, %copy, 32;\n" + replaceCode("rank", 32, "1"),
         "is not a multiple of 64");
}

TEST(TensorMapReplace, ErrorsAtLoad) {
  auto expect = [](const std::string &body, const std::string &message) {
    std::string error = parseError(wrapBody(body));
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  expect("tensormap.replace.tile.other.shared::cta.b1024.b32 [%r0], %r1;",
         "does not know the field '.other'");
  expect("tensormap.replace.tile.rank.shared::cta.b1024.b64 [%r0], %d1;",
         "needs .b1024.b32");
  expect("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r0], %r1;",
         "must be an integer constant");
  expect("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r0], 4,"
         " %d1;",
         "the ordinal must be 0 to 3, found 4");
  expect("tensormap.replace.tile.rank.local.b1024.b32 [%d0], %r1;",
         "unknown modifier '.local'");
  expect("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
         ".release.gpu.sync.aligned [%d0], [%r0], 64;",
         "copies 128 bytes");
  expect("tensormap.other [%d0];", "expected tensormap.replace");
}

TEST(NotEmulated, IsNamed) {
  auto expect = [](const std::string &body, const std::string &message) {
    std::string error = parseError(wrapBody(body));
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("test.ptx:"), std::string::npos) << error;
  };
  expect("multimem.st.relaxed.sys.global.f32 [%d0], %f0;",
         "'multimem.st' (memory that several GPUs share) is not emulated");
  expect("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4,%f5}];",
         "'tex.2d' (textures) is not emulated");
  expect("suld.b.1d.b32.trap %r0, [%d0, {%r1}];",
         "'suld.b' (surfaces) is not emulated");
  expect("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
         "complete_tx::bytes.b128 [%r0], [%r1];",
         "'clusterlaunchcontrol.try_cancel' (work stealing of sm_100)");
  expect("st.bulk.weak.shared::cta [%d0], %d1, 0;",
         "'st.bulk', which sm_100 has, is not emulated");
}

} // namespace
