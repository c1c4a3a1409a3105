#!/usr/bin/env python3
"""Compares /sys under `ringlet emulate --machine`, as our own discovery, lspci and hwloc read it,
with the file of the machine: sysfs_test.py BUILD_FOLDER [unittest's arguments]."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MACHINES = SOURCE / "machines"
BUILD = None  # set by main
TIMEOUT_S = 120
NOBODY = 65534
# Facts absent from a /sys: NCCL's plugins supply them, or the user.
NOT_IN_SYS = re.compile(
    r"GPUDirect RDMA|in-network reduction|: the port is 0 in the first|: the (latency|most connections)")
GENERATIONS = {"2.5": "2.5GT/s", "5.0": "5GT/s", "8.0": "8GT/s", "16.0": "16GT/s", "32.0": "32GT/s"}


def run(*words, **more):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("RINGLET_", "NCCL_", "CUDA_", "LD_"))}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S, env={**clean, **more})


def emulate(*words, **more):
    return run(BUILD / "bin/ringlet", "emulate", *words, **more)


def allowed():
    return emulate("--machine", "dgx-a100", "--sysfs", "on", "--", "true").returncode == 0


def machines():
    listed = json.loads(emulate("--list-machines", "--json").stdout)["machines"]
    return [machine["name"] for machine in listed if machine["cuda"]]


def interfaces():
    return [name for _, name in socket.if_nameindex()]


def normal(address):
    domain, bus, rest = address.lower().split(":")
    device, function = (rest.split(".") + ["0"])[:2]
    return f"{int(domain, 16):04x}:{bus}:{device}.{function}"


class Function:
    def __init__(self, element, parent, numa):
        self.element, self.parent, self.numa = element, parent, numa


def functions(name):
    """Returns the PCI functions of a file by address."""
    found = {}

    def walk(element, parent, numa):
        for pci in element.findall("pci"):
            bus = normal(pci.get("busid"))
            found[bus] = Function(pci, parent, numa)
            walk(pci, bus, numa)
    for cpu in xml.etree.ElementTree.parse(MACHINES / f"{name}.xml").getroot().findall("cpu"):
        walk(cpu, None, int(cpu.get("numaid")))
    return found


def virtual_interfaces(name):
    root = xml.etree.ElementTree.parse(MACHINES / f"{name}.xml").getroot()
    return [net.get("name") for cpu in root.findall("cpu") for net in cpu.findall("nic/net")]


def nests(name):
    """Returns true if the buses of a file are within those of the switches above."""
    return all(function.parent is None or function.parent.split(":")[0] == bus.split(":")[0]
               for bus, function in functions(name).items())


@unittest.skipUnless(sys.platform == "linux", "mount namespaces are Linux's")
class Machines(unittest.TestCase):
    def setUp(self):
        if not allowed():
            self.skipTest("this user may not make mount namespaces")

    def test_discovery_recovers_the_file(self):
        here = interfaces()
        for name in machines():
            with self.subTest(machine=name), tempfile.TemporaryDirectory() as folder:
                # The computer's own interfaces stay, so they are left out by name.
                ran = emulate("--machine", name, "--sysfs", "on", "--", BUILD / "bin/ringlet", "topo", "dump",
                              RINGLET_SOCKET_IFNAME="^=" + ",".join(here[:16]))
                self.assertEqual(ran.returncode, 0, ran.stderr)
                again = pathlib.Path(folder) / "again.xml"
                again.write_text(ran.stdout, encoding="utf-8")
                diff = run(BUILD / "bin/ringlet", "topo", "diff", MACHINES / f"{name}.xml", again)
                left_out = [f"interface {one} is only in the first" for one in here]
                left_out += [f"interface {one} (2) is only in the first" for one in here]
                sockets = {net.get("name") for net in xml.etree.ElementTree.parse(
                    MACHINES / f"{name}.xml").getroot().iter("net") if net.get("port") == "0"}
                said = [line for line in diff.stdout.splitlines()
                        if not NOT_IN_SYS.search(line) and line not in left_out]
                # Without hardware they do not carry data between hosts.
                left_out += [f"interface {one} is only in the first" for one in virtual_interfaces(name)]
                said = [line for line in said if line not in left_out]
                # Numbers of interfaces are in the order of their names.
                said = [line for line in said if not any(
                    line.startswith(f"interface {one}: the device number") for one in sockets)]
                self.assertIn(said, ([], ["no difference"], ["the order of the parts differs"]), diff.stdout)

    @unittest.skipUnless(shutil.which("lspci"), "no lspci")
    def test_lspci_shows_the_functions_of_the_file(self):
        for name in machines():
            with self.subTest(machine=name):
                ran = emulate("--machine", name, "--", "lspci", "-Dnvv")
                self.assertEqual(ran.returncode, 0, ran.stderr)
                shown = {}
                for block in ran.stdout.strip().split("\n\n"):
                    shown[normal(block.split(" ", 1)[0])] = block
                for bus, function in functions(name).items():
                    pci, block = function.element, shown[bus]
                    ids = [int(pci.get(key, "0"), 16) for key in ("class", "vendor", "device")]
                    self.assertIn(f" {ids[0] >> 8:04x}: {ids[1]:04x}:{ids[2]:04x}", block.split("\n")[0])
                    self.assertIn(f"NUMA node: {function.numa}", block)
                    speed = pci.get("link_speed", "").split(" ")[0]
                    if speed in GENERATIONS:
                        link = f"Speed {GENERATIONS[speed]}, Width x{pci.get('link_width')}"
                        self.assertIn(f"LnkCap:\tPort #0, {link}", block)
                        self.assertIn(f"LnkSta:\t{link}", block)

    @unittest.skipUnless(shutil.which("lstopo-no-graphics"), "no hwloc")
    def test_hwloc_sees_the_tree_of_switches(self):
        # hwloc uses the numbers of buses, and they are not a tree in files of several domains.
        for name in filter(nests, machines()):
            with self.subTest(machine=name):
                ran = emulate("--machine", name, "--sysfs", "cpus", "--", "lstopo-no-graphics", "--of", "xml",
                              "--whole-io", "--disallowed")
                self.assertEqual(ran.returncode, 0, ran.stderr)
                above, nodes = {}, {}

                def walk(element, parent, numa):
                    node = [one for one in element.findall("object") if one.get("type") == "NUMANode"]
                    numa = int(node[0].get("os_index")) if node else numa
                    for one in element.findall("object"):
                        bus = one.get("pci_busid")
                        if one.get("type") in ("PCIDev", "Bridge") and bus:
                            above[normal(bus)] = parent
                            nodes[normal(bus)] = numa
                            walk(one, normal(bus), numa)
                        else:
                            walk(one, parent, numa)
                walk(xml.etree.ElementTree.fromstring(ran.stdout), None, None)
                in_file = functions(name)
                cpus = {int(cpu.get("numaid")): int(cpu.get("affinity", "0").replace(",", "") or "0", 16)
                        for cpu in xml.etree.ElementTree.parse(
                            MACHINES / f"{name}.xml").getroot().findall("cpu")}
                for bus, function in in_file.items():
                    port = above[bus]
                    # Above each device there is a port, and above that the switch.
                    parent = above.get(port) if port else None
                    self.assertEqual(parent, function.parent, bus)
                    masks = list(cpus.values())
                    if cpus[function.numa] and masks.count(cpus[function.numa]) == 1 and len(cpus) > 1:
                        self.assertEqual(nodes[bus], function.numa, bus)

    def test_nvml_and_sys_report_the_same_facts(self):
        script = (
            "import ctypes, os\n"
            "n = ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2(); c = ctypes.c_uint()\n"
            "n.nvmlDeviceGetCount_v2(ctypes.byref(c))\n"
            "class Pci(ctypes.Structure):\n"
            "  _fields_ = [('old', ctypes.c_char * 16), ('domain', ctypes.c_uint), ('bus', ctypes.c_uint),\n"
            "    ('device', ctypes.c_uint), ('id', ctypes.c_uint), ('sub', ctypes.c_uint), ('bus_id', ctypes.c_char * 32)]\n"
            "for i in range(c.value):\n"
            "  h = ctypes.c_void_p(); p = Pci(); n.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(h))\n"
            "  assert n.nvmlDeviceGetPciInfo_v3(h, ctypes.byref(p)) == 0\n"
            "  f = '/sys/bus/pci/devices/%04x:%02x:%02x.0' % (p.domain, p.bus, p.device)\n"
            "  at = lambda x: int(open(f + '/' + x).read(), 16)\n"
            "  assert at('device') << 16 | at('vendor') == p.id, f\n"
            "print(c.value)\n")
        for name in ("dgx-h100", "azure-nd-h100-v5", "hgx-h200"):
            ran = emulate("--machine", name, "--", sys.executable, "-c", script)
            self.assertEqual((ran.returncode, ran.stdout), (0, "8\n"), ran.stderr)


class Program(unittest.TestCase):
    """Other contents of a machine's /sys."""

    def setUp(self):
        if not allowed():
            self.skipTest("this user may not make mount namespaces")

    def test_the_network_of_the_computer_works(self):
        script = (
            "import os, socket\n"
            "for _, name in socket.if_nameindex(): os.stat('/sys/class/net/%s/address' % name)\n"
            "s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname())\n"
            "s.accept()[0].sendall(b'x'); assert c.recv(1) == b'x'\n"
            "for name in os.listdir('/sys/class/block'): os.stat('/sys/class/block/' + name + '/size')\n"
            "assert open('/sys/kernel/notes', 'rb') and os.path.isdir('/sys/fs')\n"
            "print(os.cpu_count())\n")
        ran = emulate("--machine", "dgx-a100", "--", sys.executable, "-c", script)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout, f"{os.cpu_count()}\n")

    def test_ranks_of_two_hosts_reduce_over_the_network(self):
        ran = emulate("--machine", "perlmutter-a100", "--sysfs", "on", "-n", 4, "--hosts", 2, "--",
                      BUILD / "bin/host_ranks", RINGLET_TIMEOUT="20")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(ran.stdout.count("right"), 4)

    def test_processors_follow_the_machine_on_request(self):
        ran = emulate("--machine", "dgx-h100", "--sysfs", "cpus", "--", sys.executable, "-c",
                      "import os; print(os.cpu_count())")
        cpus = [int(cpu.get("affinity").replace(",", ""), 16) for cpu in xml.etree.ElementTree.parse(
            MACHINES / "dgx-h100.xml").getroot().findall("cpu")]
        self.assertEqual(ran.stdout, f"{bin(cpus[0] | cpus[1]).count('1')}\n")

    def test_a_nested_emulation_shows_its_own_machine(self):
        ran = emulate("--machine", "dgx-h100", "--", BUILD / "bin/ringlet", "emulate", "--machine",
                      "perlmutter-a100", "--sysfs", "on", "--", "ls", "/sys/bus/pci/devices")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        for bus in functions("perlmutter-a100"):
            self.assertIn(bus, ran.stdout)
        self.assertNotIn("0000:1b:00.0", ran.stdout)

    def test_off_shows_the_computer(self):
        ran = emulate("--machine", "dgx-h100", "--sysfs", "off", "--", "ls", "/sys/bus/pci/devices")
        there = pathlib.Path("/sys/bus/pci/devices")
        here = sorted(os.listdir(there)) if there.is_dir() else []
        self.assertEqual(sorted(ran.stdout.split()), here)

    def test_sysfs_on_needs_a_machine(self):
        ran = emulate("--sysfs", "on", "--", "true")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--sysfs on needs a --machine", ran.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs another user to become")
    def test_a_user_other_than_root_keeps_the_identity(self):
        word = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        if run(*word, "unshare", "-Urm", "true").returncode != 0:
            self.skipTest("no user namespaces")
        # The user may not enter the folders above, such as /root.
        seen = ["unshare", "-m", "sh", "-c", 'mount --bind "$1" /mnt && shift && exec "$@"', "sh", BUILD.parent]
        ran = run(*seen, *word, f"/mnt/{BUILD.name}/bin/ringlet", "emulate", "--machine", "dgx-h100", "--sysfs", "on", "--",
                  "sh", "-c", "id -u; id -g; cat /sys/bus/pci/devices/0000:1b:00.0/device; "
                  "umount /sys 2>&1 || true")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue(ran.stdout.startswith(f"{NOBODY}\n{NOBODY}\n0x2330\n"), ran.stdout)

    @unittest.skipUnless(shutil.which("unshare"), "no unshare")
    def test_a_warning_reports_that_namespaces_are_forbidden(self):
        forbid = "echo 0 > /proc/sys/user/max_mnt_namespaces && exec \"$@\""
        word = ["unshare", "-Ur", "sh", "-c", forbid, "sh", BUILD / "bin/ringlet", "emulate",
                "--machine", "dgx-h100"]
        if run("unshare", "-Ur", "sh", "-c", forbid, "sh", "true").returncode != 0:
            self.skipTest("no user namespaces")
        ran = run(*word, "--", "echo", "went on")
        self.assertEqual((ran.returncode, ran.stdout), (0, "went on\n"))
        self.assertRegex(ran.stderr, r"\Aringlet emulate: the program sees this computer's /sys: "
                                     r"cannot make a mount namespace [^\n]*\n\Z")
        ran = run(*word, "--sysfs", "on", "--", "echo", "went on")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("this needs CAP_SYS_ADMIN or user namespaces", ran.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
