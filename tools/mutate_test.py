#!/usr/bin/env python3
"""Expects mutate.py to find the places of small sources, and to separate caught faults from
survivors.

tools/mutate_test.py COMPILER
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutate  # noqa: E402
import mutations  # noqa: E402

# Faults with endless loops end sooner: a run of the tests below takes less than a tenth of it.
mutate.SECONDS_AT_LEAST = 5

COMPILER = "c++"

# A layer in the form of src/LAYER. Its test checks the limit and not the count.
TREE = {
    "CMakePresets.json": """{"version": 6, "configurePresets": [{"name": "release",
        "generator": "Ninja", "binaryDir": "${sourceDir}/build", "cacheVariables": {
        "CMAKE_CXX_COMPILER": "COMPILER", "CMAKE_RUNTIME_OUTPUT_DIRECTORY": "${sourceDir}/build/bin"
        }}]}""",
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
        project(toy CXX)
        set(CMAKE_CXX_STANDARD 20)
        find_package(GTest REQUIRED)
        add_subdirectory(src/toy)""",
    "src/toy/CMakeLists.txt": """
        file(GLOB sources *.cpp)
        set(tests ${sources})
        list(FILTER sources EXCLUDE REGEX "_test[.]cpp$")
        list(FILTER tests INCLUDE REGEX "_test[.]cpp$")
        add_library(ringlet_toy STATIC ${sources})
        target_include_directories(ringlet_toy PUBLIC ${CMAKE_SOURCE_DIR}/src)
        add_executable(toy_test ${tests})
        target_link_libraries(toy_test PRIVATE ringlet_toy GTest::gtest_main)
        add_executable(toy_more more.cc)
        target_link_libraries(toy_more PRIVATE ringlet_toy)
        """,
    "src/toy/more.cc": """#include "toy/toy.hpp"
int main() { return Unused(1) == 2 ? 0 : 1; }
""",
    "src/toy/toy.hpp": "#pragma once\nint Limited(int value);\nint Unused(int value);\n",
    "src/toy/toy.cpp": """#include "toy/toy.hpp"

int calls = 0;

struct Name {
  int letters;
  Name operator+(Name more) const { return {letters + more.letters}; }
};

int Limited(int value) {
  ++calls;
  while (value >= 100) {
    value -= 100;
    if (value == 7) break;
  }
  Name name{1};
  name = name + name;
  return value < 0 ? 0 : value;
}

int Unused(int value) {
  return value + 1;
}
""",
    "src/toy/toy_test.cpp": """#include "toy/toy.hpp"
#include <gtest/gtest.h>
TEST(Limited, KeepsTheRest) {
  EXPECT_EQ(Limited(99), 99);
  EXPECT_EQ(Limited(100), 0);
  EXPECT_EQ(Limited(207), 7);
}
TEST(Limited, IsNeverNegative) {
  EXPECT_EQ(Limited(-5), 0);
}
""",
}


def found(body, head="void F() {"):
    source = mutations.Source("a.cpp", f"{head}\n{body}\n}}\n")
    return [(place.original, place.mutation) for place in source.find()]


