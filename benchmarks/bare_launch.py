"""The launch of launch.c, for a kernel of the package."""

import ctypes
import pathlib
import shutil
import subprocess


class BareLaunch:
    """`compiled` has three pointers and two ints. Raises RuntimeError without a C compiler."""

    def __init__(self, compiled, folder):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            raise RuntimeError("the launch from C needs a C compiler")
        library = pathlib.Path(folder) / "launch.so"
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", pathlib.Path(__file__).with_name("launch.c"),
                        "-o", library, "-ldl"], check=True)
        self.function = ctypes.CDLL(str(library)).time_launches
        self.function.restype = ctypes.c_double
        self.function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint, ctypes.c_void_p,
                                  ctypes.c_uint64, ctypes.c_int]
        self.image, self.name = compiled._image(), compiled.name.encode()
        self.threads = compiled.num_threads

    def time(self, stream, pointer, count):
        """Microseconds of the host for a launch."""
        result = self.function(self.image, self.name, self.threads, stream, pointer, count)
        if result < 0:
            raise RuntimeError(f"the launch from C failed ({result})")
        return result
