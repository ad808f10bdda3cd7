// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{the tile_nv dialect has no attribute "tile_nv.nonsense"}}
module attributes {tile_nv.nonsense} {
}

// -----

// expected-error @below {{the tile_nv dialect has no attribute "tile_nv.argument"}}
func.func private @argument(i32 {tile_nv.argument})

// -----

// expected-error @below {{the tile_nv dialect has no attribute "tile_nv.result"}}
func.func private @result() -> (i32 {tile_nv.result})

// -----

// expected-error @below {{"tile_nv.programmatic_launch" is a unit attribute of functions}}
module attributes {tile_nv.programmatic_launch} {
}

// -----

// expected-error @below {{"tile_nv.programmatic_launch" is a unit attribute of functions}}
func.func private @launch() attributes {tile_nv.programmatic_launch = 1 : i32}
