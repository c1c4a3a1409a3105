#!/usr/bin/env python3
"""Checks sources and pages for the field's words.

    tools/words.py            # findings, `file:line: reason`; exits 1 if there are any
    tools/words.py --types    # type names in several folders, with the folders

The checks:

* Words private to this project, and their successors. docs/reference/glossary.md lists the valid
  ones.
* Forms of sentence that hide the subject, in messages, help texts and settings.
* Sentences of pages and comments that begin with a clause in place of a subject ("What a rank has
  told ..."), or with a nameless subject (nobody, whoever), and such names of tests.
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
# Patterns for texts that a user reads. Such a text names a rank, a process or a caller.
FORMS = [
    (re.compile(r"\b(?:nobody|somebody|whoever|everybody)\b", re.I),
     "name the subject: no rank, a rank, each rank"),
    (re.compile(r"(?:^|[.;:] )[Ww]ho (?:is|has|comes|gives|calls|does|sends|was)\b"),
     "`who` begins a clause that means a rank: write `a rank that`"),
    (re.compile(r"\b(?:patience|rubbish)\b", re.I), "timeout; what does not parse"),
]

# A sentence begins with its subject, a noun. Questions and lead-ins to a list are exempt.
CLAUSE_FIRST = re.compile(r"^[\"(*]*(?:[Ww]hat|[Ww]ho|[Ww]hose|[Ww]hom|[Ww]hoever|Whatever|Whichever|Where)"
                          r"\b(?!-)")
NAMELESS = re.compile(r"(?<![`\w])(?:nobody|somebody|everybody|anybody|whoever|whomever)\b", re.I)
SENTENCE_END = re.compile(r"(?<=[.:;!?])\s+(?=[A-Z`*(\"\\])")
COMMENT_BREAK = re.compile(r"\\(?:param|pre)\b|(?:Errors|Cost|Source)\b")
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


def check_source(text, user_text):
    """Yields (line, reason) for one source. user_text: true if users read its strings."""
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
        words = match["text"] if match["text"] is not None else match["raw"]
        if words is None:
            yield from check_prose(match.group(), line_of(text, match.start()))
        elif user_text and " " in words:
            for form, instead in FORMS:
                if form.search(words):
                    yield line_of(text, match.start()), f'"{words}": {instead}'


def check_prose(text, first_line=1):
    for found in re.finditer(r"[A-Za-z]+", text):
        word = found.group().lower()
        instead = PRIVATE_PROSE.get(word) or PRIVATE_PROSE.get(word.removesuffix("s"))
        if instead:
            yield first_line + text.count("\n", 0, found.start()), f"{found.group()}: say {instead}"


def clauses(text, first_line=1):
    """Yields sentences of `text` that do not begin with their subject, or do not name it."""
    for sentence in SENTENCE_END.split(re.sub(r"\s+", " ", text).strip()):
        words = re.sub(r"`[^`]*`", "``", sentence)
        start = " ".join(sentence.split()[:6])
        if CLAUSE_FIRST.search(words) and not words.endswith(("?", ":")):
            yield first_line, f'"{start} ...": begin with the subject, a noun'
        named = NAMELESS.search(words)
        if named:
            yield first_line, f'"{start} ...": {named.group()}: name the subject (a rank, a process)'


def check_comments(text):
    """Checks sentences of comments. Adjacent lines are one text, up to a blank or `Errors`."""
    block, first, previous = [], 0, -2
    for match in [*NOT_CODE.finditer(text), None]:
        comment = match and match["text"] is None and match["raw"] is None
        line = line_of(text, match.start()) if match else 0
        words = re.sub(r"^//[/!<]*|^/\*+|\*/$", "", match.group()).strip() if comment else ""
        if match and match.group().startswith("'"):
            continue
        alone = comment and not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
        if not (words and alone and line == previous + 1 and not COMMENT_BREAK.match(words)):
            yield from clauses(" ".join(block), first)
            block, first = [], line
        if words:
            block.append(words)
            previous = line if alone else -2


def check_test_names(text):
    for match in TEST_CASE.finditer(text):
        name = match[1] or match[2].title().replace("_", "")
        if CLAUSE_IN_NAME.search(name.removeprefix("DISABLED_")):
            yield line_of(text, match.start()), f"{match[1] or match[2]}: name the subject, a noun"


def check_sentences(text):
    """Checks sentences of a page, outside code, headings, heads of tables and link targets."""
    block, first, in_code, row = [], 0, False, 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        in_code ^= line.startswith("```")
        words = re.sub(r"\]\([^)]*\)", "]", line.strip())
        skipped = in_code or not words or line.startswith(("#", "    ", "\t", "```", "|", "<"))
        if skipped or re.match(r"(?:[*-]|\d+\.) ", words):
            yield from clauses(" ".join(block), first)
            block, first = [], number
        row = row + 1 if line.startswith("|") and not in_code else 0
        if row > 2:
            for cell in words.strip("|").split(" | "):
                yield from clauses(cell.strip(), number)
        if not skipped:
            first = first if block else number
            block.append(re.sub(r"^(?:[*-]|\d+\.) ", "", words))


def check_page(text):
    yield from check_prose(text)
    yield from check_columns(text)
    yield from check_sentences(text)


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
            user_text = folder in ("src", "include") and not is_test(path)
            text = path.read_text(encoding="utf-8")
            found = [*check_source(text, user_text), *check_comments(text),
                     *check_test_names(text)]
            for number, why in found:
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
