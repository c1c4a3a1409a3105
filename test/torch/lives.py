"""Tests processes that end, restart, leave first, or are interrupted while they wait.

    python lives.py [-v] [Restarts.test_name ...]
"""
import contextlib
import io
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from datetime import timedelta

import torch
import torch.distributed as dist

import ringlet
from ours import on_ranks, the_store

FORK = multiprocessing.get_context("fork")
TIMEOUT = timedelta(seconds=30)


def pass_time(store, milliseconds):
    """Waits, like a rank that is busy elsewhere."""
    with contextlib.suppress(RuntimeError):
        store.wait(["nobody sets this"], timedelta(milliseconds=milliseconds))


def wait_for_file(path):
    while not os.path.exists(path):
        os.sched_yield()


class Restarts(unittest.TestCase):
    """Several generations of processes use one store, as after a restart by torchrun."""

    SIZE = 3
    number = 0

    def setUp(self):
        # In a process of its own: a child forked beside the store's thread may find a lock of the C
        # library locked forever.
        self.pipe, theirs = FORK.Pipe()
        self.server = FORK.Process(target=self.serve, args=(theirs,))
        self.server.start()
        self.port = self.pipe.recv()
        self.addCleanup(self.server.join)
        self.addCleanup(self.server.kill)

    def serve(self, pipe):
        store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        pipe.send(store.port)
        pipe.recv()
        pipe.send(store.num_keys())
        pipe.recv()

    def meet(self, store, rank):
        dist.init_process_group("ringlet", store=store, rank=rank, world_size=self.SIZE, timeout=TIMEOUT)

    def use(self, rank):
        """Uses every operation that needs the store."""
        right, left, got = (rank + 1) % self.SIZE, (rank - 1) % self.SIZE, torch.zeros(1)
        sent = dist.isend(torch.full((1,), float(rank)), right)
        dist.recv(got, left)
        sent.wait()
        assert got.item() == left, got
        mine = torch.full((1,), float(rank))
        dist.all_reduce(mine)
        assert mine.item() == sum(range(self.SIZE)), mine
        ringlet.monitored_barrier(timeout=TIMEOUT)
        group = dist.new_group([0, 2])
        if rank != 1:
            dist.barrier(group)

    def child(self, rank, ends, late):
        torch.set_num_threads(1)
        store = dist.TCPStore("127.0.0.1", self.port, is_master=False)
        if ends == "never comes" and rank == 1:
            os._exit(0)
        if rank == late:
            pass_time(store, 700)
        self.meet(store, rank)
        if ends == "is killed unused":
            store.set(f"made {self.number} {rank}", "1")
            store.wait([f"made {self.number} {rank}" for rank in range(self.SIZE)])
        if ends == "destroy":
            self.use(rank)
            return dist.destroy_process_group()
        try:
            if ends not in ("is killed unused", "never comes"):
                self.use(rank)
            if rank == 1:
                if "killed" in ends:
                    os.kill(os.getpid(), signal.SIGKILL)
                os._exit(0)
            if ends == "never comes":
                os._exit(0)
            dist.all_reduce(torch.ones(1))
        except RuntimeError as error:
            # Before the group has connected, rank 2 may learn it from the end of rank 0, which
            # learned it first.
            assert "rank 1" in str(error) or ends == "is killed unused", error
            os._exit(0)
        raise AssertionError("an all_reduce without rank 1 succeeded")

    def generation(self, ends, late):
        self.number += 1
        children = [FORK.Process(target=self.child, args=(rank, ends, late)) for rank in range(self.SIZE)]
        for child in children:
            child.start()
        for rank, child in enumerate(children):
            child.join(90)
            if child.is_alive():
                child.kill()
            expected = -signal.SIGKILL if rank == 1 and "killed" in ends else 0
            self.assertEqual(child.exitcode, expected, f"rank {rank}, which {ends}; late: {late}")

    def test_a_new_generation_recovers_from_any_end_of_the_previous(self):
        for ends in ("destroy", "is killed", "is killed unused", "exits", "never comes"):
            for late in range(self.SIZE):
                self.generation(ends, None)
                self.generation("destroy", late)

    def test_a_store_serves_many_rounds_of_the_same_processes(self):
        rounds = 20

        def body(rank):
            torch.set_num_threads(1)
            store = dist.TCPStore("127.0.0.1", self.port, is_master=False)
            for count in range(rounds):
                if count % self.SIZE == rank:
                    pass_time(store, 30)
                self.meet(store, rank)
                if count % 4 == 3:
                    dist.new_group([0, 2])  # unused, like the group of all
                else:
                    self.use(rank)
                dist.destroy_process_group()

        children = [FORK.Process(target=body, args=(rank,)) for rank in range(self.SIZE)]
        for child in children:
            child.start()
        for child in children:
            child.join(120)
            if child.is_alive():
                child.kill()
        self.assertEqual([child.exitcode for child in children], [0] * self.SIZE)
        # The remaining keys do not grow with the use of a group: records, and the last verdict of
        # each.
        self.pipe.send("count")
        self.assertLess(self.pipe.recv(), 50 + 3 * rounds)

    def test_torchrun_restarts_all_workers_with_its_store(self):
        program = textwrap.dedent("""
            import os, signal, torch, torch.distributed as dist
            torch.set_num_threads(1)
            attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
            rank = int(os.environ["RANK"])
            if attempt == 1 and rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)  # before it makes the group
            dist.init_process_group("ringlet")
            got = torch.ones(1)
            dist.all_reduce(got)
            if attempt == 0 and rank == 1:
                os.abort()
            dist.all_reduce(got)
            dist.barrier()
            os.write(1, f"attempt {attempt} rank {rank} {got.item()}\\n".encode())  # in one piece
            dist.destroy_process_group()
        """)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "worker.py")
            with open(path, "w") as file:
                file.write(program)
            ran = subprocess.run(
                [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3",
                 "--max-restarts", "3", path], capture_output=True, text=True, timeout=300)
        done = sorted(line for line in ran.stdout.splitlines() if line.startswith("attempt"))
        self.assertEqual(done, [f"attempt 2 rank {rank} 9.0" for rank in range(3)], ran.stderr[-3000:])


