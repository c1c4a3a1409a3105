#!/usr/bin/env python3
"""Checks the properties of the source tree that no compiler checks.

    tools/tidy.py SRC

SRC is the source root. LAYERS lists its folders and their permitted includes, GLOBALS its variables
that outlive their scope. The script checks the neighbours of SRC (include, test, examples, bench) for
form only. It prints one line per finding, `file:line: reason`, and exits 1 if there are any.
docs/contributing/code.md explains the rules.
"""
import collections
import pathlib
import re
import sys

# The architecture. A row per layer has its folders, lowest first ("." is the layer's own folder),
# and its permitted includes. A file may include its own folder, the folders before it in its row,
# and each layer or folder of another layer named in the row. Rows name only rows above them, so
# circles between folders are impossible at any depth.
#
# The layers of CORE are folders of src/core and become libringlet.so.0. The others are packages
# around the core: folders of src. The rows of packages follow those of the core, so the core cannot
# include a package.
CORE = {
    "base": ("value wire log settings", ""),
    "os": (". fs process net driver", "base"),
    # Values about running ranks: compared, drawn, and sent over a socket.
    "watch": (". ras", "base"),
    "rendezvous": (".", "base"),
    "bootstrap": (". member", "base"),
    "topology": ("view finding xml graph paths", "base"),
    "discovery": (".", "base os topology"),
    "plan": ("channels routes packing search policy tuning gpus", "base topology"),
    "transport": ("link arena shm tcp ofi inproc wireup", "base os"),
    "collective": ("reduce call exec layout algorithm select shm", "base plan transport"),
    "comm": ("peers plugin service process/parts process control machine backend run establish",
             "base os watch rendezvous bootstrap discovery topology plan transport collective"),
    # Host streams order functions; they do not depend on communicators.
    "stream": (".", "base os"),
    "stream_api": (".", "os/process stream"),
    "c_api": ("handle .", "base os/fs os/process stream collective/call comm"),
    "cxx": (".", "collective/call comm"),
}
LAYERS = {
    **CORE,
    # Child processes.
    "programs": (".", "base os"),
    # A network in virtual time, and schedules that run without one.
    "sim": (". interpreter", "base collective"),
    # Edits, checks and comparisons of topologies.
    "topo": ("edit check lint paths", "base topology"),
    # The functions of ringlet/topology.hpp.
    "topology_api": (".", "base os topology discovery plan topo"),
    "capture": (".", "base os discovery topology"),
    # Results derived elsewhere from the values of running ranks.
    "watcher": ("trace client", "base watch"),
    # Values about hosts before a job, and the verdict on them.
    "doctor": (".", "base"),
    # Networks, machines and reference numbers for the tool and the tests.
    "testbed": (".", "base os topology"),
    "pytorch": ("execution store tensors group calls life launch operations .", "base collective/call comm"),
    # The libraries that replace NVIDIA's use the library through ringlet/stream.h alone. They read
    # the file of the emulated machine.
    "emulate": ("host runtime driver management", "base os topology topo"),
    # The tool shows each stage by itself, so it includes each stage. No layer includes the tool.
    "tool": ("text operation traffic input topo draw check doctor help plan explain run results peers "
             "bench emulate sim watch .",
             "base os programs sim watch watcher doctor rendezvous bootstrap topology topo topology_api capture testbed "
             "discovery plan transport collective comm"),
}
# Layers with a namespace of their own. Through it a file can use a layer without its header.
NAMESPACES = [layer for layer in LAYERS
              if layer in CORE and layer not in ("base", "stream_api", "c_api", "cxx")
              or layer in ("sim", "doctor", "testbed")]
THROUGH = re.compile(rf"(?<![\w:])({'|'.join(NAMESPACES)})::")

# Layers with results from arguments alone. tools/purity.py checks their archives.
PURE = {"base", "sim", "watch", "doctor", "rendezvous", "bootstrap", "topology", "plan"}

