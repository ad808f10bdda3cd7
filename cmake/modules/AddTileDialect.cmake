# The project's CMake vocabulary: one function for each kind of target.
#
# Libraries are archives that link the *static* MLIR and LLVM archives. The
# plugin instead takes the same objects and links the shared libMLIR that a
# stock mlir-opt has loaded already (two copies of LLVM in one process register
# their options twice and abort).

include(StaticLLVM)

# The LLVM component archives that MLIR's archives and our own need. What a tool
# does not use goes away through section garbage collection.
function(tile_dialect_use_static_llvm)
  llvm_map_components_to_libnames(components
    Analysis AsmParser BitReader BitWriter CodeGen Core FrontendOpenMP IPO
    IRReader InstCombine Linker MC NVPTX Option Passes ScalarOpts Support
    Target TargetParser TransformUtils Vectorize)
  add_library(TileDialectLLVM INTERFACE)
  target_link_libraries(TileDialectLLVM INTERFACE ${components})
  install(TARGETS TileDialectLLVM EXPORT TileDialectTargets)
  set_property(GLOBAL APPEND PROPERTY TILE_DIALECT_LIBRARIES TileDialectLLVM)
  tile_dialect_link_mlir_statically(TileDialectLLVM)
endfunction()

# Flags of all our targets. HandleLLVMOptions already chose RTTI, exceptions
# and the base warnings to match the packaged LLVM.
macro(tile_dialect_configure_compiler)
  include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  add_definitions(${llvm_definitions})
  add_compile_options(-ffunction-sections -fdata-sections)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-unused-parameter>)
  if(TILE_DIALECT_WERROR)
    add_compile_options(-Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    find_program(TILE_LLD ld.lld-22 ld.lld)
    if(TILE_LLD)
      add_link_options(--ld-path=${TILE_LLD})
    endif()
  endif()
  add_link_options(-Wl,--gc-sections -Wl,--as-needed)
  if(TILE_DIALECT_SANITIZE)
    add_compile_options(-fsanitize=${TILE_DIALECT_SANITIZE}
      -fno-sanitize=vptr,function -fno-sanitize-recover=all
      -fno-omit-frame-pointer -g1)
    add_link_options(-fsanitize=${TILE_DIALECT_SANITIZE} -fno-sanitize=vptr,function)
  endif()
endmacro()

# tile_dialect_tablegen(TARGET file.td out1.inc -gen-x [-flags] ; ...)
# Generate .inc files next to the mirrored path in the build tree and add them
# to tile-dialect-headers. Each OUTPUTS entry is "name.inc|-gen-a -flag=b".
function(tile_dialect_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  foreach(entry IN LISTS ARGN)
    string(REPLACE "|" ";" parts "${entry}")
    list(GET parts 0 file)
    list(GET parts 1 flags)
    separate_arguments(flags)
    mlir_tablegen(${file} ${flags})
  endforeach()
  add_public_tablegen_target(${target})
  add_dependencies(tile-dialect-headers ${target})
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()

# add_tile_dialect_library(NAME src... [DEPENDS ...] [LINK_COMPONENTS ...]
#   [LINK_LIBS ...] [NO_PLUGIN])
# An archive, exported and installed. Its objects are part of the mlir-opt
# plugin too, except with NO_PLUGIN.
function(add_tile_dialect_library name)
  cmake_parse_arguments(ARG "NO_PLUGIN" "" "DEPENDS;LINK_COMPONENTS;LINK_LIBS" ${ARGN})
  add_library(obj.${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(obj.${name} tile-dialect-headers ${ARG_DEPENDS})
  add_library(${name} STATIC $<TARGET_OBJECTS:obj.${name}>)
  add_library(TileDialect::${name} ALIAS ${name})
  llvm_map_components_to_libnames(components ${ARG_LINK_COMPONENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} ${components})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL APPEND PROPERTY TILE_DIALECT_LIBRARIES ${name})
  if(NOT ARG_NO_PLUGIN)
    set_property(GLOBAL APPEND PROPERTY TILE_DIALECT_PLUGIN_OBJECTS obj.${name})
  endif()
  install(TARGETS ${name} EXPORT TileDialectTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# add_tile_dialect_tool(NAME src... LINK_LIBS ...)
function(add_tile_dialect_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} tile-dialect-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# add_tile_dialect_unittest(NAME src... LINK_LIBS ...)
# A GoogleTest program in build/unittests; lit finds and runs it.
function(add_tile_dialect_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} tile-dialect-headers)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gmock GTest::gtest GTest::gtest_main)
  set_property(GLOBAL APPEND PROPERTY TILE_DIALECT_UNITTESTS ${name})
endfunction()

# Export for find_package(TileDialect) from the build and the install tree.
function(tile_dialect_export)
  get_property(libs GLOBAL PROPERTY TILE_DIALECT_LIBRARIES)
  set(TILE_DIALECT_EXPORTED_TARGETS ${libs})
  set(dir ${CMAKE_BINARY_DIR}/lib/cmake/TileDialect)
  export(TARGETS ${libs} NAMESPACE TileDialect:: FILE ${dir}/TileDialectTargets.cmake)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/modules/StaticLLVM.cmake ${dir}/StaticLLVM.cmake COPYONLY)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TileDialectConfig.cmake.in
    ${dir}/TileDialectConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/TileDialect)
  write_basic_package_version_file(${dir}/TileDialectConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(EXPORT TileDialectTargets NAMESPACE TileDialect::
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/TileDialect)
  install(FILES ${dir}/TileDialectConfig.cmake ${dir}/TileDialectConfigVersion.cmake ${dir}/StaticLLVM.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/TileDialect)
  install(DIRECTORY include/TileDialect include/TileDialect-c
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY ${CMAKE_BINARY_DIR}/include/TileDialect
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.inc")
endfunction()
