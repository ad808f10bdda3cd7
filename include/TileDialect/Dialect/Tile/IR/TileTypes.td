//===- TileTypes.td - Types of the tile dialect ------------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILETYPES_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILETYPES_TD

include "TileDialect/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"

class Tile_TypeDef<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_TypeDef<"Ptr", "ptr"> {
  let summary = "pointer";
  let description = [{
    A pointer to an element of type `pointeeType` in `memorySpace`, numbered as
    PTX and LLVM's NVPTX back end do: 0 generic, 1 global (the default), 3 shared.

    Example: `!tile.ptr<f32>`, `!tile.ptr<i8, 3>`
  }];
  let parameters = (ins "Type":$pointeeType, DefaultValuedParameter<"unsigned", "1">:$memorySpace);
  let assemblyFormat = [{ `<` $pointeeType (`,` $memorySpace^)? `>` }];
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "Type":$pointeeType, CArg<"unsigned", "1">:$memorySpace), [{
    return $_get(pointeeType.getContext(), pointeeType, memorySpace);
  }]>];
  let skipDefaultBuilders = 1;
}

def Tile_DescType : Tile_TypeDef<"Desc", "desc"> {
  let summary = "tensor descriptor";
  let description = [{
    Describes a tensor in global memory (base, extents, strides, padding) that is
    accessed in boxes of the static shape and element type given here.

    Example: `!tile.desc<128x64xf16>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "ArrayRef<int64_t>":$shape, "Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType);
  }]>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// The tensor that a load of one box yields (no encoding).
    RankedTensorType getBoxType() const {
      return RankedTensorType::get(getShape(), getElementType());
    }
  }];
}

// Element types that tiles are made of.
def Tile_Float : AnyTypeOf<[F16, BF16, F32, F64, F8E4M3FN, F8E5M2], "floating-point">;
def Tile_Int : AnyTypeOf<[I1, I8, I16, I32, I64], "integer">;
def Tile_Number : AnyTypeOf<[Tile_Float, Tile_Int], "integer or floating-point">;
def Tile_Element : AnyTypeOf<[Tile_Number, Tile_PtrType], "integer, floating-point or pointer">;

class Tile_TensorOf<Type element> : Type<
  And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
       SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()", element.predicate>]>,
  "tile of " # element.summary # " values", "::mlir::RankedTensorType">;
def Tile_Tensor : Tile_TensorOf<Tile_Element>;
def Tile_NumberTensor : Tile_TensorOf<Tile_Number>;
def Tile_IntTensor : Tile_TensorOf<Tile_Int>;
def Tile_FloatTensor : Tile_TensorOf<Tile_Float>;
def Tile_PtrTensor : Tile_TensorOf<Tile_PtrType>;
def Tile_I1Tensor : Tile_TensorOf<I1>;

// A scalar or a tile of such scalars.
class Tile_LikeOf<Type element> : AnyTypeOf<[element, Tile_TensorOf<element>],
  element.summary # " or tile of " # element.summary # " values">;
def Tile_Any : Tile_LikeOf<Tile_Element>;
def Tile_NumberLike : Tile_LikeOf<Tile_Number>;
def Tile_IntLike : Tile_LikeOf<Tile_Int>;
def Tile_FloatLike : Tile_LikeOf<Tile_Float>;
def Tile_PtrLike : Tile_LikeOf<Tile_PtrType>;
def Tile_I1Like : Tile_LikeOf<I1>;

#endif // TILEDIALECT_DIALECT_TILE_IR_TILETYPES_TD
