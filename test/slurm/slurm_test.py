#!/usr/bin/env python3
"""Runs programs under Slurm on two hosts: PyTorch's by ringlet.from_launcher(), those of
ringlet.Communicator, and C programs.

    slurm_test.py BUILD_DIR

It starts Debian's Slurm itself, in namespaces (cluster.sh), and ends it. Without Slurm, the right
to create namespaces, or the environment with PyTorch, ctest lists the skipped tests.
"""
import ctypes.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import uuid

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "test" / "integration"))
import support  # noqa: E402

PYTHON = support.BUILD.resolve() / "venv" / "bin" / "python"
FIRST = support.BUILD.resolve() / "bin" / "example_first"
PROGRAMS = "munged slurmctld slurmd srun sbatch ip nsenter".split()
RANK = textwrap.dedent("""
    import json, os, socket, sys
    import ringlet
    ringlet.from_launcher()
    import torch
    import torch.distributed as dist
    dist.init_process_group("ringlet")
    tensor = torch.tensor([float(dist.get_rank() + 1)])
    dist.all_reduce(tensor)
    dist.barrier()
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR")
    found = {name: os.environ.get(name) for name in names}
    print("FOUND", json.dumps({**found, "host": socket.gethostname(), "sum": tensor.item()}), flush=True)
    dist.destroy_process_group()
""")
# Without PyTorch and NumPy: the buffers are arrays of ctypes.
COMMUNICATOR = textwrap.dedent("""
    import ctypes, json, socket, sys
    import ringlet
    with ringlet.Communicator.from_launcher(timeout=60) as comm:
        total = (ctypes.c_int64 * 1)()
        comm.all_reduce((ctypes.c_int64 * 1)(comm.rank + 1), total)
        found = {"rank": comm.rank, "size": comm.size, "sum": total[0],
                 "hosts": comm.all_gather_object(socket.gethostname()),
                 "imported": [name for name in ("torch", "numpy") if name in sys.modules]}
    print("FOUND", json.dumps(found), flush=True)
""")