class Ends(unittest.TestCase):
    def test_a_monitored_barrier_names_a_dead_rank_at_once(self):
        def body(rank, size):
            if rank == 1:
                the_store().wait(["waits 0", "waits 2"])
                os._exit(3)
            the_store().set(f"waits {rank}", "1")
            try:
                ringlet.monitored_barrier(timeout=timedelta(minutes=30))
            except RuntimeError as error:
                assert "Rank 1 failed to pass monitoredBarrier: rank 1 is lost" in str(error), error
            else:
                raise AssertionError("rank 1 was there?")

        on_ranks(3, body, may_die=(1,))

    def ranks_with_store_of_0(self, body, size=2):
        """Runs body(rank) in processes. Rank 0 serves the store. Returns their output."""
        with tempfile.TemporaryDirectory() as folder:
            port_file = os.path.join(folder, "port")

            def run(rank):
                os.dup2(os.open(os.path.join(folder, f"said{rank}"), os.O_CREAT | os.O_WRONLY), 2)
                sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), write_through=True)
                torch.set_num_threads(1)
                if rank == 0:
                    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
                    with open(port_file + "+", "w") as file:
                        file.write(str(store.port))
                    os.rename(port_file + "+", port_file)
                wait_for_file(port_file)
                if rank != 0:
                    store = dist.TCPStore("127.0.0.1", int(pathlib.Path(port_file).read_text()), is_master=False)
                dist.init_process_group("ringlet", store=store, rank=rank, world_size=size, timeout=TIMEOUT)
                body(rank, lambda: wait_for_file(os.path.join(folder, "rank 0 has ended")))

            children = [FORK.Process(target=run, args=(rank,)) for rank in range(size)]
            for child in children:
                child.start()
            children[0].join(60)
            with open(os.path.join(folder, "rank 0 has ended"), "w"):
                pass
            for child in children[1:]:
                child.join(60)
                if child.is_alive():
                    child.kill()
            self.assertEqual([child.exitcode for child in children], [0] * size)
            return [pathlib.Path(folder, f"said{rank}").read_text() for rank in range(size)]

    def test_ranks_that_leave_after_the_store_are_silent(self):
        def body(rank, wait_for_end_of_0):
            dist.all_reduce(torch.ones(1))
            used, unused = dist.new_group([0, 1, 2]), dist.new_group([0, 1, 2])
            assert unused is not None
            dist.barrier(used)
            if rank != 0:
                wait_for_end_of_0()
            dist.destroy_process_group()

        self.assertEqual(self.ranks_with_store_of_0(body, 3), ["", "", ""])

    def test_a_receive_names_a_sender_that_ended_with_the_store(self):
        def body(rank, wait_for_end_of_0):
            if rank == 0:
                dist.isend(torch.ones(1000), 1)
                the_store().wait(["rank 1 has made the group"])
                os._exit(0)
            the_store().set("rank 1 has made the group", "1")
            got = torch.zeros(1000)
            wait_for_end_of_0()
            try:
                dist.recv(got, 0)
            except RuntimeError as error:
                said = str(error)
                assert "rank 0 is lost" in said or "served the store" in said, said
            else:
                assert got.sum() == 1000  # it was sent before
            os._exit(0)

        self.ranks_with_store_of_0(body)


