//===- Emission.cpp - Memory accesses, PTX and calls ----------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

//===----------------------------------------------------------------------===//
// Values and types
//===----------------------------------------------------------------------===//

Value nv_detail::createFloat(OpBuilder &builder, Location loc, Type type,
                             double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

//===----------------------------------------------------------------------===//
// Intrinsics, PTX, functions
//===----------------------------------------------------------------------===//

Value nv_detail::callIntrinsic(OpBuilder &builder, Location loc, StringRef name,
                               Type type, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, type,
                                       builder.getStringAttr(name), operands)
      .getResult(0);
}

SmallVector<Value> nv_detail::emitPTX(OpBuilder &builder, Location loc,
                                      StringRef text, StringRef constraints,
                                      TypeRange types, ValueRange operands,
                                      bool pure) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type, 1> resultTypes;
  if (types.size() == 1)
    resultTypes.push_back(types.front());
  else if (types.size() > 1)
    resultTypes.push_back(
        LLVM::LLVMStructType::getLiteral(context, llvm::to_vector(types)));
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, resultTypes, operands, text, constraints,
      /*has_side_effects=*/!pure, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> results;
  if (types.size() == 1)
    results.push_back(op->getResult(0));
  else
    for (size_t i = 0; i < types.size(); ++i)
      results.push_back(LLVM::ExtractValueOp::create(
          builder, loc, op->getResult(0), ArrayRef<int64_t>{int64_t(i)}));
  return results;
}

char nv_detail::getConstraintLetter(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 'l';
  unsigned bits = type.getIntOrFloatBitWidth();
  if (type.isF32())
    return 'f';
  if (type.isF64())
    return 'd';
  if (bits == 1)
    return 'b';
  return bits <= 16 ? 'h' : bits == 32 ? 'r' : 'l';
}

StringRef nv_detail::getStateSpace(Value ptr) {
  switch (cast<LLVM::LLVMPointerType>(ptr.getType()).getAddressSpace()) {
  case 1:
    return ".global";
  case 3:
    return ".shared";
  default:
    return "";
  }
}

FailureOr<Value> nv_detail::callFunction(OpBuilder &builder, Operation *op,
                                         Operation *module, StringRef name,
                                         Type type, ValueRange operands,
                                         bool pure) {
  MLIRContext *context = builder.getContext();
  Type result = type ? type : LLVM::LLVMVoidType::get(context);
  auto functionType =
      LLVM::LLVMFunctionType::get(result, llvm::to_vector(operands.getTypes()));
  Operation *symbol = SymbolTable::lookupSymbolIn(module, name);
  auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(symbol);
  if (symbol && (!function || function.getFunctionType() != functionType)) {
    auto diag = op->emitOpError("calls '")
                << name << "' with type " << functionType
                << ", but the module has another symbol of that name";
    diag.attachNote(symbol->getLoc()) << "it is here";
    // The pass fails for the diagnostic, once all patterns have run.
    return type
               ? LLVM::PoisonOp::create(builder, op->getLoc(), type).getResult()
               : Value();
  }
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&module->getRegion(0).front());
    function =
        LLVM::LLVMFuncOp::create(builder, op->getLoc(), name, functionType);
    if (pure) {
      auto none = LLVM::ModRefInfo::NoModRef;
      function.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
          context, {none, none, none, none, none, none}));
      function.setNoUnwind(true);
      function.setWillReturn(true);
    }
  }
  auto call = LLVM::CallOp::create(builder, op->getLoc(), function, operands);
  return type ? call.getResult() : Value();
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

namespace {

/// How `width` elements of a storage type lie in the registers of one PTX
/// access: `count` units of `bits` each.
struct AccessUnits {
  AccessUnits(OpBuilder &builder, Type storage, int64_t width)
      : storage(storage), width(width) {
    elementBits = storage.getIntOrFloatBitWidth();
    int64_t total = elementBits * width;
    bits = std::min<int64_t>(total, elementBits == 64 ? 64 : 32);
    count = total / bits;
    // PTX has no 8-bit registers.
    registerType = builder.getIntegerType(std::max<unsigned>(bits, 16));
  }

