#!/usr/bin/env python3
"""Plants each violation in a small tree and expects tidy.py to find exactly that."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tidy  # noqa: E402

CLEAN = {
    "base/value/bytes.hpp": "#pragma once\n#include <vector>\n",
    "base/value/bytes.cpp": '#include "base/value/bytes.hpp"\n\nint Sum(int a) {\n  return a + 1;\n}\n',
    "base/value/bytes_test.cpp": '#include "base/value/bytes.hpp"\n',
    "os/fs/fd.hpp": '#pragma once\n#include <unistd.h>\n\n#include "base/value/bytes.hpp"\n',
    "os/fs/fd.cpp": '#include "os/fs/fd.hpp"\n\n#include "ringlet/status.hpp"\n',
    "os/fs/fd_test.cpp": '#include "os/fs/fd.hpp"\n',
}
BODY = "  f();\n"


def placed(name):
    """Returns the path below src of the include `name`."""
    return f"core/{name}" if name.split("/")[0] in tidy.CORE else name


class TidyTest(unittest.TestCase):
    def findings(self, planted, untested=None, neighbours=None, rows=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "src")
            files = {f"src/{placed(name)}": text for name, text in {**CLEAN, **planted}.items()}
            for name, text in {**files, **(neighbours or {})}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return [line.replace(f"{folder}/", "") for line in tidy.check(root, untested or {}, rows or {})]

    def expect_only(self, finding, *arguments, **named):
        found = self.findings(*arguments, **named)
        self.assertEqual(len(found), 1, found)
        self.assertIn(finding, found[0])

    def expect_in_code(self, finding, code, name="base/value/bytes.cpp"):
        self.expect_only(finding, {name: code + "\n"})

    def test_a_clean_tree_gives_no_findings(self):
        self.assertEqual(self.findings({}), [])

    def test_an_upward_include_is_found(self):
        self.expect_only("src/core/base/value/bytes.cpp:2: base may not include os",
                         {"base/value/bytes.cpp": '#include "base/value/bytes.hpp"\n#include "os/fs/fd.hpp"\n'})

    def test_tests_may_include_anything(self):
        self.assertEqual(self.findings({"base/value/bytes_test.cpp": '#include "os/fs/fd.hpp"\n'}), [])

    def test_front_ends_have_separate_rules(self):
        c_api = {"c_api/c_api_test.cpp": "",
                 "c_api/c_api.cpp": '#include "os/net/poll.hpp"\n'}
        self.expect_only("c_api may not include os", c_api)
        cli = {"tool/run/run_test.cpp": "", "tool/run/run.cpp": '#include "os/fs/fd.hpp"\n'}
        self.assertEqual(self.findings(cli), [])

    def test_folders_of_a_layer_are_checked(self):
        self.expect_only("the folder value of base may not include wire",
                         {"base/value/bytes.cpp": '#include "base/value/bytes.hpp"\n'
                                                  '#include "base/wire/frame.hpp"\n'})
        self.expect_only("base has no folder odd in LAYERS",
                         {"base/odd/x.cpp": "", "base/odd/x_test.cpp": ""})

    def test_a_layer_may_include_a_single_folder_of_another(self):
        def c_api(name):
            return {"c_api/c_api_test.cpp": "",
                    "c_api/c_api.cpp": f'#include "collective/{name}.hpp"\n'}
        self.assertEqual(self.findings(c_api("call/call")), [])
        self.expect_only("c_api may not include collective", c_api("shm/slicing"))

    def test_packages_around_the_core_are_checked(self):
        def includer(name):
            return {name: '#include "topo/edit/fuse.hpp"\n', name.replace(".", "_test."): ""}
        self.expect_only("plan may not include topo", includer("plan/search/search.cpp"))
        self.assertEqual(self.findings({"plan/search/search_test.cpp": '#include "topo/edit/fuse.hpp"\n'}), [])
        self.assertEqual(self.findings(includer("tool/topo/topo.cpp")), [])
        helper = {"plan/search/plans_for_test.hpp": '#pragma once\n#include "topo/edit/fuse.hpp"\n',
                  "plan/search/search_test.cpp": '#include "plan/search/plans_for_test.hpp"\n'}
        self.assertEqual(self.findings(helper), [])
        self.expect_only("core/topo/edit/fuse_test.cpp:1: not in the folder of a layer",
                         {"core/topo/edit/fuse_test.cpp": ""})

    def test_a_layer_is_recognized_by_its_namespace(self):
        self.expect_in_code("os may not use transport::", "int f(transport::Link& link);", "os/fs/fd.cpp")
        self.assertEqual(self.findings({"os/fs/fd.cpp": "int f(std::transport::Link& link);\n"}), [])

    def test_a_layer_may_name_only_layers_above_it(self):
        upside_down = dict(reversed(tidy.LAYERS.items()))
        original, tidy.LAYERS = tidy.LAYERS, upside_down
        try:
            self.assertIn("LAYERS: comm names plan, which is not above it", "".join(self.findings({})))
        finally:
            tidy.LAYERS = original

    def test_unused_edges_are_found(self):
        files = {}
        for layer, (folders, allowed) in tidy.LAYERS.items():
            targets = [target for target in allowed.split() if (layer, target) != ("comm", "plan")]
            for folder in folders.split():
                name = pathlib.PurePosixPath(layer, folder, "unit_test.cpp").as_posix()
                files[name] = "".join(f'#include "{target}/unit.hpp"\n' for target in targets)
        self.expect_only("LAYERS: comm names plan, and no file includes it", files)
        del files["comm/run/unit_test.cpp"]
        self.assertIn("LAYERS: comm has no folder run", "".join(self.findings(files)))

    def test_a_relative_include_is_found(self):
        self.expect_in_code('"fd.hpp" is in no layer', '#include "fd.hpp"', "os/fs/fd.cpp")

    def test_a_file_outside_any_layer_is_found(self):
        self.expect_only("not in the folder of a layer", {"misc/x_test.cpp": ""})

    def test_pure_layers_exclude_system_headers(self):
        for header in ("thread", "sys/socket.h", "fcntl.h", "netinet/tcp.h", "fstream"):
            self.expect_in_code(f"base is pure and may not include <{header}>",
                                f"#include <{header}>")
        self.assertEqual(self.findings({"os/fs/fd.cpp": "#include <thread>\n"}), [])

    def test_banned_words_are_found(self):
        for code in ('auto e = std::getenv("X");', "auto n = std::chrono::steady_clock::now();",
                     "std::random_device d;", "int n = rand();", "goto out;",
                     "std::cerr << 1;", 'std::printf("x");', 'fprintf(stderr, "x");',
                     "assert(x);", "throw 1;", 'int n = std::stoi("1");', "using namespace std;",
                     "std::this_thread::sleep_for(d);", "usleep(3);", "thread.detach();",
                     "std::format(x);"):
            self.expect_in_code("is banned", f"void F() {{\n{code}\n}}")

    def test_words_that_only_resemble_banned_ones_pass(self):
        for code in ("// getenv( and goto", 'Log("throw, goto, printf(");', "static_assert(x);",
                     "RINGLET_ASSERT(x);", 'auto s = R"(goto std::cerr)";', "int brand(int);",
                     "auto n = 1'000'000; /* goto */ auto m = 'x';", "x.rand();",
                     "using namespace std::chrono_literals;"):
            self.assertEqual(self.findings({"base/value/bytes.cpp": f"void F() {{\n{code}\n}}\n"}), [], code)

    def test_listed_files_are_excused(self):
        self.assertEqual(self.findings({"os/fs/fd.cpp": 'const auto e = getenv("X");\n'}), [])
        self.expect_in_code("getenv is banned", 'const auto e = getenv("X");')

    def test_threads_are_started_in_one_place(self):
        for code in ("std::thread t([] {});", "auto t = std::jthread(F);", "std::thread{F}.join();",
                     "pthread_create(&t, nullptr, F, nullptr);", "auto f = std::async(F);"):
            for name in ("comm/run/blocking_task.hpp", "tool/run/launcher.hpp"):
                self.assertIn("threads are started by os::StartThread",
                              str(self.findings({name: code + "\n"})), name)
            for name in ("os/process/thread.hpp", "comm/run/blocking_task_test.cpp", "comm/establish/ranks_for_test.hpp"):
                self.assertNotIn("StartThread", str(self.findings({name: code + "\n"})), name)
        self.assertNotIn("StartThread", str(self.findings(
            {"comm/run/blocking_task.hpp": "std::jthread thread_; std::vector<std::thread> all;\n"})))

    def test_long_lines_are_found(self):
        self.expect_in_code("bytes.cpp:1: 101 columns", "//" + "x" * 99)
        self.assertEqual(self.findings({"base/value/bytes.cpp": "//" + "x" * 98 + "\n"}), [])

    def test_long_functions_are_found(self):
        too_long = f"int F(int a,\n      int b) {{\n{BODY * 68}}}\n"
        self.expect_in_code("bytes.cpp:2: function of 71 lines", f"\n{too_long}")
        self.assertEqual(self.findings({"base/value/bytes.cpp": too_long.replace(BODY, "", 1)}), [])

    def test_long_functions_in_a_class_are_found(self):
        method = f" public:\n  int F() const {{\n{BODY * 69}  }}\n"
        self.expect_in_code("bytes.cpp:3: function of 71 lines",
                            f"class alignas(64) C final : public B {{\n{method}}};")

    def test_long_classes_and_namespaces_are_not_functions(self):
        short = "  int F() {\n    f();\n  }\n"
        for head in ("class C {", "struct alignas(8) S {", "namespace n {", 'extern "C" {',
                     "template <typename T>\nclass [[nodiscard]] R {"):
            self.assertEqual(self.findings({"base/value/bytes.cpp": f"{head}\n{short * 40}}};\n"}), [])

    def test_a_missing_test_is_found(self):
        lonely = {"base/value/lonely.cpp": "int A();\n"}
        self.expect_only("no lonely_test.cpp beside it", lonely)
        self.assertEqual(self.findings(lonely, {"base/value/lonely.cpp": "a reason"}), [])

    def test_an_obsolete_exemption_is_found(self):
        self.expect_only("delete it from UNTESTED", {}, {"base/value/bytes.cpp": "a reason"})

    def test_an_unlisted_global_is_found(self):
        for code in ("std::atomic<int> x{0};", "std::mutex x;", "namespace n {\nstd::optional<int> x;\n}",
                     "const char* x = nullptr;", "inline Bell* const x = new Bell;", "int x[3] = {1, 2};",
                     "std::function<void(int)> x;", 'extern "C" {\nint x;\n}', "template <int N>\nint x = N;",
                     "constinit thread_local const void* x = nullptr;", "struct S {\n  static int x;\n};",
                     "void F() {\n  static std::atomic<const T*> x{nullptr};\n}", "int x, y;",
                     "void F() {\n  if (a) {\n    static Bell& x = *new Bell;\n  }\n}",
                     "void F() {\n  [[maybe_unused]] thread_local std::string x(3, 'a');\n}"):
            self.expect_in_code("x outlives its scope and may change", code)
            self.assertEqual(self.findings({"base/value/bytes_test.cpp": code + "\n"}), [], code)

    def test_other_variables_are_no_globals(self):
        for code in ("constexpr int kX = 1;", "const std::map<int, int> x;", "const char* const kX[] = {a};",
                     "inline const Bell& x = a;", "extern int x;", "using X = int;", "typedef int X;", "class X;",
                     "enum class X : int { a };", "bool operator==(A a, B b);", "int F(int x = 0);",
                     "struct S {\n  int x = 0;\n  static int F();\n  static constexpr int kX = 1;\n};",
                     "int* S::x = nullptr;", "void F() {\n  int x = static_cast<int>(y);\n}",
                     "void F() {\n  static const int x = Register();\n}", "const T x = {.a = 1};"):
            self.assertEqual(self.findings({"base/value/bytes.cpp": code + "\n"}), [], code)

    def test_an_obsolete_row_of_globals_is_found(self):
        rows = {"base/value/bytes.cpp": {"x": "a reason"}}
        self.assertEqual(self.findings({"base/value/bytes.cpp": "int x;\n"}, rows=rows), [])
        self.expect_only("GLOBALS: base/value/bytes.cpp has no variable x", {}, rows=rows)

    def test_a_missing_pragma_once_is_found(self):
        self.expect_in_code("bytes.hpp:1: a header begins with #pragma once", "int A();",
                            "base/value/bytes.hpp")

    def test_unfinished_code_is_found(self):
        for code in ("// FIXME", "// TODO(me): x", "#if 0"):
            self.expect_in_code("is for private branches", code)

    def test_non_ascii_text_is_found(self):
        self.expect_in_code("bytes.cpp:2: only ASCII", "\n// 3 \u00b5s")

    def test_a_dead_header_is_found(self):
        dead = {"base/value/dead.hpp": "#pragma once\n", "base/value/dead_test.cpp": "",
                "base/value/dead.cpp": '#include "base/value/dead.hpp"\n'}
        self.expect_only("base/value/dead.hpp:1: nobody includes this header", dead)
        used = {"test/sim/x_test.cpp": '#include "base/value/dead.hpp"\n'}
        self.assertEqual(self.findings(dead, neighbours=used), [])

    def test_neighbours_are_checked_for_form(self):
        example = {"examples/x.cpp": "// FIXME\n"}
        self.expect_only("examples/x.cpp:1: FIXME", {}, neighbours=example)

    def test_the_command_line_reports_findings(self):
        script = pathlib.Path(__file__).with_name("tidy.py")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "core", "base").mkdir(parents=True)
            pathlib.Path(folder, "core", "base", "x_test.cpp").write_text("// TODO\n", encoding="utf-8")
            bad = subprocess.run([sys.executable, script, folder], capture_output=True, text=True)
            self.assertEqual(bad.returncode, 1)
            self.assertIn("base/x_test.cpp:1: TODO", bad.stdout)
            pathlib.Path(folder, "core", "base", "x_test.cpp").write_text("", encoding="utf-8")
            good = subprocess.run([sys.executable, script, folder], capture_output=True, text=True)
            self.assertEqual((good.returncode, good.stdout), (0, ""))
        misused = subprocess.run([sys.executable, script], capture_output=True)
        self.assertEqual(misused.returncode, 2)


if __name__ == "__main__":
    unittest.main()
