#!/usr/bin/env python3
"""Tests `ringlet topo check` on the named machines, and on variants of them with one defect each.

    topo_check_test.py BUILD_DIR
    topo_check_test.py BUILD_DIR --table     # prints the verdicts as tables, and tests nothing

Each variant states the rule that finds it without an expectation (None: impossible), and the rule
that finds it with `--expect` the original machine.
"""
import concurrent.futures
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import support
from support import TOOL

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MACHINES = ROOT / "machines"
VENDORS = [ROOT / "test" / "fixtures" / "topologies" / folder for folder in ("nvidia", "amd")]


class EditedMachine:
    """A topology file as a tree, with functions that break it."""

    def __init__(self, root):
        self.root = root
        self.above = {child: parent for parent in root.iter() for child in parent}

    def functions(self, tag):
        """Returns the PCI functions with a gpu, or with a nic, in the order of the file."""
        return [pci for pci in self.root.iter("pci") if pci.find(tag) is not None]

    def gpus(self):
        return self.functions("gpu")

    def nics(self):
        return self.functions("nic")

    def switches(self):
        """Returns functions right below a NUMA node with a GPU below them."""
        return [pci for cpu in self.root.iter("cpu") for pci in cpu.findall("pci")
                if pci.find("gpu") is None and any(p.find("gpu") is not None for p in pci.iter("pci"))]

    def remove(self, element):
        self.above[element].remove(element)

    def move(self, element, parent):
        self.remove(element)
        parent.append(element)


def remove_nics(*numbers, driver=False):
    """Removes the cards, or reduces them to the part without a driver."""
    def change(machine):
        nics = machine.nics()
        for pci in [nics[i] for i in numbers] if numbers else nics:
            if driver:
                for nic in pci.findall("nic"):
                    pci.remove(nic)
            else:
                machine.remove(pci)
    return change


def remove_gpu(number):
    def change(machine):
        pci = machine.gpus()[number]
        machine.remove(pci)
        for gpu in machine.root.iter("gpu"):
            for link in list(gpu.findall("nvlink")) + list(gpu.findall("xgmi")):
                if link.get("target") == pci.get("busid"):
                    gpu.remove(link)
        for rank, gpu in enumerate(machine.root.iter("gpu")):
            gpu.set("rank", str(rank))
    return change


def set_link(kind, numbers, width=None, speed=None):
    def change(machine):
        functions = getattr(machine, kind)()
        for pci in [functions[i] for i in numbers] if numbers else functions:
            if width:
                pci.set("link_width", width)
            if speed:
                pci.set("link_speed", speed)
    return change


def set_attribute(tag, name, value, numbers=()):
    def change(machine):
        elements = list(machine.root.iter(tag))
        for element in [elements[i] for i in numbers] if numbers else elements:
            element.set(name, value)
    return change


def take_links(number, count):
    """Removes this number of NVLinks, at both ends if the other end is a GPU."""
    def change(machine):
        pci = machine.gpus()[number]
        link = next(child for child in pci.find("gpu") if child.tag in ("nvlink", "xgmi"))
        ends = [link]
        for other in machine.gpus():
            if other.get("busid") == link.get("target"):
                ends += [back for back in other.find("gpu") if back.get("target") == pci.get("busid")]
        for end in ends:
            end.set("count", str(int(end.get("count")) - count))
    return change


def no_links(number):
    def change(machine):
        gpu = machine.gpus()[number].find("gpu")
        for link in gpu.findall("nvlink"):
            gpu.remove(link)
    return change


def swap_bus_ids(kind_a, a, kind_b, b):
    def change(machine):
        one, other = getattr(machine, kind_a)()[a], getattr(machine, kind_b)()[b]
        first, second = one.get("busid"), other.get("busid")
        one.set("busid", second)
        other.set("busid", first)
        for link in machine.root.iter("nvlink"):
            target = link.get("target")
            link.set("target", {first: second, second: first}.get(target, target))
    return change


def move_switch(number, node):
    def change(machine):
        machine.move(machine.switches()[number], machine.root.findall("cpu")[node])
    return change


def move_function(kind, number, node):
    def change(machine):
        machine.move(getattr(machine, kind)()[number], machine.root.findall("cpu")[node])
    return change


def swap_nodes(a, b):
    def change(machine):
        cpus = machine.root.findall("cpu")
        one, other = cpus[a].get("numaid"), cpus[b].get("numaid")
        cpus[a].set("numaid", other)
        cpus[b].set("numaid", one)
    return change


def same_guid(a, b):
    def change(machine):
        nets = [net for nic in machine.nics() for net in nic.iter("net")]
        nets[b].set("guid", nets[a].get("guid"))
    return change