class Interrupts(unittest.TestCase):
    """Sends signals to rank 0 of two while it waits for an idle rank 1, for 30 minutes."""

    WAITS = {
        "first": lambda: dist.barrier(),
        "collective": lambda: dist.all_reduce(torch.ones(3)),
        "operator": lambda: ringlet.ops.all_reduce_(torch.ones(3), dist.group.WORLD.group_name),
        "work": lambda: dist.all_reduce(torch.ones(3), async_op=True).wait(),
        "second work": lambda: [dist.all_reduce(torch.ones(3), async_op=True) for _ in range(2)][1].wait(),
        "message": lambda: dist.recv(torch.ones(3), 1),
        "objects": lambda: dist.all_gather_object([None] * 2, 1),
        "monitored": lambda: ringlet.monitored_barrier(),
        "new group": lambda: dist.barrier(dist.new_group([0, 1])),
    }

    def child(self, rank, name, how, folder, pipe):
        torch.set_num_threads(1)
        store = dist.FileStore(os.path.join(folder, "store"), 2)
        dist.init_process_group("ringlet", store=store, rank=rank, world_size=2)
        if name != "first":
            dist.all_reduce(torch.ones(1))
        if rank == 1:
            pipe.recv()
            os._exit(0)
        handled = threading.Semaphore(0)

        def handler(number, frame):
            handled.release()
            if how == "destroys":
                dist.destroy_process_group()
                sys.exit()
            if how == "raises":
                raise KeyboardInterrupt

        def interrupt():  # mostly after the main thread has begun its wait
            for _ in range(3 if how == "returns" else 1):
                threading.Event().wait(0.3)
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
                handled.acquire()
            if how == "returns":
                pipe.send("it still waits")

        signal.signal(signal.SIGUSR1, handler)
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            self.WAITS[name]()
        except BaseException as error:
            pipe.send(type(error))
        else:
            pipe.send("it returned")
        os._exit(0)

    def outcome(self, name, how):
        """Returns the outcome of rank 0."""
        with tempfile.TemporaryDirectory() as folder:
            pipes = [FORK.Pipe() for _ in range(2)]
            children = [FORK.Process(target=self.child, args=(rank, name, how, folder, pipes[rank][1]))
                        for rank in range(2)]
            for child in children:
                child.start()
            try:
                return pipes[0][0].recv() if pipes[0][0].poll(60) else "no answer after 60 s"
            finally:
                for child in children:
                    child.kill()
                    child.join()

    def test_a_handler_that_raises_ends_any_wait(self):
        for name in self.WAITS:
            with self.subTest(name):
                self.assertEqual(self.outcome(name, "raises"), KeyboardInterrupt)

    def test_a_wait_continues_after_a_handler_that_returns(self):
        for name in ("first", "collective", "work", "message"):
            with self.subTest(name):
                self.assertEqual(self.outcome(name, "returns"), "it still waits")

    def test_a_handler_may_destroy_the_groups_and_exit(self):
        for name in ("first", "collective", "work", "message", "new group"):
            with self.subTest(name):
                self.assertEqual(self.outcome(name, "destroys"), SystemExit)

    def test_other_ranks_name_an_interrupted_rank(self):
        def body(rank, size):
            dist.all_reduce(torch.ones(1))
            if rank == 0:
                signal.signal(signal.SIGALRM, signal.default_int_handler)
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                with self.assertRaises(KeyboardInterrupt):
                    dist.barrier()
                the_store().set("rank 0 was interrupted", "1")
            elif rank == 1:
                the_store().wait(["rank 0 was interrupted"])
            if rank != 0:
                with self.assertRaisesRegex(RuntimeError, "rank 0 was interrupted by a signal"):
                    dist.barrier()

        on_ranks(3, body)


class Timeouts(unittest.TestCase):
    def test_a_new_group_has_the_timeout_of_the_default_group(self):
        def body(rank, size):
            def of(group):
                return group._get_backend(torch.device("cpu")).options._timeout

            assert of(dist.new_group([0, 1])) == timedelta(seconds=77)
            assert of(dist.new_group([0, 1], timeout=timedelta(seconds=5))) == timedelta(seconds=5)

        on_ranks(2, body, timeout=timedelta(seconds=77))


if __name__ == "__main__":
    unittest.main()
