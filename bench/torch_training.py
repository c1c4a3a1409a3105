"""Measures training and inference on Ringlet and on Gloo: the programs of examples/pytorch, in
turn.

    python bench/torch_training.py [--processes 2,4] [--runs 3]
    python bench/torch_training.py --json bench/results/DATE-MACHINE-pytorch-training.json

A cell is the median of the runs. Each run is the median of a program's iterations or tokens. The
losses or tokens of both backends have to be equal. Otherwise the program prints the difference and
exits with 1. It leaves out programs without their package, and names them.
"""

import importlib.util
import pathlib
import statistics
import sys
import types

import torch_results

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples" / "pytorch"
sys.path.insert(0, str(EXAMPLES))
import compare  # noqa: E402  it lies beside the programs

BACKENDS = ("ringlet", "gloo")
# Title: program, its options, package.
PROGRAMS = {
    "DDP, small model, an iteration": ("ddp.py", [], "torch"),
    "DDP, hidden layers of 1,024, an iteration":
        ("ddp.py", ["--width", "1024", "--epochs", "1", "--samples", "2048"], "torch"),
    "FSDP2, transformer of 4 layers, an iteration": ("fsdp2.py", ["--steps", "60"], "torch"),
    "FSDP2, transformer, width 256, an iteration":
        ("fsdp2.py", ["--steps", "30", "--width", "256"], "torch"),
    "tensor-parallel transformer, a token": ("tensor_parallel.py", [], "torch"),
    "DeepSpeed, ZeRO 2, an iteration": ("deepspeed_zero.py", [], "deepspeed"),
    "vLLM, small Llama, a token (Gloo: vLLM's own kernel)": ("vllm_tp.py", [], "vllm"),
}
LOSS_DIFFERENCE_MAX = 1e-6


def differ(a, b):
    """Returns the difference between the results of two runs, or None."""
    if "losses" in a:
        difference = max(abs(x - y) for x, y in zip(a["losses"], b["losses"], strict=True))
        return f"losses differ by {difference}" if difference > LOSS_DIFFERENCE_MAX else None
    return None if a["tokens"] == b["tokens"] else f"tokens differ: {a['tokens'][:8]}, {b['tokens'][:8]}"


def milliseconds(result):
    return next(value for key, value in result.items() if key.endswith("_s")) * 1e3


def measure(program, options, processes, runs):
    """Returns each backend's milliseconds, the median of its runs. Exits if results differ."""
    wish = types.SimpleNamespace(processes=processes, own_launcher=False, program=str(EXAMPLES / program),
                                 options=options)
    found = {backend: [] for backend in BACKENDS}
    for _ in range(runs):
        for backend, results in found.items():
            results.append(compare.run(backend, wish))
    trouble = differ(found["ringlet"][0], found["gloo"][0])
    if trouble:
        sys.exit(f"{program} {' '.join(options)}, {processes} processes: {trouble}")
    return [round(statistics.median(map(milliseconds, found[backend])), 3) for backend in BACKENDS]


def main():
    parser = torch_results.parser_of(__doc__, "2,4", 3)
    parser.add_argument("--only", default="", help="programs whose name has this in it")
    options = parser.parse_args()
    rows = []
    for processes in map(int, options.processes.split(",")):
        for what, (program, words, package) in PROGRAMS.items():
            if options.only not in what:
                continue
            if importlib.util.find_spec(package) is None:
                print(f"{what}: left out, the package {package} is not installed")
                continue
            ours, gloo = measure(program, words, processes, options.runs)
            rows.append([what, processes, ours, gloo, round(gloo / ours, 2)])
            print(f"{what:>56}  {processes} processes  {ours:>9} ms  Gloo {gloo:>9} ms", flush=True)
    torch_results.write(
        options,
        what="PyTorch: training and inference",
        order=34,
        command="python bench/torch_training.py " + " ".join(sys.argv[1:]),
        note=["The programs of examples/pytorch, which the backends ran in turn; medians of "
              f"{options.runs} runs. Losses of both are equal to {LOSS_DIFFERENCE_MAX}, tokens are the same."],
        tables=[{"title": "Milliseconds", "columns": ["program", "processes", "Ringlet", "Gloo", "ratio"],
                 "rows": rows}])


if __name__ == "__main__":
    main()