  /// `.b32`, `.v4.b32`, ...
  std::string getSuffix() const {
    std::string vector = count == 1 ? "" : ".v" + llvm::utostr(count);
    return vector + ".b" + llvm::utostr(bits);
  }

  Type storage;
  int64_t width;
  unsigned elementBits, bits;
  int64_t count;
  IntegerType registerType;
};

} // namespace

static bool isZero(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return false;
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getValue().isZero();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValue().bitcastToAPInt().isZero();
  return false;
}

/// The register that holds `values`, storage elements, the first one lowest.
static Value packUnit(OpBuilder &builder, Location loc,
                      const AccessUnits &units, ValueRange values) {
  if (llvm::all_of(values, isZero))
    return createInt(builder, loc, units.registerType.getWidth(), 0);
  if (units.bits == 8)
    return arith::ExtUIOp::create(builder, loc, units.registerType, values[0]);
  if (values.size() == 1) {
    if (values[0].getType() == units.registerType)
      return values[0];
    return LLVM::BitcastOp::create(builder, loc, units.registerType, values[0]);
  }
  return LLVM::BitcastOp::create(builder, loc, units.registerType,
                                 packVector(builder, loc, values));
}

static void unpackUnit(OpBuilder &builder, Location loc,
                       const AccessUnits &units, Value value,
                       SmallVectorImpl<Value> &results) {
  int64_t perUnit = units.bits / units.elementBits;
  if (units.bits == 8) {
    results.push_back(
        arith::TruncIOp::create(builder, loc, units.storage, value));
    return;
  }
  if (perUnit == 1) {
    results.push_back(
        units.storage == value.getType()
            ? value
            : LLVM::BitcastOp::create(builder, loc, units.storage, value));
    return;
  }
  auto type = VectorType::get({perUnit}, units.storage);
  Value vector = LLVM::BitcastOp::create(builder, loc, type, value);
  llvm::append_range(results, unpackVector(builder, loc, vector, perUnit));
}

/// The modifiers of an access. PTX takes one of volatile, cache operator and
/// eviction priority; the last one is a hint, and only for global memory.
static std::string getModifiers(StringRef instruction, Value ptr,
                                AccessFlags flags) {
  StringRef space = getStateSpace(ptr);
  std::string text = instruction.str();
  if (flags.isVolatile)
    return text + ".volatile" + space.str();
  text += space;
  if (space == ".shared")
    return text;
  if (flags.cache != tile::CacheModifier::None)
    return text + "." + tile::stringifyCacheModifier(flags.cache).str();
  if (flags.eviction != tile::EvictionPolicy::Normal)
    text += ".L1::" + tile::stringifyEvictionPolicy(flags.eviction).str();
  return text;
}

/// Adds the operand that gives L2 the eviction priority that the modifiers give
/// L1, behind `numOutputs` results and `operands`. Returns what names it in the
/// text, nothing if there is none (PTX ISA, "createpolicy"; `no_allocate` is of
/// L1 only).
static std::string addCachePolicy(OpBuilder &builder, Location loc, Value ptr,
                                  AccessFlags flags, unsigned numOutputs,
                                  std::string &constraints,
                                  SmallVectorImpl<Value> &operands) {
  bool isPriority = flags.eviction == tile::EvictionPolicy::First ||
                    flags.eviction == tile::EvictionPolicy::Last;
  if (!isPriority || flags.isVolatile || getStateSpace(ptr) != ".global" ||
      flags.cache != tile::CacheModifier::None ||
      !getChip(builder.getInsertionBlock()->getParentOp()).hasCachePolicy)
    return "";
  std::string text = "createpolicy.fractional.L2::" +
                     tile::stringifyEvictionPolicy(flags.eviction).str() +
                     ".b64 $0, 1.0;";
  Value policy = emitPTX(builder, loc, text, "=l", builder.getI64Type(), {},
                         /*pure=*/true)
                     .front();
  std::string operand = ", $" + llvm::utostr(numOutputs + operands.size());
  constraints += ",l";
  operands.push_back(policy);
  return operand;
}

std::string nv_detail::getOperandList(unsigned first, int64_t count) {
  std::string list;
  llvm::raw_string_ostream os(list);
  if (count > 1)
    os << '{';
  for (int64_t i = 0; i < count; ++i)
    os << (i ? ", $" : "$") << first + i;
  if (count > 1)
    os << '}';
  return list;
}