class PlacesTest(unittest.TestCase):
    def test_an_operator_has_exactly_its_operands(self):
        places = found("  x = y + a[i + 1] <= f(b, c) && d;")
        self.assertIn(("y + a[i + 1] <= f(b, c)", "y + a[i + 1] < f(b, c)"), places)
        self.assertIn(("y + a[i + 1]", "y - a[i + 1]"), places)
        self.assertIn(("y + a[i + 1] <= f(b, c) && d", "(y + a[i + 1] <= f(b, c)) || (d)"), places)

    def test_brackets_of_templates_are_not_operators(self):
        self.assertEqual(found("  auto x = std::vector<std::pair<int, long>>();"), [])

    def test_conditions_are_negated(self):
        self.assertIn(("Ready()", "!(Ready())"), found("  if (Ready()) return;"))
        self.assertIn(("x.ok()", "!(x.ok())"), found("  if (auto x = f(); x.ok()) return;"))
        self.assertEqual([], [m for m in found("  if (auto x = f()) g = 2;") if "!" in m[1]])

    def test_statements_are_removed_and_errors_swallowed(self):
        self.assertIn(("f(a, b);", "(nothing)"), found("  f(a, b);"))
        self.assertIn(("x.y = 3;", "(nothing)"), found("  x.y = 3;"))
        self.assertIn(("RINGLET_TRY(f());", "f();"), found("  RINGLET_TRY(f());"))
        self.assertEqual(found("  const Guard guard(mutex);"), [])
        self.assertIn(("return Error{Code::kSystem, why}", "return Ok()"),
                      found("  return Error{Code::kSystem, why};", "Status F(int why) {"))

    def test_user_texts_and_constants_are_unchanged(self):
        for body in ('  auto text = fmt::format("{}", a + b);', "  RINGLET_ASSERT(a < b);",
                     "  constexpr int kMany = 3 + 4;", "  static_assert(sizeof(a) == 8);",
                     "  list.reserve(n);", "  auto x = std::get<0>(y);", '  auto s = "a < b";',
                     "  // if (a < b)"):
            self.assertEqual(found(body), [], body)

    def test_repeated_code_has_distinct_keys(self):
        source = mutations.Source("a.cpp", "void F() {\n  f();\n  f();\n}\n")
        self.assertEqual([place.key() for place in source.find()],
                         ["a.cpp: f(); => (nothing)", "a.cpp: f(); => (nothing) (2)"])

    def test_nested_faults_are_planted_together(self):
        code = "int F(int a) {\n  if (a + 1 < 3) return g(a);\n  return 0;\n}\n"
        places = mutations.compatible(mutations.Source("a.cpp", code).find())
        planted = mutations.plant(code, list(enumerate(places)))
        self.assertEqual(planted.count("\n"), code.count("\n"))
        for number in range(len(places)):
            self.assertEqual(planted.count(f"ringlet_mutant({number})"), 1, planted)


class EquivalentTest(unittest.TestCase):
    def test_every_entry_matches_the_source_and_has_a_reason(self):
        for key, reason in mutate.equivalents().items():
            name, _, fault = key.partition(": ")
            code = mutations.one_line((mutate.ROOT / name).read_text(encoding="utf-8"))
            original = fault.partition(" => ")[0]
            literal = original.partition(" in `")
            self.assertIn((literal[2].rstrip("`") or original).removeprefix("return "), code, key)
            self.assertGreater(len(reason), 10, key)


class PartTest(unittest.TestCase):
    def test_faults_of_a_part_are_those_of_its_folder(self):
        whole = mutate.places(mutate.ROOT, "c_api")
        part = mutate.places(mutate.ROOT, "c_api", part="handle")
        self.assertGreater(len(part), 20)
        self.assertEqual([place.file for place in part],
                         [place.file for place in whole if "/handle/" in place.file])


class MeasureTest(unittest.TestCase):
    def test_each_fault_receives_its_verdict(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "tree")
            for name, text in TREE.items():
                mutate.write(root / name, text.replace("COMPILER", COMPILER))
            subprocess.run(["git", "init", "-q", str(root)], check=True)
            options = argparse.Namespace(layer="toy", part="", mutations=1000, seed=1, jobs=1,
                                         also=["toy_more"], sources_only=False,
                                         scratch=str(pathlib.Path(folder, "scratch")))
            result = mutate.measure(options, root)
        verdicts = {(fault["original"], fault["fault"]): fault["verdict"]
                    for fault in result["faults"]}
        self.assertEqual(verdicts["value < 0", "value <= 0"], "survived")
        self.assertEqual(verdicts["++calls;", "(nothing)"], "survived")
        self.assertEqual(verdicts["value >= 100", "value > 100"], "caught")
        self.assertEqual(verdicts["value -= 100;", "(nothing)"], "caught: did not end")
        self.assertEqual(verdicts["value == 7", "!(value == 7)"], "caught")
        self.assertEqual(verdicts["value + 1", "value - 1"], "not reached")
        by = [fault.get("by") for fault in result["faults"] if fault["fault"] == "value - 1"]
        self.assertEqual(by, ["toy_more"])
        self.assertNotIn(("name + name", "name - name"), verdicts)  # does not compile
        self.assertEqual(result["drawn"], len(verdicts))
        self.assertEqual(result["score"], round(result["caught"] / result["drawn"], 3))


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        COMPILER = sys.argv.pop(1)
    unittest.main()
