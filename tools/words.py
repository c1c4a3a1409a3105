#!/usr/bin/env python3
"""Checks sources and pages for the field's words.

    tools/words.py            # findings, `file:line: reason`; exits 1 if there are any
    tools/words.py --types    # type names in several folders, with the folders

The checks:

* Words private to this project, and their successors. docs/reference/glossary.md lists the valid
  ones.
* Names of tests that begin with a clause or have a nameless subject (nobody, whoever). For sentences,
  see tools/prose.py.
* Lines over 100 columns of pages, outside tables, code and links.
* Words of a diary in docs/reference and docs/explanation.
* Type names defined in two folders of src and missing in tools/type_names.txt. That list may only
  shrink, so an outdated entry is a finding.
"""
import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS_MAX = 100

# Names private to this project, and the field's names.
PRIVATE = {
    "Introduction": "MemberAddress, WireupHello",
    "Census": "PeerTable",
    "LookAround": "DiscoverLocal",
    "Speaker": "NodeLeader",
    "Follower": "LocalRank",
    "Herald": "RootDelegate",
    "Meeting": "Wireup",
    "MeetingLine": "Wire",
    "WayTable": "RouteTable",
    "Fare": "LinkLoad",
    "Toll": "MinLoad",
    "Backwash": "ReverseLoad",
    "Trial": "SearchStep",
    "FluidPacking": "LpMaster",
    "WholePacking": "IntegerRounding",
    "CheapestChannel": "PricingOracle",
    "DeadEnds": "TranspositionTable",
    "HostEngine": "ShmCollective",
    "HostSlices": "PipelinedShm",
    "HostDirect": "ZeroCopyShm",
    "NearBuffers": "InProcessBuffers",
    "SharedHeap": "RegisteredHeap",
    "Errand": "BlockingTask",
    "Sequel": "Sequence",
    "Agenda": "GroupOperation",
    "WaitingPlace": "WaitTarget",
    "Turnstile": "SerialExecutor",
    "Birthplace": "ForkGuard",
    "Crew": "Launcher",
    "Foreman": "Supervisor",
    "SharedEndpoints": "SharedListeners",
    "Patience": "Timeout, Backoff",
    "Doors": "Listeners",
    "Wishes": "Limits, Hints",
}
# Words of the above without another sense in prose.
PRIVATE_PROSE = {
    "census": "peer table",
    "herald": "root delegate",
    "errand": "blocking task",
    "turnstile": "serial executor",
    "foreman": "supervisor",
    "backwash": "reverse load",
    "patience": "timeout",
    "wishes": "limits, options",
}
TEST_CASE = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\w+,\s*(\w+)\)|^ +def test_(\w+)\(", re.M)
CLAUSE_IN_NAME = re.compile(r"^(?:What|Who|Whose|Whom|Whoever|Whatever|Whichever|Where)(?![a-z])"
                            r"|(?:Nobody|Somebody|Everybody|Anybody|Whoever|Who|Whom|Whose)(?![a-z])")

NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<mark>[^()\s\\]{0,16})\((?P<raw>.*?)\)(?P=mark)"'
    r'|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|(?<![0-9A-Fa-f'])'(?:\\.|[^'\\\n])+'", re.S)
TYPE = re.compile(r"^\s*(?:class|struct|enum class|enum)\s+(\w+)\s*(?:final)?\s*(?::[^;{]*)?\{",
                  re.M)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
CAMEL_PART = re.compile(r"[A-Z][a-z]+")
NAMES = {name: tuple(CAMEL_PART.findall(name)) for name in PRIVATE}


# A page of reference or explanation describes the present. These words narrate its history.
DIARY = re.compile(r"(?<![\w`/.-])(?:since|latest|at first|before)(?![\w`-])", re.I)
GENERATED = ("settings.md", "cli.md")  # of docs/reference


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def is_test(path):
    return re.search(r"_(?:test|fuzz|bench|for_test)$", path.stem) is not None


def private_in(identifier):
    """Returns the private name that `identifier` contains as a run of whole words, or None."""
    parts = [part[:-1] if part.endswith("s") and part[:-1] in PRIVATE else part
             for part in CAMEL_PART.findall(identifier)]
    for name, words in NAMES.items():
        for start in range(len(parts) - len(words) + 1):
            if tuple(parts[start:start + len(words)]) == words:
                return name
    return None