# Sources without a test file beside them, each with the reason. The list may only shrink: an
# outdated entry is a finding.
UNTESTED = {
    "tool/main.cpp": "only calls what is tested; test/integration runs it",
    "c_api/collectives.cpp": "reached through the C functions only; nccl_test.cpp tests it there",
    "c_api/handle/handles.cpp": "reached through the C functions only; nccl_test.cpp tests it there",
    "emulate/driver/device.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/driver/entry.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/driver/memory.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/driver/stream.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/management/nvml.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/management/nvml_machine.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/management/nvml_sensors.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/runtime/copy.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/runtime/device.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/runtime/error.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/runtime/event.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/runtime/graph.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/runtime/kernel.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/runtime/memory.cpp": "C functions; test/emulate calls them as programs do",
    "emulate/runtime/stream.cpp": "C functions; test/emulate calls them as programs do",
    "pytorch/module.cpp": "needs PyTorch; test/torch tests it from Python",
}

# Variables that outlive their scope and may change, each with the reason. An obsolete row is a
# finding.
OF_C = "a C function has no object of its caller that could hold it"
OF_CUDA = "CUDA's functions have no object of their caller that could hold it"
INSIDE = "names the running task to the inner calls of a thread"
AT_EXIT = "never destroyed, because threads of others may use it at exit"
GLOBALS = {
    "c_api/group.cpp": {"groups": OF_C},
    "c_api/handle/handles.cpp": {"registries": OF_C, "last_slots": "saves the lock of `registries`"},
    "c_api/handle/last_error.cpp": {"its": OF_C, "errors_of_threads": OF_C},
    "c_api/handle/red_op.cpp": {"registries": OF_C},
    "c_api/params.cpp": {"texts": OF_C, "tables": OF_C},
    "comm/plugin/plugin_library.cpp": {"target": "the log function of a plug-in has no context; " + AT_EXIT},
    "comm/process/parts/facts.cpp": {"known": "forks of a process need not read the machine again"},
    "comm/process/process_of_program.cpp": {"tables": "the C and C++ API share the processes of a program"},
    "comm/run/group.cpp": {"kept": "new memory for each group of a thread costs as much as a message"},
    "comm/service/long_wait.hpp": {"t_innermost": INSIDE},
    "os/fs/gpu_driver.cpp": {"looked_at": "the linker's count when the program was searched"},
    "os/fs/gpu_driver.hpp": {"gpu_pointer_query": "the driver belongs to the program; read by each operation"},
    "os/process/forks.cpp": {
        "given": "the count of forks crosses the fork",
        "word": "the kernel clears its page in a child",
        "generation_word": "the same; read by each operation",
        "sockets": "a handler of fork can reach nothing else",
        "sockets_end": "a handler of fork can reach nothing else",
        "opening": "a handler of fork can reach nothing else",
    },
    "os/process/per_thread.hpp": {"here_": "each thread has its own"},
    "os/process/remote_fence.cpp": {"has_joined": "the kernel registers the program once"},
    "os/process/signal_counter.cpp": {
        "counts": "a handler of signals can reach nothing else",
        "users_mutex": "a program has one handler of a signal",
        "users": "a program has one handler of a signal",
    },
    "stream/capture_calls.cpp": {"mode_of_thread": OF_C},
    "stream/current_device.cpp": {"current_device": OF_C},
    "stream/current_device.hpp": {"null_is_stream": OF_C},
    "stream/host_task.cpp": {"running_item": INSIDE},
    "stream/stream_table.cpp": {"table_of_process": OF_C, "streams_of_threads": OF_C},
    "stream_api/run_guarded.cpp": {"texts_of_threads": OF_C},
    "emulate/driver/device.cpp": {"contexts": OF_CUDA},
    "emulate/driver/entry.cpp": {"self": "this library, which is never closed"},
    "emulate/host/host_cuda.cpp": {"last_error": OF_CUDA, "host": OF_CUDA + "; " + AT_EXIT},
    "emulate/host/log_listeners.cpp": {"is_telling": INSIDE},
    "emulate/management/nvml.cpp": {"users": OF_CUDA},
    "emulate/runtime/device.cpp": {"limit_values": OF_CUDA, "device_flags": OF_CUDA},
    "emulate/runtime/kernel.cpp": {"pushed": OF_CUDA},
    "emulate/runtime/stream.cpp": {"nodes": OF_CUDA},
    "pytorch/execution/helpers.cpp": {"t_serves": INSIDE, "orphans": AT_EXIT},
    "pytorch/execution/python.hpp": {"the": "addresses in Python, which a process has once", "last": "Python creates an exception without arguments"},
    "pytorch/execution/serial_executor.cpp": {"t_inside": INSIDE},
    "pytorch/execution/work.hpp": {"last": "PyTorch needs keys that no other work of the process has"},
    "pytorch/group/own_member.cpp": {"count": "numbers of groups are unique in a process"},
    "pytorch/life/live_groups.hpp": {"the": AT_EXIT},
    "pytorch/symmetric.hpp": {"the": AT_EXIT},
    "pytorch/tensors/process.cpp": {
        "shared": "the groups of a program share a process; " + AT_EXIT,
        "descriptor": "a handler of fork can reach nothing else",
    },
    "pytorch/tensors/tensor_memory.cpp": {"the": "PyTorch has one allocator of a device"},
}

