"""Finds the places of a C++ source for small faults, and plants them.

Every planted fault is a run-time switch, `ringlet_mutant(N)`, so one build holds all of them and
each costs one run of the tests. The source is read as tokens, not parsed. It is formatted by
clang-format, so an operator with a blank on both sides has two operands, and `<` without is a
bracket. A misread place does not compile, and mutate.py drops it.
"""
import bisect
import collections
import dataclasses
import re

TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*)"
    r'|(?P<text>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+')"
    r"|(?P<number>\.?\d(?:[\w.]|'\w)*)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<mark_>::|->|\.\.\.|<=>|<<=|>>=|<<|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|.)",
    re.S | re.M)

OPENING = {"(": ")", "[": "]", "{": "}"}
LOOSENESS = {"*": 1, "/": 1, "%": 1, "+": 2, "-": 2, "<<": 3, ">>": 3, "<=>": 4, "<": 5, ">": 5,
             "<=": 5, ">=": 5, "==": 6, "!=": 6, "&": 7, "^": 8, "|": 9, "&&": 10, "||": 11,
             "?": 12, ":": 12, "=": 13, "+=": 13, "-=": 13, "*=": 13, "/=": 13, "%=": 13,
             "<<=": 13, ">>=": 13, "&=": 13, "|=": 13, "^=": 13}
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+="}
KIND = {**dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), "comparison"),
        **dict.fromkeys(("&&", "||"), "and/or"),
        **dict.fromkeys(("+", "-", "*", "/", "+=", "-="), "arithmetic")}
NO_STATEMENT = set(
    "alignas auto case class const constexpr default delete do else enum extern for friend goto if "
    "inline namespace private protected public return static static_assert struct switch template "
    "throw try typedef typename union using volatile while co_return break continue".split())
BEFORE_OPERAND = {"return", "case", "else", "do", "co_return", "throw"}

# Code that tests need not check: text for people, internal checks, and hints for speed.
EXCLUDED_CALLS = re.compile(
    r"^(?:RINGLET_ASSERT|static_assert|Log|format|AssertionFailed|sizeof|decltype|alignof)$")
HINTS = re.compile(r"(?:\.|->|::|^)(?:reserve|shrink_to_fit|madvise|sched_yield|Prefetch|Pause|"
                   r"__builtin_prefetch|__builtin_ia32_pause|Log)\(|^static_cast<void>|^\(void\)")
TYPE_HEAD = re.compile(r"(?:^|[\s>])(?:class|struct|union|enum|namespace)\b[^()]*$")
LONGEST_COPY = 400


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclasses.dataclass(frozen=True)
class Place:
    """One possible fault: `template`, with the switch, replaces the text from start to end."""
    file: str
    line: int
    last_line: int
    kind: str
    start: int
    end: int
    original: str
    mutation: str
    template: str  # @N@ the switch, @K@ the kept text with its inner faults, other text as it is
    constant: bool = False  # inside a constexpr function, so it may run at compile time only
    occurrence: int = 1     # index among equal faults of equal text in the file

    def key(self):
        again = f" ({self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.file}: {self.original} => {self.mutation}{again}"


def tokens_of(code):
    found = []
    for match in TOKEN.finditer(code):
        if match["skip"] is None:
            kind = "text" if match["text"] else "number" if match["number"] else \
                "word" if match["word"] else "mark"
            found.append(Token(kind, match.group(), match.start(), match.end()))
    return found


def one_line(code):
    """Returns the same tokens on one line, without comments."""
    parts, last = [], None
    for token in tokens_of(code):
        if last is not None and last != token.start:
            parts.append(" ")
        parts.append(token.text)
        last = token.end
    return "".join(parts)


