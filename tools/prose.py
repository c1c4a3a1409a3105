#!/usr/bin/env python3
"""Measures how plainly comments, messages and pages are written, and holds them to ceilings that only fall.

    tools/prose.py                    # findings, `file:line: reason`; exits 1 if there are any
    tools/prose.py --show FOLDER...   # each comment of these folders that has one of the shapes
    tools/prose.py --update           # lowers the ceilings in tools/prose_ceilings.json to today's figures

SHAPES lists forms of sentence that hide the subject or the action. The figure of a tree is the number
of comments with such a form among 1,000 of at least six words, and for pages the number of relative
pronouns among 100 words. Other projects of the field have 1 to 20. The script also finds a `\\param`
without a parameter, a comment or page that cites a missing file, and a commit subject that does not
have the form `layer: imperative`. With --linter PYTHON, it runs proselint of that Python on all pages.
"""
import argparse
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CEILINGS = ROOT / "tools" / "prose_ceilings.json"
WORDS_MIN = 6
SUBJECT_MAX = 72

SHAPES = {
    # The first word opens a phrase and no comma closes it: the sentence has no subject.
    "fragment": re.compile(
        r"(?:All that|As|At|Behind|Beside|By|For|From|How|In|Into|None|Not|Of|On|Once|One|Such|That|The same|Those|"
        r"To|Until|What|Where|Whether|Which|Who|Why|With)\b(?!.{0,60}?,\s)"),
    "speech": re.compile(r".*\b(?:ask(?:s|ed)?|hear(?:s|d)?|sa(?:y|ys|id)|tells?|told)\b", re.S),
    "motion": re.compile(r".*\b(?:c[ao]mes?|goes|gone|go|went)\b", re.S),
    "who": re.compile(r".*\bwho(?:m|se)?\b", re.S),
    "of which": re.compile(r".*\b(?:by|for|from|in|of|to|with) (?:which|whom)\b", re.S),
    "is no": re.compile(r".*\b(?:are|has|have|is|was|were) (?:no|nobody|none|nothing)\b", re.S),
}
# Figures of the clearest trees of the field: a ceiling never falls below these.
FLOORS = {"fragment": 10, "speech": 5, "motion": 5, "who": 2, "of which": 5, "is no": 10}
PRONOUN = re.compile(r"\b(?:that|what|whatever|which|who|whoever|whom|whose)\b")
PRONOUNS = "relative pronouns"
FLOORS[PRONOUNS] = 1.0

TESTS = re.compile(r"(?:^|/)tests?/|_test\.|_fuzz\.|_bench\.|for_test")
SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".py"}
COMMENT = re.compile(r"\s*///?!?<?(?:\s|$)(.*)")
PYTHON_COMMENT = re.compile(r"\s*#(?:\s|$)(.*)")
TRAILING = re.compile(r"//[/!]?<?\s(.+)$")
PARAM = re.compile(r"\\param\s+(\w+(?:,\s*\w+)*)")
CITED = re.compile(r"(?<![\w/.<-])((?:[a-z_0-9]+/)+[a-z_0-9-]+\.(?:hpp|cpp|h|c|py|md|json|cmake))\b(?!/)")
NOT_IMPERATIVE = re.compile(r"\w+(?:ing|ed)$")
IMPERATIVE_ANYWAY = {"feed", "embed", "speed", "bring", "string", "ping", "exceed", "need", "shed", "succeed", "proceed"}


def files_of_git():
    done = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=False)
    names = done.stdout.splitlines() or [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")
                                         if "build" not in path.parts[len(ROOT.parts)]]
    return [name for name in names if (ROOT / name).is_file()]


def comments(text, python=False):
    """(line, text) of each comment: adjacent lines are one."""
    mark = PYTHON_COMMENT if python else COMMENT
    block, first = [], 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        found = mark.match(line)
        if found:
            first = first if block else number
            block.append(found[1])
            continue
        if block:
            yield first, " ".join(block)
            block = []
        trailing = None if python or '"' in line else TRAILING.search(line)
        if trailing:
            yield number, trailing[1]


def shapes_of(text):
    return [name for name, shape in SHAPES.items() if shape.match(text)]


