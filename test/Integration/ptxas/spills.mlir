// The checks of assemble.py can fail: a kernel that needs more registers than it
// may have spills, and is found.

// REQUIRES: ptxas
// RUN: not %python %S/assemble.py %ptxas %s 2>&1 | FileCheck %s
// RUN: not %python %S/assemble.py %ptxas 2>&1

// CHECK: spills {{[1-9][0-9]*}} bytes
gpu.module @m {
  llvm.func @k(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxnreg = 24 : i32, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %p0 = llvm.getelementptr %x[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v0 = llvm.load volatile %p0 : !llvm.ptr<1> -> i32
    %p1 = llvm.getelementptr %x[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v1 = llvm.load volatile %p1 : !llvm.ptr<1> -> i32
    %p2 = llvm.getelementptr %x[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v2 = llvm.load volatile %p2 : !llvm.ptr<1> -> i32
    %p3 = llvm.getelementptr %x[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v3 = llvm.load volatile %p3 : !llvm.ptr<1> -> i32
    %p4 = llvm.getelementptr %x[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v4 = llvm.load volatile %p4 : !llvm.ptr<1> -> i32
    %p5 = llvm.getelementptr %x[5] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v5 = llvm.load volatile %p5 : !llvm.ptr<1> -> i32
    %p6 = llvm.getelementptr %x[6] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v6 = llvm.load volatile %p6 : !llvm.ptr<1> -> i32
    %p7 = llvm.getelementptr %x[7] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v7 = llvm.load volatile %p7 : !llvm.ptr<1> -> i32
    %p8 = llvm.getelementptr %x[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v8 = llvm.load volatile %p8 : !llvm.ptr<1> -> i32
    %p9 = llvm.getelementptr %x[9] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v9 = llvm.load volatile %p9 : !llvm.ptr<1> -> i32
    %p10 = llvm.getelementptr %x[10] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v10 = llvm.load volatile %p10 : !llvm.ptr<1> -> i32
    %p11 = llvm.getelementptr %x[11] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v11 = llvm.load volatile %p11 : !llvm.ptr<1> -> i32
    %p12 = llvm.getelementptr %x[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v12 = llvm.load volatile %p12 : !llvm.ptr<1> -> i32
    %p13 = llvm.getelementptr %x[13] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v13 = llvm.load volatile %p13 : !llvm.ptr<1> -> i32
    %p14 = llvm.getelementptr %x[14] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v14 = llvm.load volatile %p14 : !llvm.ptr<1> -> i32
    %p15 = llvm.getelementptr %x[15] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v15 = llvm.load volatile %p15 : !llvm.ptr<1> -> i32
    %p16 = llvm.getelementptr %x[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v16 = llvm.load volatile %p16 : !llvm.ptr<1> -> i32
    %p17 = llvm.getelementptr %x[17] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v17 = llvm.load volatile %p17 : !llvm.ptr<1> -> i32
    %p18 = llvm.getelementptr %x[18] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v18 = llvm.load volatile %p18 : !llvm.ptr<1> -> i32
    %p19 = llvm.getelementptr %x[19] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v19 = llvm.load volatile %p19 : !llvm.ptr<1> -> i32
    %p20 = llvm.getelementptr %x[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v20 = llvm.load volatile %p20 : !llvm.ptr<1> -> i32
    %p21 = llvm.getelementptr %x[21] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v21 = llvm.load volatile %p21 : !llvm.ptr<1> -> i32
    %p22 = llvm.getelementptr %x[22] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v22 = llvm.load volatile %p22 : !llvm.ptr<1> -> i32
    %p23 = llvm.getelementptr %x[23] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v23 = llvm.load volatile %p23 : !llvm.ptr<1> -> i32
    %p24 = llvm.getelementptr %x[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v24 = llvm.load volatile %p24 : !llvm.ptr<1> -> i32
    %p25 = llvm.getelementptr %x[25] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v25 = llvm.load volatile %p25 : !llvm.ptr<1> -> i32
    %p26 = llvm.getelementptr %x[26] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v26 = llvm.load volatile %p26 : !llvm.ptr<1> -> i32
    %p27 = llvm.getelementptr %x[27] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v27 = llvm.load volatile %p27 : !llvm.ptr<1> -> i32
    %p28 = llvm.getelementptr %x[28] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v28 = llvm.load volatile %p28 : !llvm.ptr<1> -> i32
    %p29 = llvm.getelementptr %x[29] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v29 = llvm.load volatile %p29 : !llvm.ptr<1> -> i32
    %p30 = llvm.getelementptr %x[30] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v30 = llvm.load volatile %p30 : !llvm.ptr<1> -> i32
    %p31 = llvm.getelementptr %x[31] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v31 = llvm.load volatile %p31 : !llvm.ptr<1> -> i32
    %p32 = llvm.getelementptr %x[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v32 = llvm.load volatile %p32 : !llvm.ptr<1> -> i32
    %p33 = llvm.getelementptr %x[33] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v33 = llvm.load volatile %p33 : !llvm.ptr<1> -> i32
    %p34 = llvm.getelementptr %x[34] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v34 = llvm.load volatile %p34 : !llvm.ptr<1> -> i32
    %p35 = llvm.getelementptr %x[35] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v35 = llvm.load volatile %p35 : !llvm.ptr<1> -> i32
    %p36 = llvm.getelementptr %x[36] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v36 = llvm.load volatile %p36 : !llvm.ptr<1> -> i32
    %p37 = llvm.getelementptr %x[37] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v37 = llvm.load volatile %p37 : !llvm.ptr<1> -> i32
    %p38 = llvm.getelementptr %x[38] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v38 = llvm.load volatile %p38 : !llvm.ptr<1> -> i32
    %p39 = llvm.getelementptr %x[39] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v39 = llvm.load volatile %p39 : !llvm.ptr<1> -> i32
    llvm.store volatile %v0, %p39 : i32, !llvm.ptr<1>
    llvm.store volatile %v1, %p38 : i32, !llvm.ptr<1>
    llvm.store volatile %v2, %p37 : i32, !llvm.ptr<1>
    llvm.store volatile %v3, %p36 : i32, !llvm.ptr<1>
    llvm.store volatile %v4, %p35 : i32, !llvm.ptr<1>
    llvm.store volatile %v5, %p34 : i32, !llvm.ptr<1>
    llvm.store volatile %v6, %p33 : i32, !llvm.ptr<1>
    llvm.store volatile %v7, %p32 : i32, !llvm.ptr<1>
    llvm.store volatile %v8, %p31 : i32, !llvm.ptr<1>
    llvm.store volatile %v9, %p30 : i32, !llvm.ptr<1>
    llvm.store volatile %v10, %p29 : i32, !llvm.ptr<1>
    llvm.store volatile %v11, %p28 : i32, !llvm.ptr<1>
    llvm.store volatile %v12, %p27 : i32, !llvm.ptr<1>
    llvm.store volatile %v13, %p26 : i32, !llvm.ptr<1>
    llvm.store volatile %v14, %p25 : i32, !llvm.ptr<1>
    llvm.store volatile %v15, %p24 : i32, !llvm.ptr<1>
    llvm.store volatile %v16, %p23 : i32, !llvm.ptr<1>
    llvm.store volatile %v17, %p22 : i32, !llvm.ptr<1>
    llvm.store volatile %v18, %p21 : i32, !llvm.ptr<1>
    llvm.store volatile %v19, %p20 : i32, !llvm.ptr<1>
    llvm.store volatile %v20, %p19 : i32, !llvm.ptr<1>
    llvm.store volatile %v21, %p18 : i32, !llvm.ptr<1>
    llvm.store volatile %v22, %p17 : i32, !llvm.ptr<1>
    llvm.store volatile %v23, %p16 : i32, !llvm.ptr<1>
    llvm.store volatile %v24, %p15 : i32, !llvm.ptr<1>
    llvm.store volatile %v25, %p14 : i32, !llvm.ptr<1>
    llvm.store volatile %v26, %p13 : i32, !llvm.ptr<1>
    llvm.store volatile %v27, %p12 : i32, !llvm.ptr<1>
    llvm.store volatile %v28, %p11 : i32, !llvm.ptr<1>
    llvm.store volatile %v29, %p10 : i32, !llvm.ptr<1>
    llvm.store volatile %v30, %p9 : i32, !llvm.ptr<1>
    llvm.store volatile %v31, %p8 : i32, !llvm.ptr<1>
    llvm.store volatile %v32, %p7 : i32, !llvm.ptr<1>
    llvm.store volatile %v33, %p6 : i32, !llvm.ptr<1>
    llvm.store volatile %v34, %p5 : i32, !llvm.ptr<1>
    llvm.store volatile %v35, %p4 : i32, !llvm.ptr<1>
    llvm.store volatile %v36, %p3 : i32, !llvm.ptr<1>
    llvm.store volatile %v37, %p2 : i32, !llvm.ptr<1>
    llvm.store volatile %v38, %p1 : i32, !llvm.ptr<1>
    llvm.store volatile %v39, %p0 : i32, !llvm.ptr<1>
    llvm.return
  }
}
