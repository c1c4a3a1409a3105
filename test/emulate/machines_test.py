#!/usr/bin/env python3
"""Compares the facts from CUDA and NVML under `ringlet emulate --machine` with the file of the
machine, for all named machines: machines_test.py BUILD_FOLDER [unittest's arguments]."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MACHINES = SOURCE / "machines"
FIXTURES = SOURCE / "test/fixtures/topologies"
BUILD = None  # set by main
TIMEOUT_S = 120
HIDDEN = "0fffffff:ff:ff.0"
SWITCH, GPU = "2", "0"
SPEEDS = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6}
LEVEL_SINGLE, LEVEL_MULTIPLE, LEVEL_NODE, LEVEL_SYSTEM = 10, 20, 40, 50
GIBIBYTE = 1 << 30
# Data sheets: product name, memory, multiprocessors, NVLinks.
MODELS = {
    0x1db5: ("Tesla V100-SXM2-32GB", 32, 80), 0x20b0: ("NVIDIA A100-SXM4-40GB", 40, 108),
    0x20b2: ("NVIDIA A100-SXM4-80GB", 80, 108), 0x20b5: ("NVIDIA A100 80GB PCIe", 80, 108),
    0x2204: ("NVIDIA GeForce RTX 3090", 24, 82), 0x2330: ("NVIDIA H100 80GB HBM3", 80, 132),
    0x2335: ("NVIDIA H200", 141, 132), 0x2901: ("NVIDIA B200", 180, 148)}


def run(*words, **more):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("RINGLET_", "NCCL_", "CUDA_", "LD_"))}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S, env={**clean, **more})


def emulate(*words, **more):
    # Avoids the notice for users without namespaces; sysfs_test.py tests it.
    return run(BUILD / "bin/ringlet", "emulate", "--sysfs", "off", *words, **more)


def named():
    listed = json.loads(emulate("--list-machines", "--json").stdout)["machines"]
    return {machine["name"]: machine for machine in listed}


def normal(address):
    """Returns 0000:0f:00.0 for any form."""
    domain, bus, rest = address.lower().split(":")
    device, function = (rest.split(".") + ["0"])[:2]
    return f"{int(domain, 16):04x}:{bus}:{device}.{function}"


class MachineFile:
    """The GPUs of a file, in the order of their numbers."""

    def __init__(self, path):
        self.gpus = []
        for cpu in xml.etree.ElementTree.parse(path).getroot().iter("cpu"):
            self.amd = cpu.get("vendor") == "AuthenticAMD"
            for pci in cpu.findall("pci"):
                self.walk(cpu, pci, [])
        self.gpus.sort(key=lambda gpu: gpu["dev"])

    def walk(self, cpu, pci, above):
        for gpu in pci.findall("gpu"):
            self.gpus.append({"dev": int(gpu.get("dev")), "sm": gpu.get("sm"), "pci": pci, "cpu": cpu,
                              "above": above, "links": gpu.findall("nvlink")})
        for below in pci.findall("pci"):
            self.walk(cpu, below, [*above, pci.get("busid")])

    def links(self, gpu):
        """Returns the remote address and kind of each link."""
        found = []
        for link in gpu["links"]:
            kind = SWITCH if link.get("tclass").startswith("0x068000") else GPU
            target = link.get("target")
            at = HIDDEN if target.startswith("fffffff") else normal(target)
            found += [(at, kind)] * int(link.get("count"))
        return found

    def level(self, a, b):
        if a["cpu"] is not b["cpu"]:
            return LEVEL_SYSTEM
        if not a["above"] or not b["above"] or a["above"][0] != b["above"][0]:
            return LEVEL_NODE
        return LEVEL_SINGLE if a["above"] == b["above"] else LEVEL_MULTIPLE

    def by_link(self, a, b):
        to_b = any(at == normal(b["pci"].get("busid")) for at, _ in self.links(a))
        return to_b or all(any(kind == SWITCH for _, kind in self.links(gpu)) for gpu in (a, b))

    def reaches(self, a, b):
        if self.by_link(a, b):
            return True
        geforce = any(int(gpu["pci"].get("device"), 16) == 0x2204 for gpu in (a, b))
        return not geforce and (self.amd or self.level(a, b) != LEVEL_SYSTEM)


class Facts:
    """The output of the program."""

    def __init__(self, text):
        self.lines = text.splitlines()

    def of(self, library, number, what):
        start = f"{library} {number} {what} "
        found = [line[len(start):] for line in self.lines if line.startswith(start)]
        return found[0] if found else None

    def all(self, kind, *numbers):
        start = " ".join(str(word) for word in (kind, *numbers)) + " "
        return [line[len(start):].split() for line in self.lines if line.startswith(start)]


class NamedMachines(unittest.TestCase):
    def expect_gpu(self, facts, machine, gpu):
        number, pci = gpu["dev"], gpu["pci"]
        name, gib, processors = MODELS[int(pci.get("device"), 16)]
        for library in ("cuda", "nvml"):
            self.assertEqual(facts.of(library, number, "name"), name)
            self.assertEqual(normal(facts.of(library, number, "pci")), normal(pci.get("busid")))
            self.assertEqual(facts.of(library, number, "capability"), gpu["sm"])
            self.assertEqual(int(facts.of(library, number, "memory")), gib * GIBIBYTE)
        self.assertEqual(int(facts.of("cuda", number, "processors")), processors)
        numa = int(gpu["cpu"].get("numaid"))
        self.assertEqual(int(facts.of("cuda", number, "numa")), numa)
        self.assertEqual(facts.of("nvml", number, "numa"), str(numa) if numa >= 0 else None)
        ids = "".join(pci.get(part)[2:] for part in ("device", "vendor")) + " " + \
            "".join((pci.get(part) or "0x0000")[2:] for part in ("subsystem_device", "subsystem_vendor"))
        self.assertEqual(facts.of("nvml", number, "ids"), ids)
        speed = re.match(r"([\d.]+?)(?:\.0)? GT/s", pci.get("link_speed") or "")
        generation = str(SPEEDS[speed[1]]) if speed else None
        self.assertEqual(facts.of("nvml", number, "generation"), generation)
        width = pci.get("link_width") or "0"
        self.assertEqual(facts.of("nvml", number, "width"), width if width != "0" else None)
        mask = int((gpu["cpu"].get("affinity") or "0").replace(",", ""), 16)
        self.assertEqual(int(facts.of("nvml", number, "cpus") or "0", 16), mask)

    def expect_links(self, facts, machine, gpu):
        told = collections.Counter((normal(at), kind) for _, at, kind in facts.all("link", gpu["dev"]))
        wanted = collections.Counter((normal(at), kind) for at, kind in machine.links(gpu))
        self.assertEqual(told, wanted)

    def expect_pairs(self, facts, machine, gpu):
        for other in machine.gpus:
            if other is gpu:
                continue
            (can, nvlink, level), = facts.all("pair", gpu["dev"], other["dev"])
            self.assertEqual(int(nvlink), machine.by_link(gpu, other))
            self.assertEqual(int(can), machine.reaches(gpu, other))
            self.assertEqual(int(level), machine.level(gpu, other))

    def test_cuda_and_nvml_report_the_facts_in_the_file(self):
        machines = {name: about for name, about in named().items() if about["cuda"]}
        self.assertGreaterEqual(len(machines), 20)
        for name, about in machines.items():
            with self.subTest(machine=name):
                ran = emulate("--machine", name, "--", BUILD / "bin/machine_program")
                self.assertEqual(ran.returncode, 0, ran.stdout[-500:] + ran.stderr)
                self.assertEqual(ran.stderr, "")
                facts, machine = Facts(ran.stdout), MachineFile(MACHINES / f"{name}.xml")
                self.assertEqual(len(machine.gpus), about["gpus"])
                for gpu in machine.gpus:
                    self.expect_gpu(facts, machine, gpu)
                    self.expect_links(facts, machine, gpu)
                    self.expect_pairs(facts, machine, gpu)

    def test_links_within_a_node_equal_those_of_nvidia_smi(self):
        for name, statement in (("hgx-h200", "hgx_h200_8x_vastai"), ("hgx-b200", "hgx_b200_8x_vastai"),
                                ("perlmutter-a100", "perlmutter_a100_nid001056")):
            facts = Facts(emulate("--machine", name, "--", BUILD / "bin/machine_program").stdout)
            text = (FIXTURES / f"statements/{statement}.topo-m.txt").read_text(encoding="utf-8")
            rows = [line.split() for line in text.splitlines() if re.match(r"GPU\d+\t", line)]
            rows = [row for row in rows if "X" in row]
            for number, row in enumerate(rows):
                gpus = row[1:1 + len(rows)]
                for other, cell in enumerate(gpus):
                    if other == number:
                        continue
                    links = facts.all("link", number)
                    address = normal(facts.of("nvml", other, "pci"))
                    direct = [at for _, at, _ in links if normal(at) == address]
                    behind = [at for _, at, kind in links if kind == SWITCH]
                    self.assertEqual(cell, f"NV{len(direct) or len(behind)}")

    def test_domains_and_c2c_links_equal_those_in_the_file(self):
        # No real file here has an NVLink domain, so this describes a machine with one.
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rack.xml"
            text = run(BUILD / "bin/ringlet", "topo", "dump", "--synthetic", "2 gpu b200-sxm switch").stdout
            path.write_text(text.replace('<gpu dev="1"', '<gpu dev="1" fabric_cluster='
                                         '"0102030405060708090a0b0c0d0e0f10" fabric_clique="5"'),
                            encoding="utf-8")
            facts = Facts(emulate("--machine", path, "--", BUILD / "bin/machine_program").stdout)
            self.assertEqual(facts.all("fabric", 0), [["0", "0", "0" * 32]])
            self.assertEqual(facts.all("fabric", 1), [["3", "5", "0102030405060708090a0b0c0d0e0f10"]])

    def test_our_nvml_reader_recovers_the_machine(self):
        for name in ("dgx-h100", "azure-nc-a100-v4", "gcp-a3-high", "perlmutter-a100"):
            ran = emulate("--machine", name, "--", BUILD / "bin/nvml_reader")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            machine = MachineFile(MACHINES / f"{name}.xml")
            seen = re.findall(r"^gpu (\d+) bus (\S+) sm (\d+)", ran.stdout, re.M)
            self.assertEqual(seen, [(str(gpu["dev"]), normal(gpu["pci"].get("busid")), gpu["sm"])
                                    for gpu in machine.gpus])
            for gpu in machine.gpus:
                links = re.findall(rf"^nvlink {gpu['dev']} count (\d+) target (\S+)", ran.stdout, re.M)
                told = {target.replace("hidden", HIDDEN): int(count) for count, target in links}
                self.assertEqual(told, collections.Counter(at for at, _ in machine.links(gpu)))

    def test_each_file_is_generated_from_its_source(self):
        ran = run(sys.executable, SOURCE / "tools/machines.py", BUILD / "bin/ringlet", "--check")
        self.assertEqual((ran.returncode, ran.stdout), (0, ""), ran.stderr)

    def test_each_file_is_valid_and_can_be_planned(self):
        for name, about in named().items():
            with self.subTest(machine=name):
                lint = run(BUILD / "bin/ringlet", "topo", "lint", about["path"])
                self.assertEqual(lint.returncode, 0, lint.stdout)
                for hosts in (1, 2):
                    plan = run(BUILD / "bin/ringlet", "plan", about["path"], "--hosts", hosts, "--json")
                    self.assertEqual(plan.returncode, 0, plan.stderr)
                    made = json.loads(plan.stdout)
                    self.assertEqual((made["gpus"], made["hosts"]), (about["gpus"], hosts))
                    self.assertGreater(made["final_channels"], 0)


class Choice(unittest.TestCase):
    """Tests the values of --machine beside names."""

    def environment(self, *options, program=("sh", "-c", "echo $RINGLET_MACHINE; cat $RINGLET_MACHINE"),
                    **more):
        ran = emulate(*options, "--", *program, **more)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        path, _, text = ran.stdout.partition("\n")
        return pathlib.Path(path), text

    def test_a_name_selects_its_file(self):
        path, _ = self.environment("--machine", "dgx-a100")
        self.assertEqual(path.resolve(), MACHINES / "dgx-a100.xml")

    def test_a_whole_file_is_named_by_its_absolute_path(self):
        file = FIXTURES / "nvidia/nc48v4.topo.xml"
        path, _ = self.environment("--machine", os.path.relpath(file))
        self.assertEqual(path, file)

    def test_the_file_of_a_description_is_removed_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            for options in ((), ("-n", "2")):
                path, text = self.environment("--machine", "2 gpu a10g", *options, TMPDIR=folder)
                self.assertIn(folder, str(path))
                self.assertIn("<gpu", text)
                self.assertEqual(os.listdir(folder), [])

    def test_the_tool_ends_like_the_program_after_removing_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for script, status in (("exit 7", 7), ("kill -9 $$", -9), ("kill -TERM $PPID; sleep 60", -15)):
                ran = emulate("--machine", "2 gpu a10g", "--", "sh", "-c", script, TMPDIR=folder)
                self.assertEqual(ran.returncode, status, ran.stderr)
            ran = emulate("--machine", "2 gpu a10g", "--", "/nowhere/no-such-program", TMPDIR=folder)
            self.assertEqual(ran.returncode, 127)
            self.assertIn("/nowhere/no-such-program", ran.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_the_setting_accepts_the_names_of_the_option(self):
        path, _ = self.environment(RINGLET_MACHINE="dgx-a100")
        self.assertEqual(path.resolve(), MACHINES / "dgx-a100.xml")

    def test_devices_are_the_first_of_the_machine(self):
        ran = emulate("--machine", "dgx-h100", "--devices", 3, "--", BUILD / "bin/machine_program")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(len(re.findall(r"^cuda \d+ name", ran.stdout, re.M)), 3)

    def test_hidden_devices_keep_their_addresses(self):
        script = ("import ctypes; c = ctypes.CDLL('libcudart.so.13'); t = ctypes.create_string_buffer(32);"
                  "assert c.cudaDeviceGetPCIBusId(t, 32, 0) == 0; print(t.value.decode())")
        ran = emulate("--machine", "dgx-h100", "--", sys.executable, "-c", script, CUDA_VISIBLE_DEVICES="2")
        self.assertEqual(ran.stdout, "0000:52:00.0\n", ran.stderr)

    def test_an_invalid_file_ends_the_program_with_its_name(self):
        script = "import ctypes; ctypes.CDLL('libcudart.so.13').cudaGetDeviceCount(None)"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bad.xml"
            path.write_text("<system version='1'>", encoding="utf-8")
            ran = emulate("--", "env", f"RINGLET_MACHINE={path}", sys.executable, "-c", script)
            self.assertEqual(ran.returncode, 1)
            self.assertIn(str(path), ran.stderr)

    def test_a_machine_selects_the_policy_of_nccl(self):
        for options, wanted in ((("--machine", "dgx-a100"), "compat"),
                                (("--machine", "dgx-a100", "--policy", "best"), "best"), ((), "")):
            ran = emulate(*options, "--", "sh", "-c", "echo $RINGLET_PLAN_POLICY")
            self.assertEqual(ran.stdout.strip(), wanted)


class Ranks(unittest.TestCase):
    SCRIPT = ("echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE host $RINGLET_EMULATE_HOST "
              "$RINGLET_HOSTID devices $RINGLET_EMULATE_DEVICES")

    def lines(self, *options):
        ran = emulate(*options, "--", "sh", "-c", self.SCRIPT)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return sorted(ran.stdout.splitlines())

    def test_two_hosts_have_two_ranks_each(self):
        lines = self.lines("--machine", "perlmutter-a100", "-n", 4, "--hosts", 2)
        ids = [line.split()[5] for line in lines]
        self.assertEqual(ids[0], ids[1])
        self.assertNotEqual(ids[1], ids[2])
        self.assertEqual(lines[0], f"[0] 0/4 0/2 host 0 {ids[0]} devices 4")
        self.assertEqual(lines[3], f"[3] 3/4 1/2 host 1 {ids[2]} devices 4")

    def test_without_a_count_each_host_has_a_rank(self):
        lines = self.lines("--machine", "perlmutter-a100", "--hosts", 2)
        self.assertEqual(len(lines), 2)
        self.assertIn("[1] 1/2 0/1 host 1 ", lines[1])

    def test_two_launches_have_separate_hosts(self):
        ids = {line.split()[5] for _ in range(2) for line in self.lines("--hosts", 2)}
        self.assertEqual(len(ids), 4)

    def test_ranks_of_a_single_host_keep_the_real_host_id(self):
        for line in self.lines("-n", 2):
            self.assertRegex(line, r"^\[\d\] \d/2 \d/2 host 0 devices 8$")

    def test_devices_of_two_hosts_differ(self):
        script = ("import ctypes, os; n = ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2();"
                  "h = ctypes.c_void_p(); t = ctypes.create_string_buffer(96);"
                  "n.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(h));"
                  "n.nvmlDeviceGetUUID(h, t, 96); print(t.value.decode())")
        ran = emulate("--hosts", 2, "--", sys.executable, "-c", script)
        self.assertEqual(len({line.split()[1] for line in ran.stdout.splitlines()}), 2, ran.stderr)

    def test_ranks_of_two_hosts_reduce_over_the_network(self):
        # Memory of one host alone is not enough: the links between hosts are refused.
        for links, status in (("auto", 0), ("shm", 1)):
            ran = emulate("--machine", "perlmutter-a100", "-n", 4, "--hosts", 2, "--",
                          BUILD / "bin/host_ranks", RINGLET_LINKS=links, RINGLET_TIMEOUT="20")
            self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
            self.assertEqual(ran.stdout.count("right"), 0 if status else 4)

    def test_ranks_of_one_process_use_their_chosen_devices(self):
        gpus = {gpu["dev"]: normal(gpu["pci"].get("busid"))
                for gpu in MachineFile(MACHINES / "dgx-h100.xml").gpus}
        for visible in ("0,1,2,3,4,5,6,7", "5,0,3"):
            ran = emulate("--machine", "dgx-h100", "--", BUILD / "bin/group_ranks",
                          CUDA_VISIBLE_DEVICES=visible, RINGLET_DEBUG="INFO", RINGLET_TIMEOUT="20")
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            devices = [int(device) for device in reversed(visible.split(","))]
            self.assertIn(f"{len(devices)} ranks: right", ran.stdout)
            told = re.findall(r"rank (\d+) nranks \d+ .* busId (\w+) .*Init COMPLETE", ran.stdout + ran.stderr)
            self.assertEqual({int(rank): bus for rank, bus in told},
                             {rank: self.bus_number(gpus[device]) for rank, device in enumerate(devices)})

    def test_devices_have_the_numbers_of_cuda(self):
        # Also without a machine; the program checks.
        ran = emulate("--devices", 8, "--", BUILD / "bin/group_ranks",
                      CUDA_VISIBLE_DEVICES="5,0,3", RINGLET_TIMEOUT="20")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        ran = emulate("--machine", "dgx-h100", "--", BUILD / "bin/group_ranks",
                      CUDA_VISIBLE_DEVICES="5,0,3", RINGLET_DEBUG="INFO", RINGLET_TIMEOUT="20")
        self.assertIn("cudaDev 0 nvmlDev 5 ", ran.stdout + ran.stderr)

    @staticmethod
    def bus_number(address):
        """Returns 0000:0f:00.0 in the form of communicators: f000."""
        return f"{int(re.sub('[:.]', '', address), 16):x}"

    def test_a_failure_ends_the_other_ranks(self):
        ran = emulate("--hosts", 2, "--", "sh", "-c", "[ $RANK = 1 ] && exit 7; sleep 3600")
        self.assertEqual(ran.returncode, 7)
        self.assertIn("rank 1 exited with status 7", ran.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