static bool isPlain(AccessFlags flags) {
  return flags.cache == tile::CacheModifier::None &&
         flags.eviction == tile::EvictionPolicy::Normal;
}

Registers nv_detail::emitLoad(OpBuilder &builder, Location loc, Value ptr,
                              Type type, int64_t width, Value predicate,
                              ValueRange other, AccessFlags flags) {
  Type storage = getStorageType(type);
  AccessUnits units(builder, storage, width);
  Registers elements;
  if (!predicate && (isPlain(flags) || flags.isVolatile)) {
    unsigned alignment = units.elementBits / 8 * width;
    Type loaded = width == 1 ? storage : VectorType::get({width}, storage);
    Value value = LLVM::LoadOp::create(builder, loc, loaded, ptr, alignment,
                                       flags.isVolatile);
    elements = unpackVector(builder, loc, value, width);
  } else {
    char letter = getConstraintLetter(units.registerType);
    std::string constraints;
    for (int64_t i = 0; i < units.count; ++i)
      constraints += std::string(i ? ",=" : "=") + letter;
    SmallVector<Value> operands{ptr};
    constraints += ",l";
    std::string text;
    if (predicate) {
      operands.push_back(predicate);
      constraints += ",b";
      text = "@$" + llvm::utostr(units.count + 1) + " ";
      // The outputs start as what a masked-off element has.
      int64_t perUnit = width / units.count;
      for (int64_t i = 0; i < units.count; ++i) {
        SmallVector<Value> initial;
        for (Value value :
             other.empty() ? other : other.slice(i * perUnit, perUnit))
          initial.push_back(toStorage(builder, loc, value));
        operands.push_back(packUnit(builder, loc, units, initial));
        constraints += "," + llvm::utostr(i);
      }
    }
    std::string policy = addCachePolicy(builder, loc, ptr, flags, units.count,
                                        constraints, operands);
    text += getModifiers("ld", ptr, flags) +
            (policy.empty() ? "" : ".L2::cache_hint") + units.getSuffix() +
            " " + getOperandList(0, units.count) + ", [$" +
            llvm::utostr(units.count) + "]" + policy + ";";
    SmallVector<Type> types(units.count, units.registerType);
    for (Value value : emitPTX(builder, loc, text, constraints, types, operands,
                               /*pure=*/false))
      unpackUnit(builder, loc, units, value, elements);
  }
  for (Value &element : elements)
    element = fromStorage(builder, loc, element, type);
  return elements;
}

void nv_detail::emitStore(OpBuilder &builder, Location loc, Value ptr,
                          ValueRange values, Value predicate,
                          AccessFlags flags) {
  SmallVector<Value> elements;
  for (Value value : values)
    elements.push_back(toStorage(builder, loc, value));
  Type storage = elements.front().getType();
  int64_t width = elements.size();
  AccessUnits units(builder, storage, width);
  if (!predicate && (isPlain(flags) || flags.isVolatile)) {
    unsigned alignment = units.elementBits / 8 * width;
    LLVM::StoreOp::create(builder, loc, packVector(builder, loc, elements), ptr,
                          alignment, flags.isVolatile);
    return;
  }
  SmallVector<Value> operands{ptr};
  std::string constraints = "l";
  int64_t perUnit = width / units.count;
  for (int64_t i = 0; i < units.count; ++i) {
    operands.push_back(packUnit(
        builder, loc, units, ArrayRef(elements).slice(i * perUnit, perUnit)));
    constraints += std::string(",") + getConstraintLetter(units.registerType);
  }
  std::string text;
  if (predicate) {
    operands.push_back(predicate);
    constraints += ",b";
    text = "@$" + llvm::utostr(units.count + 1) + " ";
  }
  std::string policy = addCachePolicy(builder, loc, ptr, flags,
                                      /*numOutputs=*/0, constraints, operands);
  text += getModifiers("st", ptr, flags) +
          (policy.empty() ? "" : ".L2::cache_hint") + units.getSuffix() +
          " [$0], " + getOperandList(1, units.count) + policy + ";";
  emitPTX(builder, loc, text, constraints, {}, operands, /*pure=*/false);
}