def long_enough(text):
    return len(text.split()) >= WORDS_MIN


def tree_of(name):
    """The tree that has a ceiling of its own: a layer, a package or a top folder."""
    parts = name.split("/")
    depth = 3 if name.startswith("src/core/") else 2 if parts[0] in ("src", "docs") else 1
    return "/".join(parts[:min(depth, len(parts) - 1)]) or "README"


def prose_of(page):
    """A page with empty lines in place of code, tables and headings."""
    lines, code, names = [], False, itertools.count()
    for line in page.split("\n"):
        if line.startswith("```"):
            code = not code
            lines.append("")
        else:
            skipped = code or line.startswith(("    ", "\t", "|", "<", "#"))
            lines.append("" if skipped else re.sub(r"`[^`]*`", lambda _: f"code{next(names)}", line))
    return "\n".join(lines)


def messages_of(text):
    return [(number, line) for number, line in enumerate(text.split("\n"), 1)
            if line and not line.startswith("#") and long_enough(line)]


def rates(texts):
    """{shape: comments with it among 1,000}. One comment alone is not a rate."""
    counted = [text for text in texts if long_enough(text)]
    found = {name: sum(name in shapes_of(text) for text in counted) for name in SHAPES}
    return {name: round(1000 * number / len(counted)) if number > 1 else 0 for name, number in found.items()}


def measure(names):
    """{tree: {shape: figure}}"""
    sources, pages = {}, {}
    for name in names:
        path = ROOT / name
        if path.suffix in SUFFIXES and not TESTS.search(name):
            found = comments(path.read_text(encoding="utf-8", errors="replace"), path.suffix == ".py")
            sources.setdefault(tree_of(name), []).extend(text for _, text in found)
        elif path.suffix == ".md" and name.split("/")[0] in ("docs", "README.md", "src", "CONTRIBUTING.md"):
            pages.setdefault(tree_of(name), []).append(prose_of(path.read_text(encoding="utf-8")))
    figures = {tree: rates(texts) for tree, texts in sources.items() if sum(map(long_enough, texts)) >= 20}
    for tree, texts in pages.items():
        words = sum(len(text.split()) for text in texts)
        if words < 500:
            continue
        pronouns = sum(len(PRONOUN.findall(text)) for text in texts)
        figures.setdefault(tree, {})[PRONOUNS] = round(100 * pronouns / max(1, words), 2)
    messages = ROOT / "test" / "static" / "messages.txt"
    if messages.is_file():
        figures["messages"] = rates(line for _, line in messages_of(messages.read_text(encoding="utf-8")))
    return dict(sorted(figures.items()))


def check_ceilings(figures, ceilings):
    for tree, shapes in figures.items():
        for shape, figure in shapes.items():
            ceiling = ceilings.get(tree, {}).get(shape)
            if ceiling is None:
                yield f"tools/prose_ceilings.json:1: no ceiling for {tree}, {shape}: run tools/prose.py --update"
            elif figure > ceiling:
                yield (f"{tree}:1: {shape}: {figure}, and the ceiling is {ceiling}: rewrite what "
                       f"`tools/prose.py --show {tree}` lists")