class Cluster:
    """A cluster during the lifetime of the object; `run` runs a program in the place of srun."""

    def __init__(self, mark):
        self._folder = tempfile.TemporaryDirectory(prefix="slurm_")
        self.folder = pathlib.Path(self._folder.name)
        self.environment = support.clean_environment(**{support.MARK: mark})
        for name in list(self.environment):
            if name.startswith(("SLURM_", "PMI", "OMPI_", "RANK", "WORLD_SIZE", "LOCAL_", "MASTER_")):
                del self.environment[name]
        self.process = subprocess.Popen(
            ["unshare", "-nmupf", "--kill-child", "--mount-proc", "bash",
             str(pathlib.Path(__file__).with_name("cluster.sh")), str(self.folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line == "READY\n":
                break
        else:
            self.end()
            raise OSError("".join(said))
        pid = self.process.pid
        self.inside = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]

    def run(self, *words, **settings):
        environment = {**self.environment, "SLURM_CONF": str(self.folder / "slurm.conf"), "OMP_NUM_THREADS": "1",
                       **settings}
        return subprocess.run(
            ["nsenter", "--target", self.inside, "--net", "--uts", "--mount", "--pid", *map(str, words)],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)

    def end(self):
        self.process.stdin.close()
        self.process.wait(support.TIMEOUT_S)
        self.process.stdout.close()
        self._folder.cleanup()


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [name for name in PROGRAMS if not shutil.which(name)]
        if missing:
            raise unittest.SkipTest(f"no {', '.join(missing)} here: apt-get install slurmctld slurmd slurm-client munge")
        if subprocess.run(["unshare", "-nmupf", "--mount-proc", "true"], capture_output=True).returncode != 0:
            raise unittest.SkipTest("no right to make namespaces here")
        cls.mark = uuid.uuid4().hex
        cls.cluster = Cluster(cls.mark)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()
        left = [pid for pid in support.Case.marked(cls) if not support.await_end(pid)]
        if left or cls.cluster.folder.exists():
            raise AssertionError(f"the cluster has left processes {left}, or its folder {cls.cluster.folder}")

    def need_pytorch(self):
        if not PYTHON.exists():
            self.skipTest(f"there is no {PYTHON}: ./ringlet.sh test makes it where PyTorch can be had")

    def need_pmix(self):
        known = self.cluster.run("srun", "--mpi=list")
        if "pmix" not in known.stdout + known.stderr or not ctypes.util.find_library("pmix"):
            self.skipTest("Slurm's plug-in for PMIx is not here, or no libpmix.so.2: apt-get install libpmix2")

    def found(self, ran):
        """Returns the findings of all ranks of a step, in the order of their lines."""
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return [json.loads(line.partition(" ")[2]) for line in ran.stdout.splitlines() if line.startswith("FOUND ")]

    def srun(self, *words, **settings):
        """Returns the findings of each rank of RANK, by rank."""
        self.need_pytorch()
        found = self.found(self.cluster.run("srun", *words, PYTHON, "-c", RANK, **settings))
        return sorted(found, key=lambda each: int(each["RANK"]))

    def communicator(self, *words, **settings):
        """Returns the ended step of COMMUNICATOR, which uses the build's library and the Python of this test."""
        program = self.cluster.folder / "communicator.py"
        program.write_text(COMMUNICATOR)
        return self.cluster.run("srun", *words, sys.executable, program, PYTHONPATH=str(SOURCE / "python"),
                                LD_LIBRARY_PATH=str(support.BUILD.resolve() / "lib"), **settings)

    def check_communicator(self, ran, hosts):
        size = len(hosts)
        expected = [{"rank": rank, "size": size, "sum": size * (size + 1) // 2, "hosts": hosts, "imported": []}
                    for rank in range(size)]
        self.assertEqual(sorted(self.found(ran), key=lambda each: each["rank"]), expected)

    def check(self, found, hosts):
        """`hosts` has each rank's host; local ranks and sums follow from it."""
        self.assertEqual([each["host"] for each in found], hosts)
        size = len(hosts)
        for rank, each in enumerate(found):
            self.assertEqual((each["RANK"], each["WORLD_SIZE"]), (str(rank), str(size)))
            self.assertEqual(each["LOCAL_RANK"], str(hosts[:rank].count(hosts[rank])))
            self.assertEqual(each["LOCAL_WORLD_SIZE"], str(hosts.count(hosts[rank])))
            self.assertEqual(each["sum"], size * (size + 1) / 2)

    def test_srun_distributes_tasks_unequally_over_hosts(self):
        found = self.srun("-N2", "-n4")
        self.check(found, ["a01", "a01", "a01", "a02"])
        self.assertEqual({each["MASTER_ADDR"] for each in found}, {"a01"})

    def test_srun_distributes_ranks_cyclically(self):
        self.check(self.srun("-N2", "-n4", "-m", "cyclic"), ["a01", "a02", "a01", "a01"])

    def test_srun_uses_one_host_that_is_not_the_first(self):
        found = self.srun("-w", "a02", "-n2")
        self.check(found, ["a02", "a02"])
        self.assertEqual({each["MASTER_ADDR"] for each in found}, {"127.0.0.1"})

    def test_srun_starts_two_components(self):
        self.check(self.srun("-n1", PYTHON, "-c", RANK, ":", "-n2"), ["a01", "a02", "a02"])

    def test_srun_works_with_pmi2(self):
        self.check(self.srun("--mpi=pmi2", "-N2", "-n3"), ["a01", "a01", "a02"])

    def test_srun_works_with_pmix(self):
        self.need_pmix()
        found = self.srun("--mpi=pmix", "-N2", "-n4")
        self.check(found, ["a01", "a01", "a01", "a02"])
        self.assertEqual({each["MASTER_ADDR"] for each in found}, {"10.77.0.11"})

    def test_an_arbitrary_order_of_ranks_needs_an_address(self):
        self.need_pytorch()
        order = self.cluster.folder / "order"
        order.write_text("a02\na01\na02\n")
        ran = self.cluster.run("srun", "-m", "arbitrary", "-n3", PYTHON, "-c", RANK, SLURM_HOSTFILE=str(order))
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("does not pass the host of rank 0: set MASTER_ADDR", ran.stderr)
        found = self.srun("-m", "arbitrary", "-n3", SLURM_HOSTFILE=str(order), MASTER_ADDR="a02")
        self.check(found, ["a02", "a01", "a02"])

    def test_steps_of_a_batch_script_run_at_one_time(self):
        self.need_pytorch()
        script = self.cluster.folder / "script"
        program = self.cluster.folder / "rank.py"
        program.write_text(RANK)
        script.write_text(f"#!/bin/sh\n{PYTHON} {program} 2>&1 | grep RuntimeError:\n"
                          f"for step in 1 2; do srun --exact -N2 -n2 {PYTHON} {program} & done\nwait\n")
        output = self.cluster.folder / "output"
        ran = self.cluster.run("sbatch", "--wait", "-N2", "-n4", "-o", output, script)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = output.read_text().splitlines()
        self.assertIn("batch script of a job of 4 tasks", lines[0])
        self.assertEqual(len([line for line in lines if line.startswith("FOUND ")]), 4, output.read_text())

    def test_srun_forms_a_communicator_without_pytorch(self):
        for hosts, words in ((["a01", "a01", "a01", "a02"], ["-N2", "-n4"]),
                             (["a01", "a02", "a01", "a01"], ["-N2", "-n4", "-m", "cyclic"]),
                             (["a02", "a02"], ["-w", "a02", "-n2"]),
                             (["a01", "a01", "a02"], ["--mpi=pmi2", "-N2", "-n3"])):
            with self.subTest(" ".join(words)):
                self.check_communicator(self.communicator(*words), hosts)

    def test_a_communicator_meets_through_pmix(self):
        self.need_pmix()
        # No rank connects to this address, because PMIx carries the id.
        ran = self.communicator("--mpi=pmix", "-N2", "-n4", MASTER_ADDR="unknown.invalid")
        self.check_communicator(ran, ["a01", "a01", "a01", "a02"])

    def test_a_communicator_in_an_arbitrary_order_needs_an_address(self):
        order = self.cluster.folder / "order"
        order.write_text("a02\na01\na02\n")
        words = ["-m", "arbitrary", "-n3"]
        ran = self.communicator(*words, SLURM_HOSTFILE=str(order))
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("does not pass the host of rank 0: set MASTER_ADDR", ran.stderr)
        ran = self.communicator(*words, SLURM_HOSTFILE=str(order), MASTER_ADDR="a02")
        self.check_communicator(ran, ["a02", "a01", "a02"])

    def test_a_c_program_sums_its_ranks(self):
        ran = self.cluster.run(
            "srun", "-N2", "-n4", "sh", "-c", f"RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS exec {FIRST}",
            NCCL_COMM_ID="a01:29500", RINGLET_SECRET="of a test")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(sorted(ran.stdout.splitlines()), [f"rank {rank} of 4: the sum is 6" for rank in range(4)])


if __name__ == "__main__":
    support.main()
