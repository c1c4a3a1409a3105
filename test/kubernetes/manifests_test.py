#!/usr/bin/env python3
"""Tests the manifests of packaging/kubernetes: manifests_test.py VENV BUILD_DIR [unittest's arguments].

The schemas of Kubernetes accept them, their names fit together, and the command of train.yaml trains on two hosts
in namespaces with the variables of two pods. Without the environment VENV, which validates manifests, ctest lists
the skipped test.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MANIFESTS = sorted((SOURCE / "packaging" / "kubernetes").glob("*.yaml"))
SKIPPED = 77
TIMEOUT_S = 200  # for a hang

VENV = pathlib.Path(sys.argv[1]).absolute()
if sys.prefix != str(VENV):
    python = str(VENV / "bin" / "python")
    if shutil.which(python):
        os.execv(python, [python, *sys.argv])
    print(f"NOT RUN kubernetes: there is no {python}: `./ringlet.sh test` makes it where PyPI can be reached.")
    sys.exit(SKIPPED)

import kubernetes_validate  # noqa: E402
import yaml  # noqa: E402

sys.path.insert(0, str(SOURCE / "test" / "integration"))
sys.argv.pop(1)
import support  # noqa: E402

TORCH = support.BUILD.resolve() / "venv" / "bin" / "python"


def documents(path):
    return {each["kind"]: each for each in yaml.safe_load_all(path.read_text(encoding="utf-8"))}


def rank_of(job):
    return job["spec"]["template"]["spec"]["containers"][0]


class Manifests(unittest.TestCase):
    def each(self):
        self.assertEqual(len(MANIFESTS), 2)
        return [documents(path) for path in MANIFESTS]

    def test_the_schemas_accept_them(self):
        for found in self.each():
            for document in found.values():
                kubernetes_validate.validate(document, "1.37", strict=True)

    def test_a_wrong_field_is_refused(self):
        job = documents(MANIFESTS[0])["Job"]
        job["spec"]["completion"] = 2
        with self.assertRaisesRegex(kubernetes_validate.ValidationError, "completion"):
            kubernetes_validate.validate(job, "1.37", strict=True)

    def test_names_and_counts_fit_together(self):
        for found in self.each():
            job, service = found["Job"], found["Service"]
            name, spec = job["metadata"]["name"], job["spec"]
            self.assertEqual(service["spec"]["clusterIP"], "None")
            self.assertEqual(service["spec"]["selector"], {"job-name": name})
            self.assertEqual(spec["template"]["spec"]["subdomain"], service["metadata"]["name"])
            self.assertEqual((spec["completionMode"], spec["completions"]), ("Indexed", spec["parallelism"]))
            pods = {f"{name}-{index}.{service['metadata']['name']}" for index in range(spec["completions"])}
            text = yaml.safe_dump(rank_of(job))
            self.assertLessEqual(set(re.findall(rf"[\w-]+-[0-9]\.{name}", text)), pods)
            for variable in rank_of(job).get("env", []):
                if variable["name"] == "WORLD_SIZE":
                    self.assertEqual(variable["value"], str(spec["completions"]))

    def test_shell_commands_parse(self):
        for found in self.each():
            command = rank_of(found["Job"])["command"]
            if command[:2] == ["bash", "-ec"]:
                ran = subprocess.run(["bash", "-n"], input=command[2], text=True, capture_output=True)
                self.assertEqual(ran.returncode, 0, ran.stderr)


class TwoPods(unittest.TestCase):
    def setUp(self):
        if subprocess.run(["unshare", "-nmupf", "--mount-proc", "true"], capture_output=True).returncode != 0:
            self.skipTest("no right to create namespaces here")
        if not TORCH.exists():
            self.skipTest(f"{TORCH} is missing: ./ringlet.sh test makes it where PyPI can be reached")

    def run_pods(self, change):
        """Runs the command of train.yaml with its variables, changed by `change`, on two pods. Returns the process
        and the outputs of the pods."""
        job = documents(SOURCE / "packaging" / "kubernetes" / "train.yaml")["Job"]
        rank = rank_of(job)
        mounted = {"/train/ddp.py": SOURCE / "examples" / "pytorch" / "ddp.py", "python3": TORCH}
        command = shlex.join(str(mounted.get(word, word)) for word in rank["command"])
        with tempfile.TemporaryDirectory(prefix="pods_") as folder:
            for index in range(2):
                settings = {each["name"]: each["value"] for each in rank["env"]}
                settings = change({**settings, "JOB_COMPLETION_INDEX": str(index)})
                lines = [f"export {name}={shlex.quote(text)}" for name, text in settings.items()]
                pathlib.Path(folder, f"command-{index}").write_text("\n".join([*lines, f"exec {command}"]) + "\n")
            environment = {name: text for name, text in support.clean_environment(OMP_NUM_THREADS="1").items()
                           if not re.match("RANK|WORLD_SIZE|LOCAL_|MASTER_|PET_|JOB_|SLURM_|PMI|OMPI_", name)}
            ran = subprocess.run(
                ["unshare", "-nmupf", "--kill-child", "--mount-proc", "bash",
                 str(pathlib.Path(__file__).with_name("pods.sh")), folder, job["metadata"]["name"],
                 job["spec"]["template"]["spec"]["subdomain"]],
                env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
            outputs = [path.read_text() for path in sorted(pathlib.Path(folder).glob("output-*"))]
        return ran, outputs

    def check(self, change):
        ran, outputs = self.run_pods(change)
        self.assertEqual(ran.returncode, 0, [ran.stderr, *outputs])
        losses = [float(text) for text in re.findall(r"mean loss ([0-9.]+)", outputs[0])]
        self.assertEqual(len(losses), 3, outputs)
        self.assertLess(losses[2], losses[0])
        self.assertIn("ringlet, 2 ranks", outputs[0])

    def test_the_command_trains_on_two_hosts(self):
        self.check(lambda settings: settings)

    def test_it_trains_with_the_variables_of_the_trainer(self):
        self.check(lambda settings: {
            "PET_NNODES": "2", "PET_NPROC_PER_NODE": "auto", "PET_NODE_RANK": settings["JOB_COMPLETION_INDEX"],
            "PET_MASTER_ADDR": settings["MASTER_ADDR"], "PET_MASTER_PORT": "29400"})

    def test_a_pod_without_the_size_reports_it(self):
        ran, outputs = self.run_pods(lambda settings: {"JOB_COMPLETION_INDEX": settings["JOB_COMPLETION_INDEX"]})
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("set WORLD_SIZE in the pod's env to the completions of the Job", outputs[0])


if __name__ == "__main__":
    support.main()
