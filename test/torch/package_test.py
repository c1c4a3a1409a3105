"""Tests the part of the Python package that needs neither torch nor an extension.

    python package_test.py [-v]
"""
import contextlib
import io
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "python"))

import ringlet  # noqa: E402
from ringlet import _tool  # noqa: E402
from ringlet.environment import as_text, collect_env  # noqa: E402
from ringlet.launchers import rank_variables  # noqa: E402

# The variables of srun of Slurm 22.05 in rank 3 of 4; the first host has three ranks.
SRUN = {"SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "0",
        "SLURM_NODEID": "1", "SLURM_STEP_NUM_NODES": "2", "SLURM_STEP_NODELIST": "a[01-02]",
        "SLURM_STEP_TASKS_PER_NODE": "3,1", "SLURM_JOB_ID": "123456", "SLURM_STEP_ID": "0"}


class Package(unittest.TestCase):
    def test_importing_ringlet_does_not_import_torch(self):
        ran = subprocess.run([sys.executable, "-c", "import ringlet, sys; print('torch' in sys.modules)"],
                             capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual((ran.returncode, ran.stdout), (0, "False\n"), ran.stderr)

    def test_an_unknown_name_is_an_attribute_error(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'optoins'"):
            ringlet.optoins
        self.assertIn("Options", dir(ringlet))

    def test_the_environment_shows_settings_and_hides_secrets(self):
        found = collect_env({"RINGLET_DEBUG": "INFO", "RINGLET_SECRET": "s3cret", "NCCL_COMM_ID": "host:1",
                             "RANK": "3", "HOME": "/root"})
        self.assertEqual(found["settings"], {"NCCL_COMM_ID": "(set)", "RANK": "3", "RINGLET_DEBUG": "INFO",
                                             "RINGLET_SECRET": "(set)"})
        self.assertNotIn("s3cret", as_text(found))
        self.assertIn("  RANK: 3", as_text(found).splitlines())

    def test_the_environment_prints_as_json(self):
        ran = subprocess.run([sys.executable, "-m", "ringlet", "--json"], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(json.loads(ran.stdout)["folder"], str(SOURCE / "python" / "ringlet"))

    def test_a_command_runs_the_tool(self):
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder) / "ringlet"
            shutil.copy("/bin/echo", tool)  # prints its arguments
            ran = subprocess.run([sys.executable, "-m", "ringlet", "bench", "--json"], capture_output=True, text=True,
                                 env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), "PATH": folder})
        self.assertEqual((ran.returncode, ran.stdout), (0, "bench --json\n"), ran.stderr)

    def test_the_tool_of_another_installation_is_found_but_not_a_script(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            for folder, content in ((first, b"#!/usr/bin/python3\n"), (second, b"\x7fELF...")):
                file = pathlib.Path(folder) / "ringlet"
                file.write_bytes(content)
                file.chmod(file.stat().st_mode | stat.S_IXUSR)
            self.assertEqual(_tool.elsewhere(f"{first}::{second}:/nowhere"), pathlib.Path(second) / "ringlet")
            self.assertIsNone(_tool.elsewhere(f"{first}:/nowhere"))

    def test_ncclras_takes_the_arguments_of_nccls_client(self):
        at = ["ras", "--host=localhost", "--port=28028"]
        for given, made in (
                ([], at), (["-f", "json", "-t", "8"], [*at, "--json", "--timeout=8"]),
                (["--format=json", "-v"], [*at, "--json", "--verbose"]), (["-ftext", "-t0"], [*at, "--timeout=0"]),
                (["-h", "::1", "-p", "28029"], ["ras", "--host=::1", "--port=28029"]), (["-m"], [*at, "--monitor=lifecycle"]),
                (["-mall"], [*at, "--monitor=all"]), (["--monitor=trace,lifecycle"], [*at, "--monitor=trace,lifecycle"]),
                (["--version"], ["--version"])):
            self.assertEqual(_tool.ras_arguments(given), made)
        for given in (["-f", "xml"], ["--no-such"], ["more"], ["-p"]):
            with self.assertRaises(SystemExit) as left, contextlib.redirect_stderr(io.StringIO()) as said:
                _tool.ras_arguments(given)
            self.assertEqual(left.exception.code, 1)
            self.assertIn("ncclras: ", said.getvalue())


class Srun(unittest.TestCase):
    def test_srun_gives_the_variables_of_a_rank(self):
        self.assertEqual(rank_variables(SRUN), {
            "RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "a01",
            "MASTER_PORT": "25456"})

    def test_the_address_is_the_first_listed_host(self):
        for nodes, first in (
                ("gpu[08-11,20],login1", "gpu08"), ("a", "a"), ("a,b", "a"), ("n[1-2]-ib,m", "n1-ib"), ("x[3]", "x3"),
                ("r[0-3]n[001-128],m", "r0n001"), ("b,a[1-2]", "b"), ("n[5,1-2]", "n5"), ("a.b-c,d", "a.b-c")):
            self.assertEqual(rank_variables({**SRUN, "SLURM_STEP_NODELIST": nodes})["MASTER_ADDR"], first)
        for nodes in ("", "[", "n[", "n[]", ",a", "n[1", "n]1", "n[[1]]", "n[1]m[", "n 1", "[x]"):
            with self.assertRaisesRegex(RuntimeError, "hosts.*MASTER_ADDR", msg=nodes) as raised:
                rank_variables({**SRUN, "SLURM_STEP_NODELIST": nodes})
            self.assertIn(repr(nodes), str(raised.exception))

    def test_the_local_world_size_follows_the_task_counts(self):
        for counts, found in (("4(x2),3,1(x2)", [4, 4, 3, 1, 1, None]), ("2", [2, None]), ("", [None]), ("x", [None])):
            for node, count in enumerate(found):
                variables = rank_variables({**SRUN, "SLURM_STEP_TASKS_PER_NODE": counts, "SLURM_NODEID": str(node)})
                self.assertEqual(variables.get("LOCAL_WORLD_SIZE"), None if count is None else str(count))

    def test_each_step_of_a_job_has_its_own_port(self):
        ports = {rank_variables({**SRUN, "SLURM_JOB_ID": str(job), "SLURM_STEP_ID": str(step)})["MASTER_PORT"]
                 for job in range(50) for step in range(9)}
        self.assertEqual(len(ports), 50 * 9)
        self.assertTrue(all(22_000 <= int(port) < 32_000 for port in ports))

    def test_a_step_of_one_host_uses_loopback(self):
        self.assertEqual(rank_variables({**SRUN, "SLURM_STEP_NUM_NODES": "1"})["MASTER_ADDR"], "127.0.0.1")

    def test_pmi2_under_srun_is_srun_and_mpich_in_a_job_is_mpich(self):
        pmi = {"PMI_RANK": "3", "PMI_SIZE": "4", "PMI_JOBID": "123456.0"}
        self.assertEqual(rank_variables({**SRUN, **pmi}), rank_variables(SRUN))
        mpich = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}
        self.assertEqual(rank_variables({**SRUN, **mpich})["WORLD_SIZE"], "2")

    def test_a_batch_script_is_a_rank_only_for_one_task(self):
        script = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "7"}
        with self.assertRaisesRegex(RuntimeError, "batch script of a job of 4 tasks.*srun"):
            rank_variables({**script, "SLURM_NTASKS": "4"})
        for tasks in ({}, {"SLURM_NTASKS": "1"}):
            found = rank_variables({**script, **tasks})
            self.assertEqual((found["RANK"], found["WORLD_SIZE"], found["MASTER_ADDR"]), ("0", "1", "127.0.0.1"))

    def test_invalid_variables_are_named(self):
        for change, what in (
                ({"SLURM_PROCID": "x"}, "SLURM_PROCID.*'x'"), ({"SLURM_STEP_NUM_TASKS": "-1"}, "SLURM_STEP_NUM_TASKS.*'-1'"),
                ({"SLURM_PROCID": "4"}, "srun passed an impossible rank: 4 of 4"), ({"SLURM_NODEID": "x"}, "SLURM_NODEID.*'x'"),
                ({"SLURM_DISTRIBUTION": "arbitrary"}, "does not pass the host of rank 0: set MASTER_ADDR")):
            with self.assertRaisesRegex(RuntimeError, what):
                rank_variables({**SRUN, **change})


