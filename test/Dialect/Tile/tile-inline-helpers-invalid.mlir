// RUN: tile-opt %s -tile-inline-helpers -split-input-file -verify-diagnostics

gpu.module @recursive {
  // expected-note @below {{the helper is defined here}}
  func.func private @f(%x: i32) -> i32 {
    // expected-error @below {{is recursive: a helper function that calls itself cannot be inlined}}
    %r = func.call @f(%x) : (i32) -> i32
    return %r : i32
  }
  gpu.func @kernel(%x: i32) kernel {
    %r = func.call @f(%x) : (i32) -> i32
    gpu.return
  }
}

// -----

gpu.module @mutually_recursive {
  // expected-note @below {{the helper is defined here}}
  func.func private @f() {
    func.call @g() : () -> ()
    return
  }
  func.func private @g() {
    // expected-error @below {{is recursive: a helper function that calls itself cannot be inlined}}
    func.call @f() : () -> ()
    return
  }
}

// -----

gpu.module @early_return {
  // expected-note @below {{the helper is defined here}}
  func.func private @f(%c: i1) {
    cf.cond_br %c, ^a, ^b
  ^a:
    return
  ^b:
    return
  }
  gpu.func @kernel(%c: i1) kernel {
    scf.if %c {
      // expected-error @below {{cannot be inlined: the helper has several blocks (it returns early), and the region of scf.if takes one}}
      func.call @f(%c) : (i1) -> ()
    }
    gpu.return
  }
}
