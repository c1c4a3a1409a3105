#!/usr/bin/env python3
"""Runs `ringlet doctor` on defective hosts in network namespaces, and checks its findings.

    doctor_test.py BUILD_DIR

Each host is a network namespace at one bridge, with a host name, an /etc/hosts and, if a test needs
it, a /dev/shm of its own. Needs iproute2 and the right to create namespaces; ctest skips the test
without that right. Tests of nftables, sshd and mpirun need those.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import support
from support import TOOL

TIMEOUT_S = 20  # for a host that does not answer


def ip(*words):
    done = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(map(str, words))}: {done.stderr.strip()}")


class Doctor(support.Case):
    """A switch with hosts; `--ssh` is a script that enters a host."""

    def setUp(self):
        super().setUp()
        if not shutil.which("ip"):
            self.fail("there is no program `ip` here, with which networks are laid: install iproute2")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.switch = self.space("switch")
        self.ip("switch", "link", "add", "bridge", "type", "bridge")
        self.ip("switch", "link", "set", "bridge", "up")
        self.hosts = []
        # Plays ssh: the host and a command for its shell. A script of the host enters it.
        self.ssh = self.folder / "enter"
        self.ssh.write_text(f'#!/bin/sh\nexec sh "{self.folder}/$1.sh" "$2"\n')
        self.ssh.chmod(0o755)

    def space(self, side):
        name = f"ringlet-{os.getpid()}-{side}"
        try:
            ip("netns", "add", name)
            self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
            ip("-n", name, "link", "set", "lo", "up")
        except OSError as error:
            self.skipTest(f"no right to make network namespaces here: {error}")
        return name

    def ip(self, side, *words):
        ip("-n", f"ringlet-{os.getpid()}-{side}", *words)

    def execute(self, side, *words, **options):
        return subprocess.run(["ip", "netns", "exec", f"ringlet-{os.getpid()}-{side}", *words],
                              check=True, capture_output=True, text=True, **options)

    def lay(self, *hosts):
        """Creates hosts by name, with the addresses 10.78.0.1, 10.78.0.2, ..."""
        for number, host in enumerate(hosts, 1):
            self.space(host)
            self.ip("switch", "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns",
                    f"ringlet-{os.getpid()}-{host}")
            self.ip("switch", "link", "set", host, "master", "bridge", "up")
            self.ip(host, "addr", "add", f"10.78.0.{number}/24", "dev", "eth0")
            self.ip(host, "link", "set", "eth0", "up")
            self.enter_by(host)
        self.hosts = list(hosts)
        self.name_hosts()

    def name_hosts(self, **instead):
        """Writes an /etc/hosts for each; `instead` has the address of a host for itself."""
        for host in self.hosts:
            lines = ["127.0.0.1 localhost"]
            for number, other in enumerate(self.hosts, 1):
                address = instead.get(host) if other == host else None
                lines.append(f"{address or f'10.78.0.{number}'} {other}")
            (self.folder / f"{host}.hosts").write_text("\n".join(lines) + "\n")

    def enter_by(self, host, *before, command='exec sh -c "$1"'):
        """`before`: lines of shell to run on the host first."""
        inner = "\n".join([f"hostname {host}", f"mount --bind {self.folder}/{host}.hosts /etc/hosts",
                           *before, command])
        (self.folder / f"{host}.inner").write_text(inner + "\n")
        (self.folder / f"{host}.sh").write_text(
            f"exec ip netns exec ringlet-{os.getpid()}-{host} unshare -m -u "
            f'sh "{self.folder}/{host}.inner" "$1"\n')

    def tool(self, *arguments, **settings):
        return self.run_to_end(TOOL, "doctor", "--hosts", ",".join(self.hosts), "--ssh", self.ssh,
                               *arguments, **settings)

    def examine(self, *arguments, **settings):
        """Returns the findings, as objects, and the exit status."""
        program = self.tool("--json", *arguments, **settings)
        lines = [json.loads(line) for line in program.lines]
        self.assertEqual(program.error_lines, [], program.text())
        return [line for line in lines if line.get("verdict", "ok") != "ok"], program.status

    def find_one(self, findings, check, host, verdict, words):
        found = [one for one in findings if one["check"] == check and one["host"] == host]
        self.assertTrue(found, f"no finding of {check} at {host}: {findings}")
        self.assertEqual(found[0]["verdict"], verdict, found[0])
        self.assertRegex(found[0]["reason"], words)
        self.assertTrue(found[0]["cure"])


class Well(Doctor):
    def when_quiet(self, examine):
        """Repeats up to three times until other programs slow no direction; returns the output."""
        for _ in range(3):
            said, silent = examine()
            if silent:
                break
        return said

    def test_a_healthy_set_gives_no_findings(self):
        self.lay("alpha", "beta")

        def findings():
            found, status = self.examine("--fail-on", "note")
            return (found, status), not found

        def words():
            text = self.tool()
            return text, text.lines[-1].endswith("nothing found")

        self.assertEqual(self.when_quiet(findings), ([], 0))
        text = self.when_quiet(words)
        self.assertEqual(text.lines[-1], "2 hosts: nothing found", text.text())
        self.assertEqual(len(text.lines), 20, text.text())

    def test_five_healthy_hosts_give_no_findings(self):
        self.lay("alpha", "beta", "gamma", "delta", "epsilon")

        def findings():
            found, status = self.examine("--fail-on", "note")
            return (found, status), not found

        self.assertEqual(self.when_quiet(findings), ([], 0))

    def test_each_pair_and_host_has_figures(self):
        self.lay("alpha", "beta", "gamma")
        lines = [json.loads(line) for line in self.tool("--json").lines]
        pairs = {(one["from"], one["to"]): one for one in lines if "from" in one}
        self.assertEqual(len(pairs), 6)
        for pair in pairs.values():
            self.assertGreater(pair["bytes_per_s"], 0)
            self.assertGreater(pair["latency_ns"], 0)
            self.assertEqual(pair["passed_bytes"], 1500)
        facts = [one["facts"] for one in lines if "facts" in one]
        self.assertEqual([one["host"] for one in facts], ["alpha", "beta", "gamma"])
        self.assertEqual([one["why"] for one in facts[0]["interfaces"] if one["name"] == "eth0"],
                         ["up, with an address"])

    def test_metrics_name_hosts_and_checks(self):
        self.lay("alpha", "beta")
        text = "\n".join(self.tool("--prometheus").lines)
        self.assertIn('ringlet_doctor_verdict{check="reach"} 0', text)
        self.assertIn('ringlet_doctor_host_answered{host="beta"} 1', text)
        self.assertRegex(text, r'ringlet_doctor_rate_bytes_per_second\{from="alpha",to="beta",nic="0"\}')


class Sick(Doctor):
    def test_a_different_mtu_is_reported(self):
        self.lay("alpha", "beta", "gamma")
        self.ip("beta", "link", "set", "eth0", "mtu", 9000)
        findings, status = self.examine()
        self.assertEqual(status, 1)
        self.find_one(findings, "mtu", "beta", "warning", "is 9000; 1500 on alpha, gamma")

    def test_a_path_that_drops_large_packets_is_reported(self):
        self.lay("alpha", "beta", "gamma")
        self.ip("switch", "link", "set", "beta", "mtu", 1400)
        findings, status = self.examine()
        self.assertEqual(status, 1)
        self.find_one(findings, "path-mtu", "beta to gamma", "warning",
                      "packets of 1400 bytes pass, but packets of 1500 bytes, .* no router reports it")

    def test_a_path_on_which_connections_stall_is_reported(self):
        self.lay("alpha", "beta")
        self.ip("switch", "link", "set", "beta", "mtu", 1400)
        for host in self.hosts:  # bridges forward frames that the kernel splits into packets later
            self.ip(host, "link", "set", "eth0", "gso_max_segs", 1)
        findings, status = self.examine()
        self.assertEqual(status, 1)
        self.find_one(findings, "path-mtu", "beta to alpha", "error",
                      "packets of 1400 bytes pass, but packets of 1500 bytes, .* stalls")

    def test_ranks_report_a_path_that_drops_large_packets(self):
        """The path drops the packets of the examination itself, too, unless those are small."""
        self.lay("alpha", "beta")
        self.ip("switch", "link", "set", "beta", "mtu", 1400)
        for host in self.hosts:
            self.ip(host, "link", "set", "eth0", "gso_max_segs", 1)
        job = {"WORLD_SIZE": "2", "MASTER_ADDR": "10.78.0.1", "MASTER_PORT": "29511"}
        first, other = [
            self.start("sh", self.ssh, host, f"{TOOL} doctor --json", RANK=str(rank), **job)
            for rank, host in enumerate(self.hosts)]
        self.assertEqual(first.wait(), 1, first.text())
        findings = [json.loads(line) for line in first.lines]
        self.find_one([one for one in findings if "reason" in one], "path-mtu", "beta to alpha",
                      "error", "packets of 1400 bytes pass, but packets of 1500 bytes, .* stalls")
        self.assertEqual(other.wait(), 0, other.text())

    def test_a_blackhole_route_is_reported(self):
        self.lay("alpha", "beta")
        self.ip("alpha", "route", "add", "blackhole", "10.78.0.2/32")
        findings, status = self.examine(NCCL_SOCKET_IFNAME="eth0")
        self.assertEqual(status, 1)
        self.find_one(findings, "reach", "alpha to beta", "error",
                      "fails for lack of a route .a blackhole route leads there")
        cure = [one["cure"] for one in findings if one["host"] == "alpha to beta"][0]
        self.assertIn("ip route get 10.78.0.2), or", cure)
        self.assertIn("NCCL_SOCKET_IFNAME", cure)

    def test_a_host_name_on_loopback_is_reported(self):
        self.lay("alpha", "beta")
        self.name_hosts(beta="127.0.1.1")
        findings, status = self.examine()
        self.assertEqual(status, 1)
        self.find_one(findings, "names", "beta", "warning", "beta resolves to loopback, 127.0.1.1")
        self.assertEqual(len(findings), 1)

    def test_a_small_shm_is_reported(self):
        self.lay("alpha", "beta")
        self.enter_by("beta", "mount -t tmpfs -o size=16m tmpfs /dev/shm")
        findings, status = self.examine()
        self.assertEqual(status, 1)
        self.find_one(findings, "shm", "beta", "warning", "/dev/shm has 16 MiB")
        self.assertEqual(len(findings), 1)

    def test_differing_settings_are_reported(self):
        self.lay("alpha", "beta", "gamma")
        self.enter_by("beta", "export NCCL_BUFFSIZE=1048576 RINGLET_TREE_ARITY=4")
        findings, status = self.examine()
        self.assertEqual(status, 1)
        self.find_one(findings, "settings", "beta", "error", "RINGLET_TREE_ARITY 4; it is not set on")
        self.assertEqual({one["reason"].split()[0] for one in findings},
                         {"NCCL_BUFFSIZE", "RINGLET_TREE_ARITY"})

    def test_a_slow_nic_is_reported(self):
        self.lay("alpha", "beta", "gamma", "delta")
        tc = subprocess.run(["tc", "-n", f"ringlet-{os.getpid()}-gamma", "qdisc", "add", "dev", "eth0",
                             "root", "tbf", "rate", "40mbit", "burst", "32k", "latency", "50ms"],
                            capture_output=True, text=True)
        if tc.returncode != 0:
            self.skipTest(f"this kernel has no tbf: {tc.stderr.strip()}")
        findings, status = self.examine()
        self.assertEqual(status, 1)
        self.find_one(findings, "rate", "gamma", "warning", r"it sends at most \d\.\d MB/s")
        self.assertEqual({one["host"] for one in findings if one["check"] == "rate"}, {"gamma"})

    def test_a_slow_nic_is_reported_between_two_hosts(self):
        self.lay("alpha", "beta")
        tc = subprocess.run(["tc", "-n", f"ringlet-{os.getpid()}-beta", "qdisc", "add", "dev", "eth0",
                             "root", "tbf", "rate", "40mbit", "burst", "32k", "latency", "50ms"],
                            capture_output=True, text=True)
        if tc.returncode != 0:
            self.skipTest(f"this kernel has no tbf: {tc.stderr.strip()}")
        findings, _ = self.examine()
        self.find_one(findings, "rate", "beta to alpha", "warning", "in this direction, .* in the other")

    def test_exhausted_ports_are_reported(self):
        self.lay("alpha", "beta")
        self.execute("beta", "sysctl", "-q", "-w", "net.ipv4.ip_local_port_range=40000 40009")
        hold = ("import socket, sys\n"
                "held = [socket.create_server(('0.0.0.0', port)) for port in range(40000, 40010)]\n"
                "print('held', flush=True)\nsys.stdin.read()\n")
        holder = self.start("/usr/bin/env", "ip", "netns", "exec", f"ringlet-{os.getpid()}-beta",
                            "python3", "-c", hold)
        holder.wait_for("held")
        findings, status = self.examine()
        self.assertEqual(status, 1)
        self.find_one(findings, "ports", "beta", "error", "no port between 40000 and 40009 is free")
        self.assertEqual(holder.finish(), 0)

    def test_few_free_ports_are_reported(self):
        self.lay("alpha", "beta")
        self.execute("beta", "sysctl", "-q", "-w", "net.ipv4.ip_local_port_range=40000 40099")
        findings, _ = self.examine()
        self.find_one(findings, "ports", "beta", "warning", r"only \d+ ports between 40000 and 40099 are free")

    def firewall(self, side, verdict):
        if not shutil.which("nft"):
            self.skipTest("there is no program `nft` here, which closes ports: install nftables")
        rules = ("add table ip test; add chain ip test in { type filter hook input priority 0; }; "
                 f"add rule ip test in iifname eth0 tcp flags syn / syn,ack {verdict}")
        self.execute(side, "nft", rules)

    def test_dropped_connections_are_reported(self):
        self.lay("alpha", "beta", "gamma")
        self.firewall("beta", "drop")
        findings, status = self.examine()
        self.assertEqual(status, 1)
        for host in ("alpha", "gamma"):
            self.find_one(findings, "reach", f"{host} to beta", "error", "10.78.0.2.* times out")
        self.assertEqual({one["host"] for one in findings if one["check"] == "reach"},
                         {"alpha to beta", "gamma to beta"})

    def test_rejected_connections_are_reported(self):
        self.lay("alpha", "beta")
        self.firewall("beta", "reject with tcp reset")
        findings, _ = self.examine()
        self.find_one(findings, "reach", "alpha to beta", "error", "refused although the port listens")

    def test_a_host_that_does_not_answer_is_reported(self):
        self.lay("alpha", "beta")
        self.enter_by("beta", command="exec tail -f /dev/null")
        findings, status = self.examine("--timeout", "2")
        self.assertEqual(status, 1)
        self.find_one(findings, "hosts", "beta", "error", "did not answer in time")

    def test_a_host_that_cannot_be_entered_is_reported(self):
        self.lay("alpha", "beta")
        self.enter_by("beta", command="echo no such host >&2; exit 255")
        findings, _ = self.examine()
        self.find_one(findings, "hosts", "beta", "error", "no such host")

    def test_a_host_that_sends_an_invalid_answer_is_reported(self):
        self.lay("alpha", "beta")
        self.enter_by("beta", command="echo Welcome to beta; exec tail -f /dev/null")
        findings, _ = self.examine("--timeout", "2")
        self.find_one(findings, "hosts", "beta", "error", 'but printed "Welcome to beta"')

    def test_a_greeting_of_the_shell_does_not_interfere(self):
        self.lay("alpha", "beta")
        self.enter_by("beta", "echo Welcome to beta")
        findings, status = self.examine()
        self.assertEqual((findings, status), ([], 0))

    def test_a_host_that_stops_during_the_examination_is_reported(self):
        self.lay("alpha", "beta", "gamma")
        # It reports its facts, then stays silent.
        self.enter_by("beta", command='(head -n 1; cat > /dev/null) | sh -c "$1" beta')
        findings, status = self.examine("--timeout", "2")
        self.assertEqual(status, 1)
        self.assertIn(("hosts", "beta"), {(one["check"], one["host"]) for one in findings})


class Ssh(Doctor):
    def setUp(self):
        super().setUp()
        self.sshd = shutil.which("sshd") or "/usr/sbin/sshd"
        if not os.path.exists(self.sshd) or not shutil.which("ssh"):
            self.skipTest("there is no sshd here: install openssh-server")
        if os.geteuid() != 0:
            self.skipTest("sshd needs root")

    def serve(self, host, key):
        """Starts Debian's sshd on a host, for root with `key` only."""
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.folder}/{host}"],
                       check=True)
        config = self.folder / f"{host}.conf"
        config.write_text(
            f"HostKey {self.folder}/{host}\nAuthorizedKeysFile {key}.pub\nStrictModes no\n"
            f"PermitRootLogin yes\nUsePAM no\nPidFile none\nPasswordAuthentication no\n")
        self.enter_by(host, "mkdir -p /run/sshd",
                      command=f'exec {self.sshd} -D -e -f "{config}"')
        server = self.start("/bin/sh", f"{self.folder}/{host}.sh", "-")
        server.wait_for("listening on 0.0.0.0", "error_lines")
        return server

    def test_real_sshd_works_on_each_host(self):
        self.lay("alpha", "beta")
        key = self.folder / "user"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        servers = [self.serve(host, key) for host in self.hosts]
        self.enter_by("alpha")
        ssh = (f"ssh -F none -i {key} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
               "-o LogLevel=ERROR")
        inner = " ".join(f"'{word}'" for word in (TOOL, "doctor", "--hosts", "alpha,beta", "--tool",
                                                  os.path.abspath(TOOL), "--ssh", ssh))
        for more, status, words in (("", 0, "2 hosts: nothing found"),
                                    (" --timeout 5", 0, "nothing found")):
            program = self.run_to_end("/bin/sh", f"{self.folder}/alpha.sh", inner + more)
            self.assertEqual(program.status, status, program.text())
            self.assertIn(words, program.lines[-1])
        for server in servers:
            server.kill()
        program = self.run_to_end("/bin/sh", f"{self.folder}/alpha.sh", inner + " --timeout 5")
        self.assertEqual(program.status, 1)
        self.assertRegex(program.text(), "error +hosts +beta: .*(refused|closed|reset)")