class Source:
    def __init__(self, name, code):
        self.name = name
        self.code = code
        self.tokens = tokens_of(code)
        self.lines = [match.start() for match in re.finditer(r"^", code, re.M)]
        self.within = {}  # the bracket around a token
        self.partner = self.match_brackets()
        self.places = []

    def match_brackets(self):
        partner, stack = {}, []
        for index, token in enumerate(self.tokens):
            self.within[index] = self.tokens[stack[-1]].text if stack else ""
            if token.kind != "mark":
                continue
            if token.text in OPENING:
                stack.append(index)
            elif stack and token.text == OPENING[self.tokens[stack[-1]].text]:
                partner[index] = stack[-1]
                partner[stack.pop()] = index
        return partner

    def text(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def kind(self, index):
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else ""

    def line(self, offset):
        return bisect.bisect_right(self.lines, offset)

    def spaced(self, index):
        """Returns true for an operator with two operands: a blank on both sides."""
        token = self.tokens[index]
        return self.code[token.start - 1:token.start].isspace() and \
            self.code[token.end:token.end + 1].isspace()

    def find(self):
        """Finds all places in function bodies, in the order of the source."""
        for begin, end, head in self.bodies():
            excluded = self.excluded(begin, end)
            constant = re.search(r"\bconste(?:xpr|val)\b", head) is not None
            for index in range(begin + 1, end):
                if not excluded[index - begin]:
                    self.look(index, head, constant)
        seen = collections.Counter()
        for at, place in enumerate(self.places):
            seen[place.key()] += 1
            self.places[at] = dataclasses.replace(place, occurrence=seen[place.key()])
        return self.places

    def bodies(self):
        """Yields the braces of every outermost function, and the text before them."""
        index, head_start = 0, 0
        while index < len(self.tokens):
            text = self.text(index)
            if text == "{" and index in self.partner:
                begin = self.tokens[head_start].start if head_start < index else 0
                head = self.code[begin:self.tokens[index].start]
                if TYPE_HEAD.search(head) or not head.strip() or "extern" in head and "(" not in head:
                    head_start = index + 1
                elif "(" in head and not re.search(r"\w = ?$|\w =\s*\[", head.rstrip() + " "):
                    yield index, self.partner[index], head
                    index = self.partner[index]
                    head_start = index + 1
                else:
                    index = self.partner[index]
            elif text in (";", "}", "{"):
                head_start = index + 1
            elif text in ("(", "[") and index in self.partner:
                index = self.partner[index]
            index += 1

    def excluded(self, begin, end):
        flags = [False] * (end - begin + 1)
        for index in range(begin + 1, end):
            if self.text(index) == "(" and EXCLUDED_CALLS.match(self.text(index - 1)):
                reach = range(index - 1, self.partner.get(index, index) + 1)
            elif self.text(index) in ("constexpr", "static_assert", "case", "using", "template"):
                stop = index
                while stop < end and self.text(stop) not in (";", ":", "{", ")"):
                    stop = self.partner.get(stop, stop) + 1 if self.text(stop) in "([" else stop + 1
                if self.text(index - 1) == "if":
                    stop = index
                if self.text(stop) == "{":
                    stop = self.partner.get(stop, stop)
                reach = range(index, stop + 1)
            elif self.text(index) == "<" and not self.spaced(index):
                reach = range(index, self.closing_angle(index, end) + 1)
            else:
                continue
            for inner in reach:
                if begin <= inner <= end:
                    flags[inner - begin] = True
        return flags

    def closing_angle(self, index, end):
        depth = 0
        for at in range(index, min(index + 40, end)):
            text = self.text(at)
            if text == "<" and not self.spaced(at):
                depth += 1
            elif text == ">" and not self.spaced(at):
                depth -= 1
                if depth == 0:
                    return at
            elif text in (";", "{"):
                break
        return index

    def look(self, index, head, constant):
        token = self.tokens[index]
        if token.kind == "mark" and token.text in OTHER and self.spaced(index):
            self.look_at_operator(index, constant)
        elif token.kind == "mark" and token.text == "?":
            self.look_at_ternary(index, constant)
        elif token.text in ("if", "while", "for") and self.text(index + 1) == "(":
            self.look_at_condition(index, constant)
        elif token.kind == "number" and re.fullmatch(r"\d+", token.text):
            self.look_at_number(index, constant)
        elif token.text in ("min", "max") and self.text(index - 1) == "::":
            self.look_at_bound(index, constant)
        if self.begins_statement(index):
            self.look_at_statement(index, head, constant)

    def add(self, kind, start, end, mutation, template, constant, original=None):
        if original is None:
            original = one_line(self.code[start:end])
        self.places.append(Place(self.name, self.line(start), self.line(end - 1), kind, start, end,
                                 original, mutation, template, constant))

    def look_at_operator(self, index, constant):
        first, last = self.left_end(index), self.right_end(index)
        if first is None or last is None:
            return
        start, end = self.tokens[first].start, self.tokens[last].end
        operator = self.tokens[index]
        left = one_line(self.code[start:operator.start])
        right = one_line(self.code[operator.end:end])
        if KIND[operator.text] == "and/or":
            left, right = f"({left})", f"({right})"
        copy = f"{left} {OTHER[operator.text]} {right}"
        if len(copy) > LONGEST_COPY or "{" in copy or "[&" in copy:
            return
        self.add(KIND[operator.text], start, end, copy, f"(@N@ ? ({copy}) : (@K@))", constant)

    def left_end(self, index):
        """Returns the first token of the left operand."""
        looseness = LOOSENESS[self.text(index)]
        at = index - 1
        while at >= 0:
            text = self.text(at)
            if text in (")", "]", "}"):
                if at not in self.partner:
                    return None
                opening = self.partner[at]
                before = self.text(opening - 1)
                block = text == "}" and not (self.kind(opening - 1) == "word" or before == ">")
                if block or text == ")" and before in ("if", "while", "for", "switch"):
                    break
                at = opening - 1
                continue
            if self.ends_operand(at, looseness):
                break
            at -= 1
        return at + 1 if at + 1 < index else None

    def right_end(self, index):
        looseness = LOOSENESS[self.text(index)]
        at = index + 1
        while at < len(self.tokens):
            text = self.text(at)
            if text in OPENING and at in self.partner:
                at = self.partner[at] + 1
                continue
            if text in (")", "]", "}") or self.ends_operand(at, looseness - 1):
                break
            at += 1
        return at - 1 if at - 1 > index else None

    def ends_operand(self, at, looseness):
        text = self.text(at)
        if text in ("(", "[", "{", ",", ";") or text in BEFORE_OPERAND:
            return True
        return text in LOOSENESS and self.spaced(at) and LOOSENESS[text] > looseness or \
            text in ("?", ":")

    def look_at_ternary(self, index, constant):
        first = self.left_end(index)
        if first is not None:
            start, end = self.tokens[first].start, self.tokens[index - 1].end
            self.negate(start, end, constant)

    def look_at_condition(self, index, constant):
        opening = index + 1
        closing = self.partner.get(opening)
        if closing is None:
            return
        parts, begin, at = [], opening + 1, opening + 1
        while at <= closing:
            if self.text(at) in (";",) or at == closing:
                parts.append((begin, at))
                begin = at + 1
            at = self.partner[at] + 1 if self.text(at) in OPENING and at in self.partner else at + 1
        if self.text(index) == "for":
            parts = parts[1:2] if len(parts) == 3 else []
        for begin, end in parts[-1:]:
            depth_zero = self.top_level(begin, end)
            if begin < end and "=" not in depth_zero:
                self.negate(self.tokens[begin].start, self.tokens[end - 1].end, constant)

    def top_level(self, begin, end):
        found, at = [], begin
        while at < end:
            found.append(self.text(at))
            at = self.partner[at] + 1 if self.text(at) in OPENING and at in self.partner else at + 1
        return found

    def negate(self, start, end, constant):
        whole = one_line(self.code[start:end])
        self.add("condition", start, end, f"!({whole})", "(@N@ != static_cast<bool>(@K@))",
                 constant)

    def look_at_number(self, index, constant):
        token = self.tokens[index]
        if self.text(index - 1) == "<" and not self.spaced(index - 1):
            return
        more = str(int(token.text) + 1)
        around = one_line(self.code[self.tokens[max(index - 3, 0)].start:
                                    self.tokens[min(index + 3, len(self.tokens) - 1)].end])
        self.add("off by one", token.start, token.end, more, f"(@N@ ? {more} : {token.text})",
                 constant, f"{token.text} in `{around}`")

    def look_at_bound(self, index, constant):
        token, opening = self.tokens[index], index + 1
        if self.text(opening) != "(" or self.text(index - 2) != "std":
            return
        start, end = self.tokens[index - 2].start, self.tokens[self.partner[opening]].end
        other = "max" if token.text == "min" else "min"
        copy = f"std::{other}" + one_line(self.code[token.end:end])
        if len(copy) <= LONGEST_COPY and "{" not in copy and "[&" not in copy:
            self.add("bound", start, end, copy, f"(@N@ ? ({copy}) : (@K@))", constant)

    def begins_statement(self, index):
        before = self.text(index - 1)
        if self.within[index] != "{":
            return False
        if before == ")":
            return self.text(self.partner.get(index - 1, 0) - 1) in ("if", "while", "for")
        if before == "}":
            return True
        if before == ":":
            return self.kind(index - 2) == "word" and (
                self.text(index - 3) == "case" or self.text(index - 2) == "default" or
                self.text(index - 3) == "::")
        return before in (";", "{", "else", "do")

    def look_at_statement(self, index, head, constant):
        stop = index
        while stop < len(self.tokens) and self.text(stop) != ";":
            if self.text(stop) in (")", "]", "}"):
                return
            stop = self.partner.get(stop, stop) + 1 if self.text(stop) in OPENING else stop + 1
        if stop >= len(self.tokens) or stop == index:
            return
        start, end = self.tokens[index].start, self.tokens[stop].end
        whole, first = self.code[start:end], self.text(index)
        if first in ("break", "continue") or whole == "return;":
            self.drop(start, end, "jump", constant)
        elif first == "return":
            self.look_at_return(index, stop, head, constant)
        elif first == "RINGLET_TRY":
            inner = one_line(self.code[self.tokens[index + 1].end:self.tokens[stop - 1].start])
            if "{" not in inner:
                self.add("error swallowed", start, end, inner + ";",
                         f"if (@N@) static_cast<void>({inner}); else @K@", constant)
        elif self.is_expression(index, stop):
            self.drop(start, end, "statement", constant)

    def drop(self, start, end, kind, constant):
        if not HINTS.search(self.code[start:end]):
            self.add(kind, start, end, "(nothing)", "if (@N@) {} else @K@", constant)

    def look_at_return(self, index, stop, head, constant):
        start, end = self.tokens[index + 1].start, self.tokens[stop - 1].end
        whole = one_line(self.code[start:end])
        if re.search(r"\bStatus\s+[\w:~]+\s*\([^{]*$", head) and \
                re.match(r"(?:Error\{|[\w:]*(?:Fail|Error|Refus|Lost|Invalid)\w*\()", whole):
            self.add("error swallowed", self.tokens[index].start, end, "return Ok()",
                     "if (@N@) return ::ringlet::Ok(); else @K@", constant)
        elif re.search(r"\bbool\s+[\w:~]+\s*\([^{]*$", head) and whole not in ("true", "false"):
            self.negate(start, end, constant)
        elif whole in ("true", "false"):
            other = "false" if whole == "true" else "true"
            self.add("returned value", start, end, other, f"(@N@ ? {other} : {whole})", constant,
                     f"return {whole}")

    def is_expression(self, index, stop):
        first = self.text(index)
        if self.kind(index) != "word" and first not in ("*", "++", "--", "(", "::"):
            return False
        if first in NO_STATEMENT or first.startswith("RINGLET_TRY") or first == "RINGLET_ASSERT":
            return False
        words = self.top_level_tokens(index, stop)
        for one, two in zip(words, words[1:]):
            if self.kind(two) == "word" and self.text(one) not in ("::", ".", "->") and (
                    self.kind(one) == "word" or
                    self.text(one) in (">", "&", "*") and not self.spaced(one)) and one != index - 1:
                if one == index and self.text(one) == "*":
                    continue
                return False
        last = self.text(stop - 1)
        changes = any(self.text(at) in LOOSENESS and LOOSENESS[self.text(at)] == 13 or
                      self.text(at) in ("++", "--") for at in words)
        return changes or last == ")"

    def top_level_tokens(self, begin, end):
        found, at = [], begin
        while at < end:
            found.append(at)
            if self.text(at) in OPENING and at in self.partner:
                at = self.partner[at]
            elif self.text(at) == "=" and self.spaced(at):
                break
            at += 1
        return found


def plant(code, numbered):
    """Returns the code with every (number, place) as a switch. Nested faults keep their own."""
    ordered = sorted(numbered, key=lambda item: (item[1].start, -item[1].end,
                                                 "@K@" not in item[1].template))

    def rewrite(start, end, items):
        parts, at = [], start
        while items:
            number, place = items[0]
            inner = []
            rest = items[1:]
            while rest and rest[0][1].start < place.end:
                inner.append(rest[0])
                rest = rest[1:]
            parts.append(code[at:place.start])
            kept = rewrite(place.start, place.end, inner)
            switch = f"ringlet_mutant({number})"
            parts.append(place.template.replace("@N@", switch).replace("@K@", kept))
            at = place.end
            items = rest
        parts.append(code[at:end])
        return "".join(parts)

    return rewrite(0, len(code), ordered)


def compatible(places):
    """Drops a place that overlaps an earlier one, unless one of them lies inside the other."""
    kept = []
    for place in places:
        clash = any(place.start < other.end and other.start < place.end and
                    not (other.start <= place.start and place.end <= other.end) and
                    not (place.start <= other.start and other.end <= place.end)
                    for other in kept if other.file == place.file)
        if not clash:
            kept.append(place)
    return kept
