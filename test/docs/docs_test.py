#!/usr/bin/env python3
"""Tests the contents of the pages of docs/: docs_test.py BUILD_FOLDER [unittest's arguments].

* Every line of a code block, and every `ringlet ...` in the text, with a command of the tool names
  an existing command, with its options.
* A block below `<!-- run -->` runs unchanged, and ends with status 0, or N below `<!-- run N -->`.
  The blocks of a page run one after the other in one folder. The folder contains the files below
  `<!-- file: PATH -->` and the tool from a fresh installation ($PREFIX).
* The lines of a block below `<!-- output -->` are lines of the previous block's output, in this
  order. Below `<!-- output unordered -->` they are all of its lines, in any order. `...` stands for
  any text within a line.
* docs/index.md names every page of the tutorials, how-tos, reference and explanation.
* A picture drawn by such a block, and docs/pictures/speed.svg, equal those of docs/pictures.
  RINGLET_UPDATE_GOLDENS=1 renews them.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PICTURES = SOURCE / "docs" / "pictures"
BLOCK = re.compile(r"(?:^(?:<!-- (run|file:|output)(?: ([^\n]*?))? ?-->\n))?"
                   r"(?:^```\w*\n(.*?)^```|((?:^    [^\n]*\n|^\n(?=    ))+))", re.S | re.M)
UPDATE = "RINGLET_UPDATE_GOLDENS" in os.environ
BUILD = None  # set by main


def pages():
    return [SOURCE / "README.md", *(path for path in sorted((SOURCE / "docs").rglob("*.md"))
                                    if "decisions" not in path.parts)]


def blocks(text):
    """Yields (kind, argument, code) of every code block: `run`, `file:`, `output` or None."""
    for match in BLOCK.finditer(text):
        indented = match[4] and re.sub(r"^    ", "", match[4], flags=re.M)
        yield match[1], match[2], match[3] if indented is None else indented


def lines_that_differ(shown, written, ordered):
    """Returns the lines of `shown`, a block of a page, that are missing in `written`; and the
    reverse if the order does not matter."""
    wanted = [line.rstrip() for line in shown.splitlines() if line.strip()]
    rest = [line.rstrip() for line in written.splitlines() if line.strip()]
    missing = []
    for line in wanted:
        form = re.compile(".*".join(map(re.escape, line.split("..."))))
        found = next((i for i, one in enumerate(rest) if form.fullmatch(one)), None)
        if found is None:
            missing.append(line)
        elif ordered:
            del rest[:found + 1]
        else:
            del rest[found]
    return missing if ordered else missing + rest


def command_lines(code):
    """Yields the words after `ringlet` of each shell line that begins with it."""
    for line in re.sub(r"\\\n", " ", code).splitlines():
        line = re.split(r"\s#|\s[|>&]\s?|\s<\s|;", line)[0]
        found = re.match(r"\s*(?:[A-Z_]+=\S*\s+)*(?:\S*/)?ringlet\s+(\S.*)", line)
        if found:
            yield shlex.split(found[1])


def commands(text):
    """Yields the words of all commands of a page: in code blocks, in the text and in tables."""
    for _, _, code in blocks(text):
        yield from command_lines(code)
    # A span that ends with " 1" is a label of the wire format.
    for span in re.findall(r"`(ringlet\s[^`]+)(?<! 1)`", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)):
        yield from command_lines(" ".join(re.sub(r"[\[\]]|\\?\|\S*", " ", span).split()))


def tool(*arguments):
    return subprocess.run([BUILD / "bin" / "ringlet", *arguments], capture_output=True, text=True,
                          check=False, timeout=60)


def help_of(words, known={}):
    """Returns the help of the longest command at the begin of `words`, and the rest."""
    for length in range(len(words), -1, -1):
        path = tuple(words[:length])
        if path not in known:
            ran = tool("help", *path)
            known[path] = ran.stdout if ran.returncode == 0 else None
        if known[path]:
            return known[path], words[length:]
    raise AssertionError("ringlet help fails")


def unknown_words(words):
    """Options of a line that its command lacks; the line itself if the command is unknown."""
    words = ["all_reduce" if word == "OPERATION" else word for word in words]
    if words[0].isupper():
        return []  # COMMAND: a form, not a command
    leading = []
    for word in words:
        if not re.fullmatch(r"[a-z_][a-z_-]*", word):
            break
        leading.append(word)
    text, rest = help_of(leading)
    if len(rest) == len(leading) and leading or not leading and not words[0].startswith("-"):
        return [" ".join(words)]
    rest = words[len(leading) - len(rest):]
    if words[0] in ("run", "emulate"):
        rest = rest[:next((i for i, word in enumerate(rest) if re.match(r"[./]|--$|python|sh$", word)),
                          len(rest))]
    return [word for word in rest if re.match(r"--?[a-zA-Z]", word) and not re.search(
        rf"(?<![\w-]){re.escape(word.split('=')[0])}(?![\w-])", text)]


class Commands(unittest.TestCase):
    def test_every_line_has_an_existing_command_and_options(self):
        count = 0
        for page in pages():
            for words in commands(page.read_text(encoding="utf-8")):
                count += 1
                with self.subTest(page=page.name, line=" ".join(words)):
                    self.assertEqual(unknown_words(words), [])
        self.assertGreater(count, 100)

    def test_unknown_words_are_found(self):
        for line in ("benhc all_reduce", "bench all_reduce --ranks-of 4", "topo show --wrong"):
            self.assertNotEqual(unknown_words(line.split()), [], line)
        for line in ("bench all_reduce -n 4", "run -n 2 ./program --own-option", "--version"):
            self.assertEqual(unknown_words(line.split()), [], line)


class Index(unittest.TestCase):
    def test_every_page_is_listed(self):
        text = (SOURCE / "docs" / "index.md").read_text(encoding="utf-8")
        for folder in ("tutorial", "howto", "reference", "explanation"):
            for page in sorted((SOURCE / "docs" / folder).glob("*.md")):
                self.assertIn(f"({folder}/{page.name})", text)

    def test_pages_lack_placeholders(self):
        for page in pages():
            self.assertNotRegex(page.read_text(encoding="utf-8"), "ORGANISATION|RINGLET_REPOSITORY")


class Output(unittest.TestCase):
    def test_differing_lines_are_reported(self):
        written = "a 1\nb\nc\n"
        self.assertEqual(lines_that_differ("a ...\nc\n", written, True), [])
        self.assertEqual(lines_that_differ("c\nb\n", written, True), ["b"])
        self.assertEqual(lines_that_differ("c\nb\na 1\n", written, False), [])
        self.assertEqual(lines_that_differ("c\nb\n", written, False), ["a 1"])
        self.assertEqual(lines_that_differ("c\nc\nb\na 1", written, False), ["c"])


class Blocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.scratch.name) / "prefix"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True,
                       stdout=subprocess.DEVNULL)
        library = next(cls.prefix.glob("lib*/**/libringlet.so.0")).parent
        cls.environment = {
            **{name: value for name, value in os.environ.items()
               if not name.startswith(("RINGLET_", "NCCL_"))},
            "PREFIX": str(cls.prefix), "PATH": f"{cls.prefix / 'bin'}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": str(library), "PKG_CONFIG_PATH": str(library / "pkgconfig")}

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_page(self, page, folder):
        """Returns the number of executed blocks."""
        count = 0
        for name in ("test", "examples", "machines"):
            (folder / name).symlink_to(SOURCE / name)
        written = ""
        for kind, argument, code in blocks(page.read_text(encoding="utf-8")):
            if kind == "output":
                differ = lines_that_differ(code, written, argument != "unordered")
                self.assertEqual(differ, [], f"{page.name} shows what is not written:\n{written}")
            if kind == "file:":
                (folder / pathlib.Path(argument).name).write_text(code, encoding="utf-8")
            if kind != "run":
                continue
            count += 1
            ran = subprocess.run(["bash", "-e", "-c", code], cwd=folder, env=self.environment,
                                 capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(ran.returncode, int(argument or 0),
                             f"{page.name}: {code}\n{ran.stdout}\n{ran.stderr}")
            written = ran.stdout + ran.stderr
        return count

    def expect_picture(self, drawn):
        kept = PICTURES / drawn.name
        if UPDATE:
            shutil.copy(drawn, kept)
        self.assertEqual(drawn.read_text(encoding="utf-8"), kept.read_text(encoding="utf-8"),
                         f"{kept.name} is not what the tool draws; renew it: RINGLET_UPDATE_GOLDENS=1")

    def test_every_block_runs_and_draws_the_shown_picture(self):
        count, drawn = 0, set()
        for page in pages():
            with self.subTest(page=page.name), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                count += self.run_page(page, folder)
                for picture in folder.glob("*.svg"):
                    drawn.add(picture.name)
                    self.expect_picture(picture)
        self.assertGreater(count, 10)
        self.assertEqual(drawn | {"speed.svg"}, {path.name for path in PICTURES.glob("*.svg")})

    def test_the_chart_is_that_of_the_results(self):
        results = json.loads((SOURCE / "bench/results/2026-11-22-epyc-2-cores-one-host.json")
                             .read_text(encoding="utf-8"))
        run = next(run for run in results["runs"] if (run["op"], run["ranks"]) == ("all_reduce", 2))
        drawn = pathlib.Path(self.scratch.name) / "speed.svg"
        ran = subprocess.run([BUILD / "bin" / "ringlet", "bench", "plot", "-", "-o", drawn],
                             input=json.dumps(run), text=True, check=False)
        self.assertEqual(ran.returncode, 0)
        self.expect_picture(drawn)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
