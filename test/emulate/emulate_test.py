#!/usr/bin/env python3
"""Runs programs of CUDA and NCCL through `ringlet emulate`: emulate_test.py BUILD_FOLDER
[unittest's arguments]."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NAMES = SOURCE / "src/emulate/names"
BUILD = None  # set by main
TIMEOUT_S = 120
CUDART = (13, 12)


def environment(**more):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("RINGLET_", "NCCL_", "CUDA_", "LD_"))}
    return {**clean, **more}


def emulate(*words, options=("--devices", "3", "--memory", "8M"), tool=None, **more):
    """Returns the finished process of `ringlet emulate OPTIONS -- WORDS`."""
    command = [tool or BUILD / "bin/ringlet", "emulate", *options, "--", *words]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S, env=environment(**more))


class Case(unittest.TestCase):
    def expect_right(self, ran):
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


class Functions(Case):
    """Runs each group of libcudart's functions, for programs of CUDA 13 and 12."""

    def test_each_group_of_functions_works(self):
        for major in CUDART:
            for group in ("devices", "memory", "copies", "streams", "capture", "graphs"):
                with self.subTest(major=major, group=group):
                    ran = emulate(BUILD / f"bin/cuda_program_{major}", group)
                    self.expect_right(ran)
                    self.assertEqual(ran.stderr, "")

    def test_a_missing_function_is_named_once(self):
        for major in CUDART:
            with self.subTest(major=major):
                ran = emulate(BUILD / f"bin/cuda_program_{major}", "errors")
                self.expect_right(ran)
                self.assertEqual(ran.stderr.count("cudaGraphUpload"), 1)
                self.assertIn(f"libcudart.so.{major}", ran.stderr)

    def test_an_error_names_the_needs_of_the_static_runtime(self):
        script = ("import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); table = ctypes.c_void_p(1); "
                  "assert [cuda.cuGetExportTable(ctypes.byref(table), b'0' * 16) for _ in '12'] == [500, 500]; "
                  "assert table.value is None")
        ran = emulate(sys.executable, "-c", script)
        self.expect_right(ran)
        self.assertEqual(ran.stderr.count("static runtime"), 1, ran.stderr)
        self.assertIn("-cudart shared", ran.stderr)

    def test_cudnn_has_a_version(self):
        script = ("import ctypes; version = ctypes.CDLL('libcudnn.so.9').cudnnGetVersion; "
                  "version.restype = ctypes.c_size_t; assert version() // 10000 == 9, version()")
        ran = emulate(sys.executable, "-c", script)
        self.expect_right(ran)
        self.assertEqual(ran.stderr, "")

    def test_refusals_are_logged_when_the_log_is_on(self):
        ran = emulate(BUILD / "bin/cuda_program_13", "memory", RINGLET_DEBUG="WARN")
        self.expect_right(ran)
        self.assertIn("cudaFree: cudaErrorInvalidValue", ran.stderr)
        self.assertIn("--memory", ran.stderr)

    def test_visible_devices_are_respected(self):
        program = BUILD / "bin/cuda_program_13"
        self.expect_right(emulate(program, "none", CUDA_VISIBLE_DEVICES=""))
        self.expect_right(emulate(program, "devices", options=("--devices", "8"),
                                  CUDA_VISIBLE_DEVICES="7,1,5"))

    def test_the_driver_functions_work(self):
        ran = emulate(BUILD / "bin/driver_program")
        self.expect_right(ran)
        self.assertIn("cuModuleLoad of libcuda.so.1", ran.stderr)

    def test_another_process_opens_exported_memory(self):
        for importer in CUDART:
            with self.subTest(importer=importer):
                options = ("--devices", "3", "--memory", "8M")
                owner = subprocess.Popen(
                    [BUILD / "bin/ringlet", "emulate", *options, "--",
                     BUILD / "bin/cuda_program_13", "export"], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
                handle = owner.stdout.readline().strip()
                ran = emulate(BUILD / f"bin/cuda_program_{importer}", "import", handle)
                _, errors = owner.communicate("\n", timeout=TIMEOUT_S)
                self.expect_right(ran)
                self.assertEqual(owner.returncode, 0, errors)
                gone = emulate(BUILD / f"bin/cuda_program_{importer}", "import", handle)
                self.assertIn("is 205, not 0", gone.stderr)  # the owner has ended


class Kernels(Case):
    def run_kernels(self, group, library=True, major=13):
        options = ["--devices", "1"]
        if library:
            options += ["--kernels", BUILD / "bin/libemulate_kernels.so"]
        return emulate(BUILD / f"bin/kernel_program_{major}", group, options=options)

    def test_functions_of_a_library_replace_kernels(self):
        for major in CUDART:
            for group in ("launches", "graph", "variables"):
                with self.subTest(major=major, group=group):
                    self.expect_right(self.run_kernels(group, major=major))

    def test_an_unknown_kernel_is_named(self):
        for library in (True, False):
            ran = self.run_kernels("unknown", library)
            self.expect_right(ran)
            self.assertIn("missing(float*)", ran.stderr)
            self.assertIn("_Z7missingPf", ran.stderr)

    def test_without_a_library_kernels_fail(self):
        ran = self.run_kernels("launches", library=False)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("the kernel fill cannot run on the host", ran.stderr)


class Management(Case):
    SCRIPT = """
import ctypes
nvml = ctypes.CDLL("libnvidia-ml.so.1")
count, device = ctypes.c_uint(), ctypes.c_void_p()
text, memory = ctypes.create_string_buffer(96), (ctypes.c_ulonglong * 3)()
assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 1
assert nvml.nvmlInit_v2() == 0
assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 and count.value == 3
assert nvml.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(device)) == 0
assert nvml.nvmlDeviceGetHandleByIndex_v2(3, ctypes.byref(device)) == 2
assert nvml.nvmlDeviceGetUUID(device, text, 96) == 0 and text.value.startswith(b"GPU-")
found = ctypes.c_void_p()
assert nvml.nvmlDeviceGetHandleByUUID(text.value, ctypes.byref(found)) == 0
assert found.value == device.value
for wanted, code in ((text.value[4:], 0), (b"GPU-", 6), (b"", 6), (text.value[5:], 6)):
    assert nvml.nvmlDeviceGetHandleByUUID(wanted, ctypes.byref(found)) == code, wanted
assert nvml.nvmlDeviceGetHandleByUUID(text.value[4:], ctypes.byref(found)) == 0 and found.value == device.value
assert nvml.nvmlDeviceGetName(device, text, 4) == 7
assert nvml.nvmlDeviceGetName(device, text, 96) == 0 and text.value
assert nvml.nvmlDeviceGetMemoryInfo(device, memory) == 0 and memory[0] == 8 << 20
assert nvml.nvmlDeviceGetName(ctypes.byref(count), text, 96) == 2
assert nvml.nvmlDeviceGetFanSpeed(device, ctypes.byref(count)) == 3 and count.value == 3
assert not hasattr(nvml, "nvmlDeviceSetFanSpeed_v2")
assert nvml.nvmlShutdown() == 0 and nvml.nvmlShutdown() == 1
"""

    def test_nvml_finds_devices_by_index_and_uuid(self):
        self.expect_right(emulate(sys.executable, "-c", self.SCRIPT))


class Communicators(Case):
    def test_grouped_calls_work_on_streams(self):
        ran = emulate(BUILD / "bin/cuda_all_reduce")
        self.expect_right(ran)
        self.assertIn("3 ranks: right", ran.stdout)


    def test_ranks_on_one_device_are_refused(self):
        ran = emulate(BUILD / "bin/example_threads", "2")  # selects no device
        self.assertNotEqual(ran.returncode, 0, ran.stdout)
        self.assertIn("ranks 0 and 1 are both on device 0 of host", ran.stderr)


class Tool(Case):
    def test_the_exit_status_is_that_of_the_program(self):
        self.assertEqual(emulate("sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(emulate("sh", "-c", "kill -9 $$").returncode, -9)

    def test_a_fault_that_does_not_strike_is_a_failure(self):
        ranks = ("--machine", "dgx-a100", "-n", "2")
        for options in ((), ranks):
            with self.subTest(options=options):
                ran = emulate("true", options=(*options, "--kill", "1@all_reduce"))
                self.assertEqual(ran.returncode, 1, ran.stderr)
                self.assertIn("--kill 1@all_reduce did not kill a rank", ran.stderr)
        ran = emulate("sh", "-c", "exit 7", options=("--kill", "1@all_reduce"))
        self.assertEqual(ran.returncode, 7, ran.stderr)
        ran = emulate(BUILD / "bin/host_ranks", options=(*ranks, "--kill", "1@all_reduce:1"))
        self.assertEqual(ran.returncode, 137, ran.stderr)
        self.assertNotIn("did not kill a rank", ran.stderr)

    def test_survivors_of_a_fault_may_continue(self):
        options = ("--machine", "dgx-a100", "-n", "3", "--kill", "1@all_reduce", "--keep-going")
        ran = emulate("sh", "-c", f"{BUILD}/bin/host_ranks && exit 9; [ $RANK != 1 ] && echo $RANK recovers",
                      options=options)
        self.assertEqual(ran.returncode, 1, "the shell of rank 1 lives on: " + ran.stderr)
        ran = emulate("sh", "-c", f"[ $RANK = 1 ] && exec {BUILD}/bin/host_ranks; {BUILD}/bin/host_ranks && exit 9; "
                      "echo $RANK recovers", options=options)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(sorted(line for line in ran.stdout.splitlines() if "recovers" in line),
                         ["[0] 0 recovers", "[2] 2 recovers"])
        self.assertIn("rank 1 was killed by signal 9 (SIGKILL); the others keep going", ran.stderr)
        ran = emulate("true", options=("--keep-going",))
        self.assertEqual(ran.returncode, 2, ran.stderr)

    def test_a_program_that_cannot_start_is_named(self):
        ran = emulate("/nowhere/no-such-program")
        self.assertEqual(ran.returncode, 127)
        self.assertIn("/nowhere/no-such-program", ran.stderr)

    def test_children_inherit_the_emulation(self):
        ran = emulate("sh", "-c", "sh -c 'echo $RINGLET_EMULATE_DEVICES; cat'",
                      options=("--devices=5",))
        self.assertEqual(ran.stdout, "5\n")

    def test_our_library_overrides_a_run_path(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program = folder / "version.c"
            program.write_text("int ncclGetVersion(int*); int main(void) { int v = 0; "
                               "ncclGetVersion(&v); return v == 1 ? 9 : 0; }", encoding="utf-8")
            other = folder / "nccl.c"
            other.write_text("int ncclGetVersion(int* v) { *v = 1; return 0; }", encoding="utf-8")
            compiler = shutil.which("cc")
            subprocess.run([compiler, "-shared", "-fPIC", other, "-o", folder / "libnccl.so.2",
                            "-Wl,-soname,libnccl.so.2"], check=True)
            subprocess.run([compiler, program, folder / "libnccl.so.2", "-o", folder / "version",
                            f"-Wl,-rpath,{folder},--disable-new-dtags"], check=True)
            alone = subprocess.run([folder / "version"], check=False)
            self.assertEqual(alone.returncode, 9)  # the run path takes precedence
            self.expect_right(emulate(folder / "version"))

    def test_it_works_from_an_installation(self):
        with tempfile.TemporaryDirectory() as name:
            subprocess.run(["cmake", "--install", BUILD, "--prefix", name], check=True,
                           stdout=subprocess.DEVNULL)
            tool = pathlib.Path(name) / "bin/ringlet"
            self.expect_right(emulate(BUILD / "bin/cuda_program_13", "devices", tool=tool))
            self.expect_right(emulate(BUILD / "bin/cuda_all_reduce", tool=tool))
            listed = subprocess.run([tool, "emulate", "--list-machines", "--json"], check=True,
                                    capture_output=True, text=True, env=environment()).stdout
            self.assertIn(f"{name}/share/ringlet/machines/dgx-h100.xml", listed)
            self.assertTrue((pathlib.Path(name) / "share/ringlet/machines/LICENSES.md").exists())
            library = next(pathlib.Path(name).glob("lib*/**/ringlet/emulate/libcudart.so.13"))
            self.assertTrue((library.parent / "libcublas.so.13").exists())


class Names(Case):
    """The libraries have each name of the lists, with the versions of NVIDIA's."""

    def symbols(self, library):
        listing = subprocess.run(["nm", "-D", "--defined-only", BUILD / "emulate" / library],
                                 capture_output=True, text=True, check=True).stdout
        return {line.split()[-1] for line in listing.splitlines()}

    def test_each_listed_name_is_exported(self):
        lists = sorted(NAMES.glob("*.txt"))
        self.assertGreater(len(lists), 10)
        for path in lists:
            with self.subTest(library=path.stem):
                found = {name.split("@")[0] for name in self.symbols(path.stem)}
                self.assertEqual(set(path.read_text(encoding="utf-8").split()) - found, set())

    def test_symbols_have_versions(self):
        for library, name in (("libcudart.so.13", "cudaMalloc"), ("libcudart.so.12", "cudaMalloc"),
                              ("libcublas.so.13", "cublasHgemm"), ("libcurand.so.10", "curandGenerate")):
            self.assertIn(f"{name}@@{library}", self.symbols(library))

    def test_the_promised_number_of_functions_is_implemented(self):
        for library, least in (("libcudart.so.13", 85), ("libcuda.so.1", 13)):
            listing = subprocess.run(["nm", "-D", "--defined-only", BUILD / "emulate" / library],
                                     capture_output=True, text=True, check=True).stdout
            real = re.findall(r" T (\w+)", listing)
            self.assertGreaterEqual(len(real), least, library)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