def check_parameters(name, text):
    """Each `\\param` names a parameter of the declaration below it."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        found = COMMENT.match(line)
        param = found and PARAM.search(found[1])
        if not param:
            continue
        at = number
        while at < len(lines) and COMMENT.match(lines[at]):
            at += 1
        below = re.split(r"(?<!=)(?<!= )[;{]\s*(?://.*)?\n", "\n".join(lines[at:at + 16]) + "\n", maxsplit=1)[0]
        for one in re.findall(r"\w+", param[1]):
            if not re.search(rf"\b{one}_?\b", below):
                yield f"{name}:{number + 1}: \\param {one} does not name a parameter"


def check_citations(name, text, known):
    for match in CITED.finditer(text):
        cited = match[1]
        folder = str(pathlib.PurePosixPath(name).parent)
        places = (cited, f"src/core/{cited}", f"src/{cited}", f"include/{cited}", f"docs/{cited}", f"{folder}/{cited}")
        if not any(place in known for place in places) and cited.split("/")[0] in known_folders(known):
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: there is no file {cited}"


def known_folders(known, cache={}):
    if id(known) not in cache:
        cache[id(known)] = {part for name in known for part in
                            (name.split("/")[0], name.removeprefix("src/").removeprefix("core/").split("/")[0])}
    return cache[id(known)]


def check_subject(subject):
    if subject.startswith(("Merge ", "Revert ")):
        return
    if len(subject) > SUBJECT_MAX:
        yield f"commit `{subject}`: {len(subject)} characters; at most {SUBJECT_MAX}"
    layer, colon, rest = subject.partition(": ")
    first = rest.split(" ")[0]
    if not colon or not re.fullmatch(r"[a-z][\w/.-]*(?:, [a-z][\w/.-]*)*", layer) or not re.match(r"[a-z]", rest):
        yield f"commit `{subject}`: the form is `layer: imperative`"
    elif NOT_IMPERATIVE.match(first) and first not in IMPERATIVE_ANYWAY or rest.endswith("."):
        yield f"commit `{subject}`: begin with an imperative, end without a full stop"


def subjects():
    """The last subjects of this history. A copy of the tree with another history has none to check, and the
    newest commit of a CI system may be its own."""
    done = subprocess.run(["git", "-C", ROOT, "log", "--no-merges", "--format=%s"], capture_output=True, text=True,
                          check=False)
    found = done.stdout.splitlines()
    if len(found) < 100:
        return []
    return found[1 if os.environ.get("CI") else 0:20]


def lint(python, names):
    """Findings of proselint in the prose of the pages."""
    with tempfile.TemporaryDirectory() as folder:
        pages = [name for name in names if name.endswith(".md") and not name.startswith(("bench/", "test/", "CHANGELOG"))]
        for name in pages:
            copy = pathlib.Path(folder, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(prose_of((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
        done = subprocess.run([python, "-m", "proselint", "check", folder], capture_output=True, text=True, check=False)
        if done.returncode and not done.stdout:
            yield f"proselint failed: {done.stderr.strip()[-300:]}"
        for line in done.stdout.splitlines():
            if re.match(r"\S+:\d+:\d+: (?!typography|dates_times)", line):  # quotes and dots are ASCII here
                yield line.replace(f"{folder}/", "")


def show(names, folders):
    for name in names:
        path = ROOT / name
        if path.suffix in SUFFIXES and not TESTS.search(name) and name.startswith(tuple(folders)):
            for line, text in comments(path.read_text(encoding="utf-8"), path.suffix == ".py"):
                found = shapes_of(text) if long_enough(text) else []
                if found:
                    print(f"{name}:{line}: {', '.join(found)}: {text[:160]}")


def findings(names, linter=None):
    known = set(names)
    found = list(check_ceilings(measure(names), json.loads(CEILINGS.read_text(encoding="utf-8"))))
    for name in names:
        if pathlib.PurePosixPath(name).suffix not in {".c", ".cpp", ".h", ".hpp"}:
            continue
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        found += check_parameters(name, text)
        for line, comment in comments(text):
            found += [re.sub(r":\d+:", f":{line}:", one, count=1) for one in check_citations(name, comment, known)]
    for subject in subjects():
        found += check_subject(subject)
    if linter:
        found += lint(linter, names)
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", nargs="+", metavar="FOLDER")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--linter", metavar="PYTHON")
    options = parser.parse_args(arguments)
    names = files_of_git()
    if options.show:
        show(names, options.show)
        return 0
    if options.update:
        old = json.loads(CEILINGS.read_text(encoding="utf-8")) if CEILINGS.is_file() else {}
        new = {tree: {shape: max(min(figure, old.get(tree, {}).get(shape, figure)), FLOORS[shape])
                      for shape, figure in shapes.items()}
               for tree, shapes in measure(names).items()}
        CEILINGS.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
        return 0
    if options.linter and not pathlib.Path(options.linter).is_file():
        print(f"NOT RUN proselint: {options.linter} is missing; ./ringlet.sh test fetches it")
        options.linter = None
    found = findings(names, options.linter)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
