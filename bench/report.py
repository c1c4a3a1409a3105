#!/usr/bin/env python3
"""Makes the pages of figures from the files in bench/results.

    bench/report.py            # writes docs/performance.md and bench/results/tables.md
    bench/report.py --check    # exits 1 if one of them differs from the files
    bench/report.py FILE...    # prints the tables of these files, such as `ringlet bench --output` writes

docs/performance.md answers in five tables whether Ringlet is faster, and where it is not.
bench/results/tables.md has every figure. bench/results/README.md describes the files.
"""
import argparse
import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PAGES = {"performance": ROOT / "docs" / "performance.md", "tables": RESULTS / "tables.md"}
COLUMNS = 100
KEYS = {"what", "where", "when", "beside", "commit", "command", "order", "note", "self", "runs", "tables", "after"}
HOST_SIZES = (2048, 32768, 524288, 8388608)  # bytes, beside the smallest size of an operation
TORCH_SIZES = (4096, 32768, 262144, 16777216)


class BadResult(Exception):
    """A file of results that does not have the form that bench/results/README.md describes."""


def load(path):
    path = pathlib.Path(path)
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadResult(f"{path}: {error}") from error
    if not isinstance(result, dict):
        raise BadResult(f"{path}: not an object")
    for key in ("what", "where", "when"):
        if not isinstance(result.get(key), str):
            raise BadResult(f"{path}: the key {key} is missing or is not a text")
    for key in result.keys() - KEYS:
        raise BadResult(f"{path}: unknown key {key}")
    if not result.get("runs") and not result.get("tables"):
        raise BadResult(f"{path}: neither runs nor tables")
    try:
        for one in result.get("tables", ()):
            for row in one["rows"]:
                if len(row) != len(one["columns"]):
                    raise BadResult(f"{path}: a row of {len(row)} cells below {len(one['columns'])} columns: {row}")
        part(result)
    except KeyError as error:
        raise BadResult(f"{path}: a run or a table lacks the key {error}") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise BadResult(f"{path}: a value has the wrong type: {error}") from error
    return result


def all_results(folder=RESULTS):
    return sorted((load(path) for path in sorted(folder.glob("*.json"))), key=lambda one: one.get("order", 0))


