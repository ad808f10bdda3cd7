//===- WmmaFragments.cpp - Where wmma keeps matrices in registers ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WmmaFragments.h"

using namespace tile_dialect::emulator;

namespace {

/// The shapes of a type of A and B.
struct ShapeRow {
  Type type;
  MatrixShape shapes[3];
};
constexpr MatrixShape square16{16, 16, 16}, wide16{8, 32, 16},
    tall16{32, 8, 16};
constexpr ShapeRow shapeRows[] = {
    {Type::F16, {square16, wide16, tall16}},
    {Type::BF16, {square16, wide16, tall16}},
    {Type::S8, {square16, wide16, tall16}},
    {Type::U8, {square16, wide16, tall16}},
    {Type::TF32, {{16, 16, 8}}},
    {Type::F64, {{8, 8, 4}}},
    {Type::S4, {{8, 8, 32}}},
    {Type::U4, {{8, 8, 32}}},
    {Type::B1, {{8, 8, 128}}},
};

/// The types of accumulators by k.
bool hasAccumulator(Type type, unsigned k) {
  switch (k) {
  case 4:
    return type == Type::F64;
  case 8:
    return type == Type::F32;
  case 16:
    return type == Type::F16 || type == Type::F32 || type == Type::S32;
  default:
    return type == Type::S32;
  }
}

MatrixCoordinate transposed(MatrixCoordinate at) { return {at.column, at.row}; }

/// An operand whose rows are spread as those of A.
MatrixCoordinate placeInA(unsigned rows, unsigned k, Type type, unsigned lane,
                          unsigned reg, unsigned element) {
  unsigned tileRows = rows < 16 ? 8 : 16;
  unsigned registers = tileRows * k / (warpSize * elementsPerRegister(type));
  MatrixCoordinate at =
      fragmentA(tileRows, type, lane, reg % registers, element);
  return {at.row + reg / registers * tileRows, at.column};
}

MatrixCoordinate placeInB(unsigned k, Type type, unsigned lane, unsigned reg,
                          unsigned element) {
  unsigned registers = k / (4 * elementsPerRegister(type));
  MatrixCoordinate at = fragmentB(type, lane, reg % registers, element);
  return {at.row, at.column + reg / registers * 8};
}

/// Accumulators of m x n; 8 columns have tiles one below the other.
MatrixCoordinate placeInC(unsigned m, unsigned lane, unsigned index) {
  if (m <= 16)
    return fragmentC(m, lane, index);
  MatrixCoordinate at = fragmentC(16, lane, index % 4);
  return {at.row + index / 4 * 16, at.column};
}

MatrixCoordinate placeOf(const MatrixShape &shape, WmmaOperand operand,
                         Type type, unsigned perRegister, unsigned lane,
                         unsigned reg, unsigned element) {
  bool isTransposed = shape.m == 8 && shape.n == 32;
  switch (operand) {
  case WmmaOperand::A:
    return isTransposed
               ? transposed(placeInB(shape.k, type, lane, reg, element))
               : placeInA(shape.m, shape.k, type, lane, reg, element);
  case WmmaOperand::B:
    return isTransposed ? transposed(placeInA(shape.n, shape.k, type, lane, reg,
                                              element))
                        : placeInB(shape.k, type, lane, reg, element);
  case WmmaOperand::Accumulator: {
    unsigned index = reg * perRegister + element;
    return isTransposed ? transposed(placeInC(shape.n, lane, index))
                        : placeInC(shape.m, lane, index);
  }
  }
  return {0, 0};
}

} // namespace

bool tile_dialect::emulator::hasWmmaShape(Type type, const MatrixShape &shape) {
  for (const ShapeRow &row : shapeRows)
    if (row.type == type)
      for (const MatrixShape &known : row.shapes)
        if (known.m && known.m == shape.m && known.n == shape.n &&
            known.k == shape.k)
          return true;
  return false;
}

bool WmmaFragment::make(const MatrixShape &shape, WmmaOperand operand,
                        Type type, WmmaFragment &fragment) {
  bool isAccumulator = operand == WmmaOperand::Accumulator;
  if (isAccumulator) {
    bool isKnown = false;
    for (const ShapeRow &row : shapeRows)
      isKnown |= hasWmmaShape(row.type, shape);
    if (!isKnown || !hasAccumulator(type, shape.k))
      return false;
  } else if (!hasWmmaShape(type, shape)) {
    return false;
  }
  fragment.type = type;
  fragment.rows = operand == WmmaOperand::B ? shape.k : shape.m;
  fragment.columns = operand == WmmaOperand::A ? shape.k : shape.n;
  fragment.elements = elementsPerRegister(type);
  fragment.registerBytes = type == Type::F64 ? 8 : 4;
  fragment.distinct =
      fragment.rows * fragment.columns / (warpSize * fragment.elements);
  fragment.registers =
      type == Type::F16 && !isAccumulator ? 8 : fragment.distinct;
  fragment.places.clear();
  for (unsigned r = 0; r < fragment.distinct; ++r)
    for (unsigned l = 0; l < warpSize; ++l)
      for (unsigned e = 0; e < fragment.elements; ++e)
        fragment.places.push_back(
            placeOf(shape, operand, type, fragment.elements, l, r, e));
  return true;
}

void WmmaFragment::gather(RegisterLanes sources, double *matrix) const {
  const MatrixCoordinate *at = places.data();
  double values[32];
  for (unsigned r = 0; r < distinct; ++r) {
    const auto *lanes = static_cast<const uint8_t *>(sources[r]);
    for (unsigned l = 0; l < warpSize; ++l) {
      decodeElements(type, lanes + l * registerBytes, elements, values);
      for (unsigned e = 0; e < elements; ++e, ++at)
        matrix[at->row * columns + at->column] = values[e];
    }
  }
}

void WmmaFragment::scatter(const double *matrix, bool saturate,
                           void *const *dests) const {
  const MatrixCoordinate *at = places.data();
  for (unsigned r = 0; r < distinct; ++r)
    for (unsigned l = 0; l < warpSize; ++l)
      for (unsigned e = 0; e < elements; ++e, ++at)
        encodeAccumulator(type, matrix[at->row * columns + at->column],
                          saturate, dests[r], l * elements + e);
}