# Machine, defect, its making, the rules that find it alone and with --expect.
VARIANTS = [
    ("perlmutter-a100", "a NIC on a root port is missing", remove_nics(1), None, "nic-missing"),
    ("perlmutter-a100", "all four NICs on root ports are missing", remove_nics(), None, "nic-missing"),
    ("perlmutter-a100", "a NIC on a root port has no driver", remove_nics(2, driver=True), None, "nic-missing"),
    ("perlmutter-a100", "a NIC runs at half its rate", set_attribute("net", "speed", "100000", (2,)), "nic-rate", "nic-rate"),
    ("perlmutter-a100", "all NICs run at half their rate", set_attribute("net", "speed", "100000"), None, "nic-rate"),
    ("perlmutter-a100", "a GPU is missing", remove_gpu(3), "gpu-missing", "gpu-missing"),
    ("perlmutter-a100", "one NVLink of a pair is down", take_links(0, 1), "nvlinks-fewer", "nvlinks-fewer"),
    ("perlmutter-a100", "the bus ids of two GPUs are swapped", swap_bus_ids("gpus", 0, "gpus", 2), "numa-bus-order", "gpu-numa"),
    ("perlmutter-a100", "a GPU has half its lanes", set_link("gpus", (1,), width="8"), "gpu-pcie", "gpu-pcie"),
    ("perlmutter-a100", "a GPU hangs on another NUMA node", move_function("gpus", 0, 2), "numa-bus-order", "gpu-numa"),
    ("azure-ndv2", "the only NIC is missing", remove_nics(), None, "nic-missing"),
    ("azure-ndv2", "the only NIC has a quarter of its lanes", set_link("nics", (0,), width="4"), None, "nic-pcie"),
    ("azure-ndv2", "the only port runs at a quarter of its rate", set_attribute("net", "speed", "25000"), None, "nic-rate"),
    ("azure-ndv2", "a GPU is missing", remove_gpu(5), "gpu-missing", "gpu-missing"),
    ("dgx-a100-80gb", "a NIC beside a GPU is missing", remove_nics(0), "nic-missing", "nic-missing"),
    ("dgx-a100-80gb", "a port runs at half its rate", set_attribute("net", "speed", "100000", (1,)), "nic-rate", "nic-rate"),
    ("dgx-a100-80gb", "a GPU has lost one NVLink", take_links(2, 1), "nvlinks-fewer", "nvlinks-fewer"),
    ("dgx-a100-80gb", "a GPU has no NVLinks", no_links(7), "nvlinks-none", "nvlinks-none"),
    ("dgx-a100-80gb", "a GPU switch hangs on another NUMA node", move_switch(0, 1), "gpu-numa", "gpu-numa"),
    ("dgx-a100-80gb", "two NUMA nodes are swapped", swap_nodes(0, 1), None, "gpu-numa"),
    ("dgx-a100-80gb", "two NICs have one GUID", same_guid(0, 4), "duplicate-guid", "duplicate-guid"),
    ("dgx-a100-80gb", "the bus ids of GPUs of two switches are swapped", swap_bus_ids("gpus", 0, "gpus", 6), "bus-order", "bus-order"),
    ("dgx-a100-80gb", "the bus ids of a GPU and a NIC are swapped", swap_bus_ids("gpus", 1, "nics", 1), "bus-order", "moved"),
    ("dgx-a100-80gb", "a NIC has half its lanes", set_link("nics", (3,), width="8"), "nic-pcie", "nic-pcie"),
    ("dgx-a100-80gb", "all GPUs run at PCIe 3.0", set_link("gpus", (), speed="8.0 GT/s PCIe"), None, "gpu-pcie"),
    ("oci-h100", "a switch has half its lanes", set_link("switches", (2,), width="8"), "switch-pcie", "switch-pcie"),
    ("oci-h100", "a GPU switch hangs on another NUMA node", move_switch(1, 1), "gpu-numa", "gpu-numa"),
    ("oci-h100", "the bus ids of GPUs of two switches are swapped", swap_bus_ids("gpus", 2, "gpus", 5), "bus-order", "bus-order"),
    ("oci-h100", "two NICs have one GUID", same_guid(0, 6), "duplicate-guid", "duplicate-guid"),
    ("oci-h100", "a GPU is missing", remove_gpu(4), "gpu-missing", "gpu-missing"),
    ("oci-h100", "all ports run at an eighth of their rate", set_attribute("net", "speed", "25000"), None, "nic-rate"),
    ("nebius-h100", "a GPU has half its NVLinks", take_links(3, 9), "nvlinks-fewer", "nvlinks-fewer"),
    ("nebius-h100", "a port has no GPUDirect RDMA", set_attribute("net", "gdr", "0", (5,)), "nic-gdr", "nic-gdr"),
    ("nebius-h100", "no port has GPUDirect RDMA", set_attribute("net", "gdr", "0"), None, "nic-gdr"),
    ("nebius-h100", "a GPU has no GPUDirect RDMA", set_attribute("gpu", "gdr", "0", (1,)), "gpu-gdr", "gpu-gdr"),
    ("nebius-h100", "no GPU has GPUDirect RDMA", set_attribute("gpu", "gdr", "0"), None, "gpu-gdr"),
    ("nebius-h100", "a GPU is at PCIe 1.0", set_link("gpus", (6,), speed="2.5 GT/s PCIe"), "gpu-pcie", "gpu-pcie"),
    ("hgx-b200", "a GPU has lost two NVLinks", take_links(0, 2), "nvlinks-fewer", "nvlinks-fewer"),
    ("hgx-h200", "another model of GPU", set_attribute("pci", "device", "0x2330"), None, "gpu-other-model"),
    ("mi300x", "one xGMI link of a pair is down", take_links(0, 1), "nvlinks-fewer", "nvlinks-fewer"),
    ("mi300x", "a NIC is missing", remove_nics(2), "nic-missing", "nic-missing"),
    ("aws-p4d", "an EFA device is missing", remove_nics(3), "nic-missing", "nic-missing"),
    ("rtx3090-pcie8", "a card has an eighth of its lanes", set_link("gpus", (4,), width="2"), "card-pcie", "card-pcie"),
    ("rtx3090-pcie8", "the only NIC is missing", remove_nics(), None, "nic-missing"),
    ("a100-pcie-nvlink2", "the NVLink bridge is missing", lambda m: (no_links(0)(m), no_links(1)(m)), None, "nvlinks-none"),
    ("dgx-h100", "a port states its rate in kbit/s", set_attribute("net", "speed", "400000000", (3,)), "impossible-rate", "impossible-rate"),
    ("dgx-h100", "a NIC is missing", remove_nics(7), "nic-missing", "nic-missing"),
    ("dgx-h100", "the bus ids of two NICs are swapped", swap_bus_ids("nics", 0, "nics", 7), "bus-order", "bus-order"),
]