LINES_MAX = 70
COLUMNS_MAX = 100
UNITS_MAX = 15  # sources per folder, each with its header and tests
SUFFIXES = {".cpp", ".hpp", ".h", ".c"}
NEIGHBOURS = ("include", "test", "examples", "bench")

# Headers of the outside world. Headers in a folder (sys/, net/...) count as the system's as well.
SYSTEM_HEADERS = set(
    "aio.h condition_variable dirent.h dlfcn.h errno.h fcntl.h filesystem fstream future ifaddrs.h "
    "iostream mutex netdb.h poll.h pthread.h random sched.h semaphore semaphore.h shared_mutex "
    "signal.h spawn.h stop_token syslog.h termios.h thread time.h unistd.h".split())
SYSTEM_FOLDERS = ("sys", "net", "netinet", "arpa", "linux", "asm", "rdma", "infiniband")

# A pattern, its replacement, and the exempt layers or single files.
BANNED = [
    (r"\b(?:secure_)?getenv\s*\(|\bsetenv\s*\(|\benviron\b", "read settings once, at the edge",
     {"os"}),
    (r"\b(?:steady|system|high_resolution)_clock::now\b|\b(?:clock_gettime|gettimeofday)\s*\(",
     "take `Instant now` as an argument; only os asks the clock", {"os"}),
    (r"\bstd::random_device\b|(?<![\w.>:])s?rand(?:om)?\s*\(|\bmt19937", "take a seeded Prng",
     {"os"}),
    (r"\b(?:sleep_for|sleep_until)\b|(?<![\w.>:])(?:u|nano)?sleep\s*\(",
     "wait for the event, with a deadline", {"os"}),
    (r"\bgoto\b", "let destructors clean up", set()),
    (r"\bstd::c(?:err|out|log)\b|(?<!\w)(?:std::)?f?printf\s*\(|(?<!\w)(?:std::)?f?puts\s*\(",
     "log it or return it; only the tool prints", {"os", "tool", "base/value/status.cpp"}),
    (r"(?<!\w)(?:std::)?s(?:n)?printf\s*\(|(?<!\w)(?:std::)?str(?:cpy|cat)\s*\(", "use fmt::format",
     set()),
    (r"(?<![\w:.>])assert\s*\(", "use RINGLET_ASSERT: assert is gone in release builds", set()),
    (r"\bthrow\b", "return an Error",
     {"pytorch", "comm/control/recorder.cpp", "os/process/per_thread.hpp"}),
    (r"\bstd::sto(?:i|l|ll|ul|ull|f|d)\b|(?<!\w)(?:ato[ifl]|strto(?:u?ll?|d))\s*\(",
     "use base/value/text.hpp or std::from_chars: they say what is wrong with the text", set()),
    (r"\bstd::(?:format|expected|source_location)\b|\bstd::views\b",
     "not in both of our compilers; see docs/contributing/code.md", set()),
    (r"\busing namespace\b(?!\s+std::[\w:]*literals)", "name what you use", set()),
    (r"\bdetach\s*\(\s*\)", "own the thread and join it", set()),
]
BANNED = [(re.compile(pattern), instead, excused) for pattern, instead, excused in BANNED]
# Applies to sources other than tests.
STARTS_THREAD = re.compile(r"\bstd::(?:j?thread|async)\s*(?:\w+\s*)?[({]|\bpthread_create\b")
MAY_START_THREADS = {"os"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
UNFINISHED = re.compile(r"\b(?:FIXME|TODO|XXX|HACK)\b|^[ \t]*#[ \t]*if[ \t]+0\b", re.M)
PRAGMA_ONCE = re.compile(r"^#pragma once$", re.M)
NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f'])'(?:\\.|[^'\\\n])+'", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
ATTRIBUTE = re.compile(r"\balignas\s*\([^()]*\)|"
                       r"__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)")
ACCESS = re.compile(r"\s*(?:(?:public|protected|private)\s*:(?!:))?\s*")
# For the search for globals, in text without the parameters of templates.
PARAMETERS = re.compile(r"<[^<>]*>|\[\[[^\]]*\]\]")
LASTS = re.compile(r"(?:(?:inline|constinit|const) )*(?:static|thread_local)\b")
VARIABLE = re.compile(r"(?P<type>[\w:*& ]+[*& ])(?P<name>\w+)(?: ?\[[^\]]*\])*")
NO_VARIABLE = re.compile(r"(?:class|struct|union|enum|namespace|friend|extern|return|concept)\b|"
                         r".*\b(?:using|typedef|constexpr|operator)\b")
TYPE_HEAD = re.compile(r"(?:^|[\s>])(?:class|struct|union|enum)\b[^()]*$")


def blank(match):
    """Returns the newlines of the removed text, so line numbers stay."""
    return "\n" * match.group().count("\n") or " "


def is_test(path):
    return re.search(r"_(?:test|fuzz|bench)$", path.stem) is not None


class File:
    def __init__(self, path):
        self.path = path
        self.errors = []
        raw = path.read_bytes()
        self.text = raw.decode("utf-8", errors="replace")
        if not raw.isascii():
            for number, line in enumerate(self.text.splitlines(), 1):
                if not line.isascii():
                    self.say(number, "only ASCII in sources")
        self.code = NOT_CODE.sub(blank, self.text)
        self.includes = [(self.line(self.text, m.start(1)), m[1], m[2])
                         for m in INCLUDE.finditer(self.text)]

    def say(self, number, why):
        self.errors.append((number, why))

    @staticmethod
    def line(text, offset):
        return text.count("\n", 0, offset) + 1

    def check_form(self):
        for number, line in enumerate(self.text.splitlines(), 1):
            if len(line) > COLUMNS_MAX:
                self.say(number, f"{len(line)} columns; at most {COLUMNS_MAX}")
        for match in UNFINISHED.finditer(self.text):
            self.say(self.line(self.text, match.end()),
                     f"{match.group().strip()} is for private branches; finish it or delete it")
        if self.path.suffix == ".hpp" and not PRAGMA_ONCE.search(self.text):
            self.say(1, "a header begins with #pragma once")

    def check_layer(self, layer, folder):
        folders, allowed = folders_of(layer), LAYERS[layer][1].split()
        if folder not in folders:
            self.say(1, f"{layer} has no folder {folder} in LAYERS of tools/tidy.py")
            return
        below = folders[:folders.index(folder) + 1]
        for number, mark, name in self.includes:
            if mark == '"':
                self.check_own_include(number, name, layer, below, allowed)
            elif layer in PURE and (name in SYSTEM_HEADERS or
                                    name.split("/")[0] in SYSTEM_FOLDERS and "/" in name):
                self.say(number, f"{layer} is pure and may not include <{name}>")
        seen = {layer, *(target.split("/")[0] for target in allowed)}
        for match in THROUGH.finditer(self.code):
            if match[1] not in seen:
                self.say(self.line(self.code, match.start()),
                         f"{layer} may not use {match[1]}::; see LAYERS in tools/tidy.py")

    def check_own_include(self, number, name, layer, below, allowed):
        target, folder = place_of(name)
        if name.startswith("ringlet/"):
            return
        if target is None:
            self.say(number, f'"{name}" is in no layer; others\' headers go in <>, ours begin with '
                     "their layer")
        elif target == layer and folder not in below:
            self.say(number, f"the folder {below[-1]} of {layer} may not include {folder}; see LAYERS in "
                     "tools/tidy.py")
        elif target != layer and target not in allowed and f"{target}/{folder}" not in allowed:
            if not (target not in CORE and self.path.stem.endswith("_for_test")):
                self.say(number, f"{layer} may not include {target}; see LAYERS in tools/tidy.py")

    def check_banned(self, layer, name):
        for pattern, instead, excused in BANNED:
            if layer in excused or name in excused:
                continue
            for match in pattern.finditer(self.code):
                word = match.group().rstrip("( \t")
                self.say(self.line(self.code, match.start()), f"{word} is banned: {instead}")

        tests = is_test(self.path) or self.path.stem.endswith("_for_test")
        if layer not in MAY_START_THREADS and not tests:
            for match in STARTS_THREAD.finditer(self.code):
                self.say(self.line(self.code, match.start()), "threads are started by "
                         "os::StartThread: it returns an error where a limit is reached")

    def check_functions(self):
        for start, end in functions(DIRECTIVE.sub(blank, self.code)):
            if end - start + 1 > LINES_MAX:
                self.say(start, f"function of {end - start + 1} lines; at most {LINES_MAX}")


def place_of(name):
    """Returns the layer and its folder named by an include, or None."""
    layer, *folders = name.split("/")[:-1] or [None]
    return (layer, "/".join(folders) or ".") if layer in LAYERS else (None, None)


def include_of(path, root):
    """Returns the include name of a file below the source root."""
    name = path.relative_to(root).as_posix()
    in_core = name.startswith("core/")
    name = name.removeprefix("core/")
    return name if in_core == (name.split("/")[0] in CORE) else f"misplaced/{name}"


def folders_of(layer):
    """Returns the folders of a layer, lowest first."""
    return LAYERS[layer][0].split()


def functions(code):
    """Yields the first and last line of every outermost function."""
    stack, inside, head_start, line, last = [], 0, 0, 1, 0
    for match in re.finditer(r"[{};]", code):
        line += code.count("\n", last, match.start())
        last = match.start()
        if match.group() == "{":
            head = code[head_start:match.start()]
            plain = ATTRIBUTE.sub("", head)
            is_function = not inside and "(" in plain and not TYPE_HEAD.search(plain)
            first = line - head[ACCESS.match(head).end():].count("\n")
            stack.append(first if is_function else None)
            inside += is_function
        elif match.group() == "}" and stack:
            first = stack.pop()
            if first is not None:
                inside -= 1
                yield first, line
        head_start = match.end()


def globals_of(code):
    """Yields line and name of every variable that outlives its scope and may change."""
    scopes, start = ["namespace"], 0
    for match in re.finditer(r"[{};]", code):
        head = code[start:match.start()]
        name = changing(head, scopes[-1])
        if name:
            yield File.line(code, start + ACCESS.match(head).end()), name
        if match.group() == "{":
            scopes.append(scope_of(ATTRIBUTE.sub("", head), scopes[-1]))
        elif match.group() == "}" and len(scopes) > 1:
            scopes.pop()
        start = match.end()


def scope_of(head, outer):
    """Returns the kind of scope that a brace after `head` opens within `outer`."""
    if outer == "function" or "(" in head and not TYPE_HEAD.search(head):
        return "function"
    if re.match(r"\s*(?:inline\s+)?namespace\b|\s*extern\s*$", head):
        return "namespace"
    return "type" if TYPE_HEAD.search(head) else "values"


def changing(head, scope):
    """Returns the variable that `head` defines in `scope` if it outlives that and may change."""
    text = head[ACCESS.match(head).end():]
    while PARAMETERS.search(text):
        text = PARAMETERS.sub(" ", text)
    text = " ".join(ATTRIBUTE.sub("", text.split("=")[0]).split()).removeprefix("template ")
    if scope == "values" or scope != "namespace" and not LASTS.match(text):
        return None
    variable = VARIABLE.fullmatch((text.split("(")[0] if scope == "function" else text).split(",")[0].strip())
    if not variable or NO_VARIABLE.match(text):
        return None
    value, mark, pointer = re.match(r"([^*&]*)([*&]?)(.*)", variable["type"]).groups()
    fixed = re.search(r"\bconst\b", value) and (mark != "*" or re.search(r"\bconst\b", pointer))
    return None if fixed else variable["name"]


def check_tests(root, files, untested):
    """Checks that every source has its test, or is listed, and that the list is true."""
    sources = {include_of(f.path, root): f for f in files
               if f.path.suffix == ".cpp" and not is_test(f.path)}
    for name, file in sources.items():
        has_test = file.path.with_name(file.path.stem + "_test.cpp").exists()
        if not has_test and name not in untested:
            file.say(1, f"no {file.path.stem}_test.cpp beside it")
        if has_test and name in untested:
            file.say(1, "has a test now: delete it from UNTESTED in tools/tidy.py")


def check_globals(root, files, rows):
    """Checks that GLOBALS has a row for each variable that outlives its scope, and no other rows."""
    names, layers = {}, set()
    for file in files:
        name = include_of(file.path, root)
        layers.add(place_of(name)[0])
        if is_test(file.path) or file.path.stem.endswith("_for_test"):
            continue
        found = list(globals_of(DIRECTIVE.sub(blank, file.code)))
        names[name] = {variable for _, variable in found}
        for number, variable in found:
            if variable not in rows.get(name, {}):
                file.say(number, f"{variable} outlives its scope and may change: give it an owner, or list it "
                         "with a reason in GLOBALS of tools/tidy.py")
    whole = LAYERS.keys() <= layers
    return [f"tools/tidy.py:1: GLOBALS: {name} has no variable {variable}" for name in rows
            for variable in rows[name] if variable not in names.get(name, set()) and (whole or name in names)]


def check_dead(root, files, neighbours):
    """Checks that every header below the source root has an includer other than its own source."""
    included = set()
    for file in files + neighbours:
        for _, _, name in file.includes:
            own = root in file.path.parents and include_of(file.path.with_suffix(""), root)
            if name.rpartition(".")[0] != own:
                included.add(name)
    for file in files:
        if file.path.suffix in {".hpp", ".h"} and include_of(file.path, root) not in included:
            file.say(1, "nobody includes this header")


def check_folders(files):
    """Checks that no folder has more units than a reader can survey."""
    units = collections.defaultdict(set)
    for file in files:
        helper = is_test(file.path) or file.path.stem.endswith("_for_test")
        if file.path.suffix in {".cpp", ".hpp"} and not helper:
            units[file.path.parent].add(file.path.stem)
    for folder, stems in units.items():
        if len(stems) > UNITS_MAX:
            first = next(file for file in files if file.path.parent == folder)
            first.say(1, f"{len(stems)} units in this folder; at most {UNITS_MAX}")


def check_edges(root, files):
    """Checks that rows of LAYERS name rows above, and, if all layers exist, only true ones."""
    rows = list(LAYERS)
    findings = [f"{layer} names {target}, which is not above it" for layer in rows
                for target in LAYERS[layer][1].split()
                if place_of(target + "/x")[0] not in rows[:rows.index(layer)]]
    used = collections.defaultdict(set)
    folders = collections.defaultdict(set)
    for file in files:
        layer, folder = place_of(include_of(file.path, root))
        folders[layer].add(folder)
        for _, mark, name in file.includes:
            target, part = place_of(name)
            used[layer] |= {target, f"{target}/{part}"}
    if LAYERS.keys() <= used.keys():
        findings += [f"{layer} names {target}, and no file includes it" for layer in rows
                     for target in LAYERS[layer][1].split() if target not in used[layer]]
        findings += [f"{layer} has no folder {folder}" for layer in rows
                     for folder in folders_of(layer) if folder not in folders[layer]]
    return [f"tools/tidy.py:1: LAYERS: {finding}" for finding in findings]


def check(root, untested=None, rows=None):
    """Returns all findings for the source root, as printable lines in order."""
    root = pathlib.Path(root)
    files = read(root)
    parent = root.parent if root.name not in ("", "..") else root.resolve().parent
    neighbours = [f for name in NEIGHBOURS for f in read(parent / name)]
    for file in files + neighbours:
        file.check_form()
    for file in files:
        name = include_of(file.path, root)
        layer, folder = place_of(name)
        if layer is None:
            file.say(1, "not in the folder of a layer; see LAYERS in tools/tidy.py")
        elif not is_test(file.path):
            file.check_layer(layer, folder)
            file.check_banned(layer, name)
            file.check_functions()
    check_tests(root, files, UNTESTED if untested is None else untested)
    check_dead(root, files, neighbours)
    check_folders(files)
    stale = check_globals(root, files, GLOBALS if rows is None else rows)
    return [f"{file.path}:{number}: {why}" for file in files + neighbours
            for number, why in sorted(file.errors)] + stale + check_edges(root, files)


def read(root):
    return [File(p) for p in sorted(root.rglob("*")) if p.suffix in SUFFIXES and p.is_file()]


def main(arguments):
    if len(arguments) != 1 or not pathlib.Path(arguments[0]).is_dir():
        print("usage: tools/tidy.py SRC", file=sys.stderr)
        return 2
    findings = check(arguments[0])
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