def filled(text, indent=""):
    return textwrap.fill(text, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def bytes_text(size):
    for unit, exponent in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << exponent:
            return f"{size / (1 << exponent):g} {unit}"
    return f"{size} B"


def three_digits(value):
    """Three significant digits; whole numbers with commas from 100 on."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.3g}"


def table(columns, rows):
    lines = [columns, *rows]
    text = ["| " + " | ".join("" if cell is None else str(cell) for cell in line) + " |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * len(columns), *text[1:]]) + "\n"


def figures(row):
    """The figures of a row of a run: out of place, or else in place."""
    return row if "time_us" in row else row.get("in_place") or {}


def own_time(row):
    return figures(row).get("time_us")


def peer_times(row):
    peers = row.get("peers") or figures(row).get("peers") or {}
    return {name: one["time_us"] for name, one in peers.items() if one.get("time_us") is not None}


def layout_of(run):
    return run.get("layout") or f"{run['ranks']} rank{'s' if run['ranks'] != 1 else ''}"


def by_layout(result):
    """Lists of runs with equal layout and ranks, in the order of the file."""
    groups = {}
    for run in result.get("runs", ()):
        groups.setdefault((layout_of(run), run["ranks"]), []).append(run)
    return [(layout, runs) for (layout, _), runs in groups.items()]


def peers_of(runs):
    return list(dict.fromkeys(peer for run in runs for peer in run.get("peers", ())))


def runs_table(self_name, layout, runs):
    peers = peers_of(runs)
    sizes = sorted({row["size"] for run in runs for row in run["rows"]})

    def cell(run, size):
        row = next((row for row in run["rows"] if row["size"] == size), None)
        if row is None:
            return ""
        times = peer_times(row)
        shown = [three_digits(time) if time is not None else "-" for time in (own_time(row), *map(times.get, peers))]
        return f"**{shown[0]}** " + " / ".join(shown[1:])

    title = f"\n**{layout}**, us: **{self_name}** {' / '.join(peers)}\n\n"
    return title + table(["operation", *map(bytes_text, sizes)],
                         [[run["op"], *(cell(run, size) for size in sizes)] for run in runs])


def slower_cells(runs, peers=None):
    """(peer, operation, bytes, its time over ours) of each cell in which a peer is faster."""
    for run in runs:
        for row in run["rows"]:
            for peer, time in peer_times(row).items():
                own = own_time(row)
                if own and time < own and (peers is None or peer in peers):
                    yield peer, run["op"], row["size"], time / own


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio < 0.995 else f"{ratio:.3f}"


def slower_text(result):
    lines, peers = [], 0
    for layout, runs in by_layout(result):
        for peer in peers_of(runs):
            peers += 1
            cells = [f"{op} {bytes_text(size)} {ratio_text(ratio)}"
                     for name, op, size, ratio in slower_cells(runs) if name == peer]
            if cells:
                lines.append(filled(f"* {layout}, {peer}: {', '.join(cells)}.", "  "))
    self_name = result.get("self", "Ringlet")
    if not peers:
        return ""
    if not lines:
        return f"\n{self_name} is not slower in any of these cells.\n"
    return f"\nCells in which {self_name} is slower, with the peer's time over its own:\n\n" + "\n".join(lines) + "\n"


def paragraphs(texts):
    return "".join(f"\n{filled(text)}\n" for text in texts or ())


def part(result):
    """All figures of one file."""
    facts = [f"Machine: {result['where']}.", f"Date: {result['when']}."]
    if result.get("beside"):
        facts.append(f"Peers: {'; '.join(result['beside'])}.")
    if result.get("commit"):
        facts.append(f"Commit: {result['commit']}.")
    if result.get("command"):
        facts.append(f"Command: `{result['command']}`.")
    text = f"\n## {result['what']}\n\n{filled(' '.join(facts))}\n" + paragraphs(result.get("note"))
    for layout, runs in by_layout(result):
        text += runs_table(result.get("self", "Ringlet"), layout, runs)
        text += paragraphs(note for run in runs for note in run.get("note") or ())
    text += slower_text(result)
    for one in result.get("tables", ()):
        text += f"\n{filled('**' + one['title'] + '**')}\n" if one.get("title") else ""
        text += "\n" + table(one["columns"], one["rows"]) + paragraphs(one.get("note"))
    return text + paragraphs(result.get("after"))


def tables_page(results):
    links = re.compile(r"\]\(((?!https?:)[^)#]+)")
    text = "# All figures\n\n" + filled(
        "`bench/report.py` makes this page from the files in this folder. Change a figure there. Compare only the "
        "numbers of one cell, because machines and days differ.") + "\n" + "".join(map(part, results))
    return links.sub(lambda match: f"](../../docs/{match[1]}", text)


def source(results, what, key="what"):
    return next(one for one in results if one[key] == what)


def about(result):
    beside = f"; peers: {', '.join(result['beside'])}" if result.get("beside") else ""
    return filled(f"{result['where']}; {result['when']}{beside}.") + "\n"


def compared(row, peers):
    """`0.17 (1.5)`: our time, and the time of the fastest peer over ours; bold where the peer is faster."""
    times = [time for name, time in peer_times(row).items() if name in peers]
    own = own_time(row)
    if own is None or not times:
        return ""
    ratio = min(times) / own
    text = f"{three_digits(own)} ({three_digits(ratio) if ratio >= 1 else ratio_text(ratio)})"
    return f"**{text}**" if ratio < 1 else text


def summary_of_runs(result, layouts, sizes):
    """A row for each operation of the layouts: its smallest size (8 to 32 bytes), then `sizes`."""
    rows = []
    for layout, runs in by_layout(result):
        if layout not in layouts:
            continue
        for run in runs:
            found = {row["size"]: compared(row, run["peers"]) for row in run["rows"]}
            rows.append([layout, run["op"], found[min(found)], *(found.get(size, "") for size in sizes)])
    return table(["", "operation", "8 to 32 B", *map(bytes_text, sizes)], rows)


def count_slower(result, layouts):
    cells = slower = 0
    for layout, runs in by_layout(result):
        if layout in layouts:
            rows = [row for run in runs for row in run["rows"] if peer_times(row) and own_time(row)]
            cells += len(rows)
            slower += sum(min(peer_times(row).values()) < own_time(row) for row in rows)
    return f"{slower} of {cells}"


def start_table(results):
    groups = source(results, "PyTorch: a process group, to the end of its first all-reduce")
    forming = source(results, "Forming a communicator")
    kept = [row for row in groups["tables"][0]["rows"] if row[1] == "TCPStore" or row[0] == "64 processes"]
    text = about(groups) + "\nA PyTorch process group, from `init_process_group` to the end of the first all-reduce:\n\n"
    text += table(["processes", "store", "Ringlet, ms", "Gloo, ms", "Gloo / Ringlet"],
                  [[row[0], row[1], row[2], row[4], three_digits(row[4] / row[2])] for row in kept])
    index = forming["tables"][0]["columns"].index("measured ms, hosts as one")
    text += "\n" + filled(
        "A communicator of ranks as threads, from the first call to the last complete control network. Figures in "
        "brackets were measured while another program had one of the cores:") + "\n\n"
    return text + table(["ranks", "ms"], [[row[0], row[index]] for row in forming["tables"][0]["rows"] if row[0] in ("8", "64", "256", "1,024")])


def planner_table(results):
    planner = source(results, "Planning channels for GPUs")
    plans, times = (one["rows"] for one in planner["tables"][:2])
    rows = []
    for plan, time in zip(plans, times):
        if time[6] is None or time[6] < 12:  # milliseconds
            continue
        name = plan[0].rpartition("/")[2].partition(".")[0]
        rows.append([f"{name}, {plan[1]} host{'s' if plan[1] > 1 else ''}", plan[2], plan[3], time[2], time[6]])
    return about(planner) + "\n" + table(
        ["machine", "rings like NCCL's (channels x GB/s)", "best rings", "search, ms", "NCCL's search, ms"], rows)


def performance_page(results):
    host = source(results, "Ringlet and MPI on one host, in one loop")
    grid = source(results, "PyTorch: operations by processes, sizes and load")
    training = source(results, "PyTorch: training and inference")
    hosts = source(results, "Between hosts")
    ranks = ("2 ranks", "4 ranks")
    processes = ("2 processes", "8 processes")
    links = [layout for layout, _ in by_layout(hosts)]
    text = "# Performance\n\n" + filled(
        "Is Ringlet faster for your job, and where is it slower? Five tables answer: start, one host, PyTorch, between "
        "hosts, planner. A cell such as `6.81 (2.06)` has the time of Ringlet in microseconds, and the time of the "
        "fastest peer divided by it. **Bold** cells are below 1: a peer is faster. Compare only within a cell, because "
        "machines and days differ. `bench/results/tables.md` has all figures; `bench/report.py` makes both pages.") + "\n"
    text += "\n## Start\n\n" + start_table(results)
    text += f"\n## One host\n\n{about(host)}\n" + summary_of_runs(host, ranks, HOST_SIZES)
    text += f"\nA peer is faster in {count_slower(host, ranks)} measured cells.\n"
    text += f"\n## PyTorch\n\n{about(grid)}\n" + summary_of_runs(grid, processes, TORCH_SIZES)
    text += f"\nGloo is faster in {count_slower(grid, processes)} measured cells.\n\nTraining and inference, milliseconds:\n\n"
    text += table(training["tables"][0]["columns"], [row for row in training["tables"][0]["rows"] if row[1] == 2])
    text += f"\n## Between hosts\n\n{about(hosts)}\n" + summary_of_runs(hosts, links, (67108864,))
    text += "\n## Planner\n\n" + planner_table(results)
    return text


def write_or_check(check):
    results = all_results()
    pages = {"performance": performance_page(results), "tables": tables_page(results)}
    stale = [name for name, text in pages.items()
             if not PAGES[name].is_file() or PAGES[name].read_text(encoding="utf-8") != text]
    for name in stale:
        if check:
            print(f"{PAGES[name].relative_to(ROOT)} differs from bench/results: run bench/report.py")
        else:
            PAGES[name].write_text(pages[name], encoding="utf-8")
    return bool(check and stale)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change no file")
    parser.add_argument("files", metavar="FILE", nargs="*")
    options = parser.parse_args(arguments)
    try:
        if options.files:
            print("".join(part(load(path)) for path in options.files).lstrip("\n"), end="")
            return 0
        return int(write_or_check(options.check))
    except BadResult as error:
        print(f"bench/report.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