def check(path, *words):
    """Returns the exit status, and the rules with findings."""
    done = subprocess.run([TOOL, "topo", "check", path, "--json", *words], text=True, check=False,
                          timeout=2 * support.TIMEOUT_S, env=support.clean_environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, sorted({(one["severity"], one["lint_rule"] or one["rule"]) for one in found})


def in_parallel(function, list_of_arguments):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda arguments: function(*arguments), list_of_arguments))


def healthy_files():
    return sorted(path for folder in [MACHINES, *VENDORS] for path in folder.glob("*.xml"))


def judged_variants(folder):
    """Returns for each variant the verdicts without and with the original machine."""
    jobs = []
    for i, (name, what, change, _, _) in enumerate(VARIANTS):
        machine = EditedMachine(copy.deepcopy(xml.parse(MACHINES / f"{name}.xml").getroot()))
        change(machine)
        path = pathlib.Path(folder) / f"{i:02}.xml"
        path.write_text(xml.tostring(machine.root, encoding="unicode") + "\n", encoding="utf-8")
        jobs += [(path,), (path, "--expect", name)]
    verdicts = in_parallel(check, jobs)
    return list(zip(VARIANTS, verdicts[0::2], verdicts[1::2]))


def alarms(found):
    return [rule for severity, rule in found if severity != "note"]


class Check(support.Case):
    def test_a_named_machine_gives_no_findings(self):
        files = sorted(MACHINES.glob("*.xml"))
        jobs = [(path, "--expect", path.stem) for path in files]
        for path, (status, found) in zip(files, in_parallel(check, jobs)):
            with self.subTest(path.name):
                self.assertEqual((status, found), (0, []))

    def test_each_defect_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for (name, what, _, rule, expected), alone, compared in judged_variants(folder):
                with self.subTest(f"{name}: {what}"):
                    self.assertEqual(alone[0], 1 if rule else 0, alone)
                    if rule:
                        self.assertIn(rule, alarms(alone[1]))
                    self.assertEqual(compared[0], 1, compared)
                    self.assertIn(expected, alarms(compared[1]))

    def test_the_table_has_forty_defects_or_more(self):
        self.assertGreaterEqual(len(VARIANTS), 40)


def print_tables():
    text = lambda verdict: f"{verdict[0]}: " + (", ".join(f"{rule} ({severity})" for severity, rule in verdict[1]) or "healthy")
    files = healthy_files()
    print("| healthy file | verdict |\n|---|---|")
    for path, verdict in zip(files, in_parallel(check, [(path,) for path in files])):
        print(f"| {path.parent.name}/{path.name} | {text(verdict)} |")
    print("\n| machine | defect | alone | with --expect |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for (name, what, *_), alone, compared in judged_variants(folder):
            print(f"| {name} | {what} | {text(alone)} | {text(compared)} |")


if __name__ == "__main__":
    if "--table" in sys.argv:
        print_tables()
    else:
        support.main()