class Ranks(support.Case):
    def test_ranks_of_ringlet_run_are_examined(self):
        program = self.run_to_end(TOOL, "run", "-n", "2", TOOL, "doctor")
        self.assertEqual(program.status, 0, program.text())
        self.assertIsNotNone(program.find(r"\[0\] 1 host: nothing found"), program.text())

    def test_ranks_of_mpirun_are_examined(self):
        """Runs Open MPI and MPICH, if they are installed."""
        programs = [one for one in ("mpirun.openmpi", "mpirun.mpich", "mpirun") if shutil.which(one)]
        if not programs:
            self.skipTest("there is no mpirun here: install openmpi-bin or mpich")
        for program in programs:
            ran = self.run_to_end(
                "/usr/bin/env", program, "-n", "3", TOOL, "doctor", "--json", "--fail-on", "error",
                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_rmaps_base_oversubscribe="1")
            self.assertEqual(ran.status, 0, ran.text())
            facts = [json.loads(line)["facts"] for line in ran.lines if '"facts"' in line]
            self.assertEqual([one["ranks"] for one in facts], [3], ran.text())

    def test_an_absent_rank_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings = {"WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        first = self.start(TOOL, "doctor", "--timeout", "4", RANK="0", **settings)
        other = self.start(TOOL, "doctor", RANK="1", **settings)
        self.assertEqual(first.wait(), 1)
        self.assertIn("error    hosts        rank 2: it did not connect within 4 s", first.lines)
        self.assertEqual(other.wait(), 0, other.text())

    def test_a_stranger_is_not_counted_as_a_rank(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        first = self.start(TOOL, "doctor", "--timeout", "4", RANK="0", RINGLET_SECRET="a", **settings)
        other = self.start(TOOL, "doctor", "--timeout", "4", RANK="1", RINGLET_SECRET="b", **settings)
        self.assertEqual(first.wait(), 1)
        self.assertIsNotNone(first.find("rank 1: it did not connect"))
        self.assertNotEqual(other.wait(), 0)
        self.assertIn("secret", other.text())


if __name__ == "__main__":
    support.main()