# The variables that an Indexed Job sets, with those of packaging/kubernetes/train.yaml.
JOB = {"JOB_COMPLETION_INDEX": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "train-0.train"}
# The variables of Kubeflow's Trainer in the second of two pods. The pods belong to an Indexed Job.
TRAINER = {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "1", "PET_NODE_RANK": "1", "PET_MASTER_PORT": "29400",
           "PET_MASTER_ADDR": "run-node-0-0.run", "JOB_COMPLETION_INDEX": "1"}


class Kubernetes(unittest.TestCase):
    def test_a_pod_of_an_indexed_job_is_a_rank(self):
        self.assertEqual(rank_variables(JOB), {
            "RANK": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_PORT": "29500"})
        alone = rank_variables({"JOB_COMPLETION_INDEX": "0", "WORLD_SIZE": "1"})
        self.assertEqual((alone["RANK"], alone["MASTER_ADDR"]), ("0", "127.0.0.1"))

    def test_an_indexed_job_without_size_or_address_names_the_variable(self):
        for missing, cure in (("WORLD_SIZE", "set WORLD_SIZE .*completions"),
                              ("MASTER_ADDR", "set MASTER_ADDR .*index 0, JOB-0.SERVICE")):
            with self.assertRaisesRegex(RuntimeError, cure):
                rank_variables({name: text for name, text in JOB.items() if name != missing})
        with self.assertRaisesRegex(RuntimeError, "impossible rank: 2 of 2"):
            rank_variables({**JOB, "JOB_COMPLETION_INDEX": "2"})

    def test_a_pod_of_the_trainer_has_its_size_and_address(self):
        expected = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
                    "MASTER_ADDR": "run-node-0-0.run", "MASTER_PORT": "29400"}
        for processes in ("1", "auto", "cpu", "gpu"):
            self.assertEqual(rank_variables({**TRAINER, "PET_NPROC_PER_NODE": processes}), expected)
        kept = rank_variables({**TRAINER, "MASTER_ADDR": "h", "MASTER_PORT": "5"})
        self.assertEqual({name for name in expected if name not in kept}, {"MASTER_ADDR", "MASTER_PORT"})

    def test_pods_of_several_ranks_need_torchrun(self):
        for change in ({"PET_NPROC_PER_NODE": "4"}, {"PET_NNODES": "1:3"}):
            with self.assertRaisesRegex(RuntimeError, "start the program with torchrun"):
                rank_variables({**TRAINER, **change})
            self.assertEqual(rank_variables({**TRAINER, **change, "RANK": "1", "WORLD_SIZE": "8"}), {})

    def test_the_training_operator_sets_the_variables_of_torch(self):
        self.assertEqual(rank_variables({"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "job-master-0",
                                         "MASTER_PORT": "23456", "PET_NPROC_PER_NODE": "auto"}), {})

    def test_mpirun_and_srun_in_a_pod_take_precedence(self):
        self.assertEqual(rank_variables({**TRAINER, **SRUN})["RANK"], "3")
        open_mpi = {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "6", "MASTER_ADDR": "h"}
        self.assertEqual(rank_variables({**TRAINER, **open_mpi})["RANK"], "5")


if __name__ == "__main__":
    unittest.main()
