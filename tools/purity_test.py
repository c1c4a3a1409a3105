#!/usr/bin/env python3
"""Compiles small impure and pure objects and expects purity.py to distinguish them.

tools/purity_test.py COMPILER [FLAG...]
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import purity  # noqa: E402

COMPILER = ["c++"]

IMPURE = {
    "connect": "#include <sys/socket.h>\nint f(int s) { return connect(s, nullptr, 0); }",
    "close": "#include <unistd.h>\nint f(int s) { return close(s); }",
    "steady_clock": "#include <chrono>\nauto f() { return std::chrono::steady_clock::now(); }",
    "getenv": "#include <cstdlib>\nconst char* f() { return std::getenv(\"HOME\"); }",
    "random_device": "#include <random>\nunsigned f() { return std::random_device()(); }",
    "randombytes_buf": "extern \"C\" void randombytes_buf(void*, unsigned long);\n"
                       "void f(void* p) { randombytes_buf(p, 8); }",
    "pthread_mutex_lock": "#include <mutex>\nvoid f(std::mutex& m) { m.lock(); }",
    "std::thread": "#include <thread>\nvoid f() { std::thread([] {}).join(); }",
    "std::basic_": "#include <fstream>\nbool f() { return bool(std::ifstream(\"/x\")); }",
    "poll": "#include <poll.h>\nint f() { return poll(nullptr, 0, 1); }",
}
PURE = """
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
namespace ours {
struct Socket {
  void connect(int);
  int time();
};
long send(int);
}
std::map<std::string, std::vector<int>> table;
std::shared_ptr<int> held = std::make_shared<int>(1);
long f(ours::Socket& s, int n) {
  if (n < 0) std::abort();
  s.connect(n);
  std::sort(table["x"].begin(), table["x"].end());
  static std::string once = std::to_string(n);
  return ours::send(n + s.time()) + std::chrono::nanoseconds(n).count() + *held;
}
"""


class PurityTest(unittest.TestCase):
    def findings(self, source):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            path.joinpath("planted.cpp").write_text(source, encoding="utf-8")
            subprocess.run([*COMPILER, "-std=c++20", "-O1", "-c", "planted.cpp"], cwd=folder,
                           check=True)
            subprocess.run(["ar", "rc", "lib.a", "planted.o"], cwd=folder, check=True)
            return purity.check(str(path / "lib.a"))

    def test_impure_objects_are_found(self):
        for symbol, source in IMPURE.items():
            found = self.findings(source)
            self.assertTrue(any(symbol in line for line in found), (symbol, found))
            self.assertIn("planted.o: ", found[0])

    def test_pure_objects_pass(self):
        self.assertEqual(self.findings(PURE), [])

    def test_an_empty_list_of_archives_is_an_error(self):
        self.assertEqual(purity.main([]), 2)


if __name__ == "__main__":
    COMPILER = sys.argv[1:] or COMPILER
    unittest.main(argv=sys.argv[:1])
