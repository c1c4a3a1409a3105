"""Tests the package of a user: installs it by pip into a fresh environment, uses it, and removes
it.

    python wheel.py FOLDER [--torch VERSION | --torch-of PYTHON] [--json]

FOLDER has the wheels of `./ringlet.sh wheels` (dist), or the source for a wheel. The checks are:
`import ringlet`, predictions and the tool without torch; no file left after the uninstallation; and
a verified all-reduce of two ranks with torch, of VERSION from PyPI (with stubs in place of its
wheel's CUDA libraries) or the one that PYTHON imports. Exits 77 if there is no wheel.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time

from stub_libraries import make_stubs

SOURCE = pathlib.Path(__file__).resolve().parents[2]
XML = SOURCE / "machines" / "dgx-h100.xml"
IMPORTS = "typing-extensions filelock sympy networkx jinja2 fsspec setuptools numpy".split()
SKIPPED = 77

WITHOUT_TORCH = textwrap.dedent("""
    import sys
    import ringlet, ringlet.launchers, ringlet.testing
    found = ringlet.predict(sys.argv[1], hosts=2, op="all_reduce", bytes=1 << 26)
    assert found["time_us"] > 0 and found["flows"]["links"], found
    for hosts, size in ((0, 1), (1, 0), (1 << 40, 1)):
        try:
            ringlet.predict(sys.argv[1], hosts=hosts, bytes=size)
            sys.exit("no error")
        except ValueError as error:
            assert str(hosts) in str(error), error
    assert "torch" not in sys.modules
    try:
        ringlet.Options
        sys.exit("torch is here")
    except ModuleNotFoundError as error:
        assert error.name == "torch", error
""")
ALL_REDUCE = textwrap.dedent("""
    import torch
    import torch.distributed as dist
    dist.init_process_group("ringlet")
    rank, size = dist.get_rank(), dist.get_world_size()
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        for count in (1, 1000, 1 << 20):
            tensor = torch.full((count,), rank + 1, dtype=dtype)
            dist.all_reduce(tensor)
            assert tensor.eq(sum(range(1, size + 1))).all(), (dtype, count)
    dist.barrier()
    if rank == 0:
        import ringlet
        print("verified:", torch.__version__, ringlet.ProcessGroupRinglet.__module__)
    dist.destroy_process_group()
""")


class Environment:
    """A fresh venv in a folder, and its programs."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "venv"
        subprocess.run([sys.executable, "-m", "venv", self.folder], check=True)
        self.variables = {name: value for name, value in os.environ.items()
                          if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}

    def run(self, *words):
        """Returns its output; ends the test if it fails."""
        done = subprocess.run([self.folder / "bin" / words[0], *words[1:]], env=self.variables, text=True,
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def pip(self, *words):
        return self.run("python", "-m", "pip", "-q", *words)

    def files(self):
        return {path for path in self.folder.rglob("*") if "pip" not in path.parts}

    @property
    def packages(self):
        return next(self.folder.glob("lib/python3*/site-packages"))

    def add_torch_of(self, python):
        found = subprocess.run([python, "-c", "import torch; print(torch.__path__[0])"], check=True,
                               capture_output=True, text=True).stdout.strip()
        (self.packages / "torch.pth").write_text(str(pathlib.Path(found).parent))

    def add_torch(self, version, folder):
        self.pip("install", *IMPORTS)
        self.pip("install", "--no-deps", "--only-binary", ":all:", f"torch=={version}.*")
        stubs = make_stubs(self.packages / "torch" / "lib", pathlib.Path(folder) / "stubs")
        if stubs:
            self.variables["LD_LIBRARY_PATH"] = str(stubs)


def use_without_torch(environment):
    environment.run("python", "-c", WITHOUT_TORCH, XML)
    if (environment.packages / "ringlet" / "bin" / "ringlet").exists():
        environment.run("ringlet", "bench", "all_reduce", "-n", "2", "-e", "1M", "--check")
    else:
        print("the package has no tool: that of wheels has")


def wheels_in(folder, temporary):
    """Returns a folder with a wheel: `folder`, or one built from its source, or None."""
    if (folder / "pyproject.toml").exists():
        python = SOURCE / "build" / "venv" / "bin" / "python"
        # The options of ringlet.sh. With others, the compiler cache misses.
        werror = "ON" if os.environ.get("CI") == "true" else "OFF"
        subprocess.run([python, "-m", "pip", "-q", "wheel", "--no-deps", "-w", temporary,
                        f"--config-settings=cmake.define.RINGLET_WERROR={werror}", folder], check=True, cwd=SOURCE,
                       env={**os.environ, "CXX": os.environ.get("CXX", "c++")})
        return temporary
    return folder if list(folder.glob("ringlet-*.whl")) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--torch", metavar="VERSION")
    parser.add_argument("--torch-of", metavar="PYTHON")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wheel_") as temporary:
        wheels = wheels_in(options.folder.resolve(), temporary)
        if wheels is None:
            print(f"NOT RUN wheel: {options.folder} has no wheel of ringlet; ./ringlet.sh wheels makes them")
            sys.exit(SKIPPED)
        environment = Environment(temporary)
        install = ("install", "--no-index", "--find-links", wheels, "ringlet")
        before = environment.files()
        environment.pip(*install)
        use_without_torch(environment)
        environment.pip("uninstall", "-y", "ringlet")
        left = sorted(map(str, environment.files() - before))
        if left:
            sys.exit("uninstalling has left:\n" + "\n".join(left))
        if options.torch:
            environment.add_torch(options.torch, temporary)
        elif options.torch_of:
            environment.add_torch_of(options.torch_of)
        begin = time.monotonic()
        environment.pip(*install)
        script = environment.folder / "all_reduce.py"
        script.write_text(ALL_REDUCE)
        said = environment.run("python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                               script)
        seconds = time.monotonic() - begin
        verified = next(line for line in said.splitlines() if line.startswith("verified: ")).split()
        if options.json:
            print(json.dumps({"torch": verified[1], "extension": verified[2], "install_to_verified_s": seconds}))
        else:
            print(f"torch {verified[1]}, {verified[2]}: {seconds:.1f} s from pip install to the end of the "
                  "verified all-reduces")


if __name__ == "__main__":
    main()
