"""Runs an example on Ringlet and on Gloo, in turn, several times, and prints both in a table.

    python compare.py --processes 2 ddp.py [OPTION...]
    python compare.py --processes 2 --own-launcher ray_train.py
"""

import argparse
import json
import statistics
import subprocess
import sys

# A Gloo process sometimes never ends, even after the program has printed its result.
GLOO_LIMIT_S = 300


def run(backend, options):
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(options.processes)]
    own = ["--processes", str(options.processes)] if options.own_launcher else []
    command = [
        sys.executable, *([] if options.own_launcher else torchrun), options.program, *own,
        "--backend", backend, "--json", *options.options,
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = process.communicate(timeout=GLOO_LIMIT_S if backend == "gloo" else None)
    except subprocess.TimeoutExpired:
        process.terminate()  # the launcher then ends its processes
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            sys.exit(f"{' '.join(command)} has not ended {GLOO_LIMIT_S} s after its start, nor after SIGTERM")
    result = next((line for line in out.splitlines() if line.startswith('{"')), None)
    if process.returncode != 0 and backend == "gloo" and result:
        print("a Gloo process hung or ended badly after it had printed its result, which counts")
    elif process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{out}{err}")
    return json.loads(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--own-launcher", action="store_true", help="the program starts its processes itself")
    parser.add_argument("program")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    results = {"ringlet": [], "gloo": []}
    for _ in range(options.runs):
        for backend, runs in results.items():
            runs.append(run(backend, options))
    time = next(key for key in results["gloo"][0] if key.endswith("_s"))
    what = time.removesuffix("_s")
    medians = {b: statistics.median(r[time] for r in runs) for b, runs in results.items()}
    print(f"{'backend':<10}{'us a ' + what:>16}{what + 's/s':>16}   result")
    for backend, runs in results.items():
        found = runs[0].get("losses") or runs[0].get("tokens")
        shown = f"loss {found[-1]:.6f}" if "losses" in runs[0] else f"tokens {found[:4]}"
        seconds = medians[backend]
        print(f"{backend:<10}{seconds * 1e6:>16.0f}{1 / seconds:>16.0f}   {shown}")
    print(f"{options.processes} processes; medians of {options.runs} runs each, in turn")
    if "losses" in results["gloo"][0]:
        pairs = zip(results["ringlet"][0]["losses"], results["gloo"][0]["losses"])
        difference = max(abs(a - b) for a, b in pairs)
        print(f"largest difference of an epoch's loss: {difference:.2e}")
        if difference > 1e-6:
            sys.exit("the losses differ by more than 1e-6")
    elif results["ringlet"][0]["tokens"] != results["gloo"][0]["tokens"]:
        sys.exit("the tokens differ")


if __name__ == "__main__":
    main()