def check_source(text):
    """Yields (line, reason) for one source."""
    last = 0
    for match in list(NOT_CODE.finditer(text)) + [None]:
        code_end = match.start() if match else len(text)
        for found in IDENTIFIER.finditer(text, last, code_end):
            name = private_in(found.group())
            for part in found.group().lower().split("_") if found.group().islower() else ():
                if part in PRIVATE_PROSE:
                    yield line_of(text, found.start()), f"{part}: say {PRIVATE_PROSE[part]}"
            if name:
                yield line_of(text, found.start()), f"{found.group()}: say {PRIVATE[name]}"
        if not match:
            return
        last = match.end()
        if match["text"] is None and match["raw"] is None:
            yield from check_prose(match.group(), line_of(text, match.start()))


def check_prose(text, first_line=1):
    for found in re.finditer(r"[A-Za-z]+", text):
        word = found.group().lower()
        instead = PRIVATE_PROSE.get(word) or PRIVATE_PROSE.get(word.removesuffix("s"))
        if instead:
            yield first_line + text.count("\n", 0, found.start()), f"{found.group()}: say {instead}"


def check_test_names(text):
    for match in TEST_CASE.finditer(text):
        name = match[1] or match[2].title().replace("_", "")
        if CLAUSE_IN_NAME.search(name.removeprefix("DISABLED_")):
            yield line_of(text, match.start()), f"{match[1] or match[2]}: name the subject, a noun"


def check_page(text):
    yield from check_prose(text)
    yield from check_columns(text)


def check_diary(text):
    """Finds words of a diary, outside code, tables and links."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_code = not in_code
        if in_code or line.startswith(("|", "    ", "\t")):
            continue
        for found in DIARY.finditer(re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)):
            yield number, f"{found.group()}: say what is so; the story belongs to decisions"


def check_columns(text):
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_code = not in_code
        exempt = in_code or line.startswith(("|", "    ", "\t", "<!--")) or "](" in line
        if len(line) > COLUMNS_MAX and not exempt:
            yield number, f"{len(line)} columns; at most {COLUMNS_MAX}"


def types_in_several_folders(root):
    """Returns {name: folders} of type names that sources in two folders of src define."""
    folders = collections.defaultdict(set)
    for path in sorted((root / "src").rglob("*.?pp")):
        if is_test(path):
            continue
        code = NOT_CODE.sub(lambda m: "\n" * m.group().count("\n") or " ",
                            path.read_text(encoding="utf-8"))
        for match in TYPE.finditer(code):
            folders[match[1]].add(path.parent.relative_to(root / "src").as_posix().removeprefix("core/"))
    return {name: sorted(where) for name, where in sorted(folders.items()) if len(where) > 1}


def check_types(root):
    listed = {}
    path = root / "tools" / "type_names.txt"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            name, _, where = line.partition(": ")
            listed[name] = (number, where.split())
    found = types_in_several_folders(root)
    for name, where in found.items():
        if not set(where) <= set(listed.get(name, (0, []))[1]):
            yield f"src: {name} is defined in {', '.join(where)}: give one of them another name"
    for name, (number, where) in listed.items():
        if found.get(name, []) != where:
            yield f"tools/type_names.txt:{number}: {name} is now in {found.get(name, [])}: shrink it"


def findings(root):
    for folder in ("src", "include", "test", "bench", "examples"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".h", ".c"):
                continue
            text = path.read_text(encoding="utf-8")
            for number, why in [*check_source(text), *check_test_names(text)]:
                yield f"{path.relative_to(root)}:{number}: {why}"
    for folder in ("test", "tools", "python", "src"):
        for path in sorted((root / folder).rglob("*.py")):
            for number, why in check_test_names(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(root)}:{number}: {why}"
    pages = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for path in [*pages, root / "src" / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        of_its_day = path.parent.name == "decisions"  # its words are those of its day, too
        check = check_columns if of_its_day else check_page
        text, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        diary = ()
        if path.parent.name in ("reference", "explanation") and path.name not in GENERATED:
            diary = check_diary(text)
        for number, why in [*check(text), *diary]:
            yield f"{name}:{number}: {why}"
    yield from check_types(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", action="store_true",
                        help="print the type names that stand in several folders, and stop")
    arguments = parser.parse_args()
    if arguments.types:
        for name, where in types_in_several_folders(ROOT).items():
            print(f"{name}: {' '.join(where)}")
        return 0
    found = list(findings(ROOT))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
