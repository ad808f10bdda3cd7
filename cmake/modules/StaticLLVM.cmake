# Every packaged MLIR archive names the shared `LLVM` in its link interface.
# Replace that name by TileDialect's list of component archives, so that a tool
# is self-contained, starts fast and holds one copy of LLVM.
function(tile_dialect_link_mlir_statically replacement)
  foreach(target IN LISTS MLIR_EXPORTED_TARGETS)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "STATIC_LIBRARY")
      continue()
    endif()
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(TRANSFORM links REPLACE "^LLVM$" "${replacement}")
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
  endforeach()
endfunction()

# Replace LLVM's component archives by the shared `LLVM` in the link interfaces
# of the given targets.
function(tile_dialect_link_shared_llvm)
  foreach(target IN LISTS ARGN)
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(TRANSFORM links REPLACE "^LLVM[A-Za-z0-9]+$" "LLVM")
      list(REMOVE_DUPLICATES links)
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
  endforeach()
endfunction()
