"""Tests ringlet.Communicator without NumPy and torch: results against plain Python, errors, threads,
fork, Ctrl-C, and the ways to start.

    python communicator_test.py BUILD [-v] [TEST...]
"""
import array
import ctypes
import functools
import operator
import os
import pathlib
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import ranks

SIZES = (1, 2, 4)
CODES = "bBiIlLqQfd"
REDUCTIONS = {"sum": operator.add, "prod": operator.mul, "min": min, "max": max}


def own(comm, code, count, rank=None):
    """Returns the data of a rank: small numbers, which the type represents exactly; some are negative."""
    rank = comm.rank if rank is None else rank
    return array.array(code, [(rank + 2 * index) % 3 - code.islower() for index in range(count)])


def from_all(comm, code, count):
    return [own(comm, code, count, rank) for rank in range(comm.size)]


def reduced(comm, code, count, op):
    return array.array(code, [functools.reduce(REDUCTIONS[op], values) for values in zip(*from_all(comm, code, count))])


def zeros(code, count):
    return array.array(code, [0] * count)


def equal(got, wanted, what=""):
    if list(got) != list(wanted):
        raise AssertionError(f"{what}: got {list(got)}, not {list(wanted)}")


def check_reductions(comm, code, count):
    for op in REDUCTIONS:
        wanted = reduced(comm, code, count, op)
        recv = zeros(code, count)
        assert comm.all_reduce(own(comm, code, count), recv, op) is recv
        equal(recv, wanted, f"all_reduce {op} {code}")
        for root in range(comm.size):
            recv = zeros(code, count)
            got = comm.reduce(own(comm, code, count), recv, op, root)
            assert got is (recv if comm.rank == root else None)
            equal(recv, wanted if comm.rank == root else zeros(code, count), f"reduce {op} {code}")
        blocks = reduced(comm, code, count * comm.size, op)
        recv = comm.reduce_scatter(own(comm, code, count * comm.size), zeros(code, count), op)
        equal(recv, blocks[comm.rank * count:][:count], f"reduce_scatter {op} {code}")


def check_moves(comm, code, count):
    joined = [value for each in from_all(comm, code, count) for value in each]
    equal(comm.all_gather(own(comm, code, count), zeros(code, count * comm.size)), joined, f"all_gather {code}")
    mine = slice(comm.rank * count, (comm.rank + 1) * count)
    blocks = from_all(comm, code, count * comm.size)
    got = comm.all_to_all(own(comm, code, count * comm.size), zeros(code, count * comm.size))
    equal(got, [value for each in blocks for value in each[mine]], f"all_to_all {code}")
    for root in range(comm.size):
        equal(comm.broadcast(own(comm, code, count), root), own(comm, code, count, root), f"broadcast {code}")
        recv = zeros(code, count * comm.size)
        got = comm.gather(own(comm, code, count), recv, root)
        assert (got is recv) == (comm.rank == root)
        equal(recv, joined if comm.rank == root else zeros(code, count * comm.size), f"gather {code}")
        send = own(comm, code, count * comm.size) if comm.rank == root else None
        equal(comm.scatter(send, zeros(code, count), root), blocks[root][mine], f"scatter {code}")


def operations(comm):
    for code in CODES:
        for count in (0, 1, 7):
            check_reductions(comm, code, count)
            check_moves(comm, code, count)
    large = comm.all_reduce(own(comm, "d", 300_001), zeros("d", 300_001))
    equal(large, reduced(comm, "d", 300_001, "sum"), "large")
    equal(comm.all_reduce(array.array("d", [comm.rank]), zeros("d", 1), "avg"), [(comm.size - 1) / 2], "avg")
    comm.barrier()


def in_place(comm):
    data = own(comm, "d", 5)
    equal(comm.all_reduce(data, data), reduced(comm, "d", 5, "sum"), "all_reduce")
    gathered = memoryview(zeros("d", 3 * comm.size))
    block = gathered[3 * comm.rank:][:3]
    block[:] = own(comm, "d", 3)
    comm.all_gather(block, gathered)
    equal(gathered, [value for each in from_all(comm, "d", 3) for value in each], "all_gather")
    data = memoryview(own(comm, "d", 3 * comm.size))
    block = data[3 * comm.rank:][:3]
    equal(comm.reduce_scatter(data, block), reduced(comm, "d", 3 * comm.size, "sum")[3 * comm.rank:][:3])


def other_buffers(comm):
    for offset in range(1, 8):  # addresses that the type does not permit
        space = memoryview(bytearray(offset + 80)), memoryview(bytearray(offset + 80))
        send, recv = (each[offset:].cast("d") for each in space)
        send[:] = own(comm, "d", 10)
        equal(comm.all_reduce(send, recv), reduced(comm, "d", 10, "sum"), "misaligned")

    class Pair(ctypes.Structure):
        _fields_ = [("first", ctypes.c_int16), ("second", ctypes.c_double)]

    pairs = (Pair * comm.size)()
    comm.all_gather((Pair * 1)((comm.rank, 0.5)), pairs)
    equal([(each.first, each.second) for each in pairs], [(rank, 0.5) for rank in range(comm.size)])
    equal(comm.all_gather(array.array("h", [comm.rank]), zeros("h", comm.size)), range(comm.size), "int16")
    equal(comm.all_gather(bytes([comm.rank]), bytearray(comm.size)), range(comm.size), "bytes")
    matrix = (ctypes.c_float * 2 * 3)()
    matrix[1][1] = comm.rank
    comm.all_reduce(matrix, matrix)
    assert matrix[1][1] == sum(range(comm.size))
    read_only = memoryview(own(comm, "d", 3)).toreadonly()
    equal(comm.all_reduce(read_only, zeros("d", 3)), reduced(comm, "d", 3, "sum"), "read-only send")
    equal(comm.broadcast(b"ab" if comm.rank == 0 else bytearray(2)), b"ab", "broadcast of bytes")


def wrong_arguments(comm):
    import ringlet

    four, far = array.array("d", [1] * 4), 1 << 40
    spread = memoryview(four)[::2]
    wrong = [
        (lambda: comm.all_reduce(7, four), TypeError, "send is int, and has neither"),
        (lambda: comm.all_reduce(None, four), TypeError, "send is NoneType"),
        (lambda: comm.all_reduce(four, "text"), TypeError, "recv is str"),
        (lambda: comm.all_reduce(four, four.tobytes()), ValueError, "recv is read-only.*writable buffer"),
        (lambda: comm.all_reduce(spread, zeros("d", 2)), ValueError, "send is not contiguous.*ascontiguousarray"),
        (lambda: comm.all_reduce(zeros("d", 2), spread), ValueError, "recv is not contiguous.*copy it into recv"),
        (lambda: comm.all_reduce(four, zeros("d", 3)), ValueError, "recv has 3 elements.*needs 4"),
        (lambda: comm.all_reduce(four, zeros("q", 4)), TypeError, "recv has the type int64, and send float64"),
        (lambda: comm.all_reduce(zeros("h", 2), zeros("h", 2)), TypeError, "int16, which cannot be reduced"),
        (lambda: comm.all_reduce(four, four, "mean"), ValueError, "op is 'mean': pass one of 'sum'"),
        (lambda: comm.all_reduce(four, four, ["sum"]), ValueError, "op is "),
        (lambda: comm.all_gather(four, zeros("d", 4 * comm.size + 1)), ValueError, "cannot share|needs"),
        (lambda: comm.reduce_scatter(zeros("d", comm.size + 1), zeros("d", 1)), ValueError, "cannot share|needs 2"),
        (lambda: comm.all_to_all((ctypes.py_object * comm.size)(), four), TypeError, "Python objects.*all_gather_obj"),
        (lambda: comm.broadcast(bytearray(1), comm.size), ValueError, "root is .*, and the ranks are 0 to"),
        (lambda: comm.reduce(four, four, root=-1), ValueError, "root is -1"),
        (lambda: comm.reduce(four, four, root=far), ValueError, "root is"),
        (lambda: comm.broadcast(bytearray(1), 0.0), TypeError, "float"),
        (lambda: comm.send(four, far), ValueError, "to is"),
        (lambda: comm.recv(four, comm.size), ValueError, "source is"),
        (lambda: comm.recv(b"1234", 0), ValueError, "buf is read-only"),
        (lambda: comm.shrink([comm.size]), ValueError, "exclude is"),
        (lambda: comm.split(-5), ValueError, "color is -5"),
        (lambda: comm.all_reduce(memoryview(four)[:3], memoryview(four)[1:]), ringlet.Error, "overlap"),
        (lambda: ringlet.Communicator(0, 0, bytes(128)), ValueError, "size is 0"),
        (lambda: ringlet.Communicator(2, 2, bytes(128)), ValueError, "rank is 2"),
        (lambda: ringlet.Communicator(0, 1, b"id"), ValueError, "id is not an id.*128 bytes"),
        (lambda: ringlet.Communicator(0, 1, bytes(128)), ringlet.Error, "id"),
    ]
    for number, (call, kind, text) in enumerate(wrong):
        case = unittest.TestCase()
        with case.assertRaisesRegex(kind, text, msg=f"case {number}"):
            call()
    equal(comm.all_reduce(four, zeros("d", 4)), [comm.size] * 4, "after errors")


def objects(comm):
    mine = {"rank": comm.rank, "text": "x" * (1000 * comm.rank)}
    every = [{"rank": rank, "text": "x" * (1000 * rank)} for rank in range(comm.size)]
    assert comm.all_gather_object(mine) == every
    for root in range(comm.size):
        assert comm.gather_object(mine, root) == (every if comm.rank == root else None)
        assert comm.broadcast_object(mine if comm.rank == root else None, root) == every[root]
    if comm.rank > 0:
        comm.send_object(mine, 0)
    else:
        assert [comm.recv_object(rank) for rank in range(1, comm.size)] == every[1:]


def groups(comm):
    import ringlet

    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = zeros("q", 3)
    with comm.group():
        comm.send(array.array("q", [comm.rank] * 3), right)  # the group keeps it
        with comm.group():
            comm.recv(got, left)
    equal(got, [left] * 3, "exchange")
    sums = [zeros("d", 2) for _ in range(3)]
    with comm.group():
        for index, each in enumerate(sums):
            comm.all_reduce(array.array("d", [index] * 2), each)
    equal([each[0] for each in sums], [index * comm.size for index in range(3)], "three of a group")
    case = unittest.TestCase()
    with case.assertRaises(ZeroDivisionError):
        with comm.group():
            comm.recv(got, left)  # without a sender: it must not run
            1 // 0
    for call in (comm.barrier, lambda: comm.all_gather_object(1), lambda: comm.split(0),
                 lambda: comm.recv_object(left)):
        with case.assertRaisesRegex(ringlet.Error, "outside the group"):
            with comm.group():
                call()
    comm.barrier()


def families(comm):
    import ringlet

    halves = comm.split(comm.rank % 2, -comm.rank)
    members = sorted(range(comm.rank % 2, comm.size, 2), reverse=True)
    assert (halves.size, halves.rank) == (len(members), members.index(comm.rank)), halves
    equal(halves.all_gather(array.array("i", [comm.rank]), zeros("i", halves.size)), members, "split")
    halves.close()
    nothing = comm.split(None if comm.rank == 0 else 3)
    assert (nothing is None) == (comm.rank == 0)
    if comm.rank != 0:
        nothing.close()
        with comm.shrink([0]) as rest:
            assert (rest.rank, rest.size) == (comm.rank - 1, comm.size - 1)
            equal(rest.all_reduce(array.array("i", [1]), zeros("i", 1)), [rest.size], "shrink")
        assert "closed" in repr(rest)
        with unittest.TestCase().assertRaisesRegex(ringlet.Error, "was closed or aborted"):
            rest.barrier()
        rest.close()
    assert repr(comm) == f"<ringlet.Communicator: rank {comm.rank} of {comm.size}>"
    comm.barrier()


def mismatch(comm):
    import ringlet

    try:
        comm.all_reduce(zeros("d", 3 + comm.rank), zeros("d", 3 + comm.rank))
    except ringlet.Error as error:
        assert error.code == 5 and "rank 1" in str(error), error
        assert error.lost_rank is None
        copy = pickle.loads(pickle.dumps(error))
        assert (copy.code, str(copy), type(copy)) == (error.code, str(error), ringlet.Error)
        comm.abort()
        comm.abort()
    else:
        raise AssertionError("different counts were not refused")


def lost_rank(comm):
    import ringlet

    comm.barrier()
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        comm.all_reduce(zeros("d", 10), zeros("d", 10))
    except ringlet.Error as error:
        assert error.code == 6 and "rank 1" in str(error), error
        lost = error.lost_rank
        assert lost == pickle.loads(pickle.dumps(error)).lost_rank == 1
    else:
        raise AssertionError("the loss of rank 1 went unnoticed")
    with comm.shrink([lost], abort=True) as rest:
        equal(rest.all_reduce(array.array("i", [1]), zeros("i", 1)), [comm.size - 1], "rest")
    comm.abort()


def reform(comm):
    """The loop of docs/howto/continue-without-lost-ranks.md. Ranks 1 and 3 of 5 die at once, rank 4 later."""
    import ringlet

    steps, done, agreed, number = 2000, 0, True, comm.rank
    while done < steps:
        try:
            if not agreed:
                done = comm.all_reduce(array.array("q", [done]), array.array("q", [0]), op="min")[0]
                agreed = True
            equal(comm.all_reduce(array.array("i", [1]), zeros("i", 1)), [comm.size], "a sum")
            done += 1
            if done == {1: 500, 3: 500, 4: 1000}.get(number):
                os.kill(os.getpid(), signal.SIGKILL)
        except ringlet.Error as error:
            if error.lost_rank is None:
                raise
            comm = comm.reform(min_ranks=2)
            agreed = False
    assert comm.size == 2, comm.size
    for refused in (0, -1, 1 << 40):
        try:
            comm.reform(refused)
        except ValueError as error:
            assert "min_ranks" in str(error), error
        else:
            raise AssertionError(f"{refused} was accepted")
    try:
        comm.reform()
    except ringlet.Error as error:
        assert "has not failed" in str(error), error
    else:
        raise AssertionError("a communicator that works was reformed")
    comm.close()


def when_main_is_in(function, action):
    """Calls `action` in a thread when the main thread runs the named function. Returns the thread."""
    def watch():
        while True:
            frame = sys._current_frames().get(threading.main_thread().ident)
            while frame and frame.f_code.co_name != function:
                frame = frame.f_back
            if frame:
                return action()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def interrupt_when_in(function):
    # A shell that starts the test in the background makes it ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    when_main_is_in(function, lambda: os.kill(os.getpid(), signal.SIGINT))


def other_threads_run(comm):
    # The main thread of rank 0 waits for rank 1, which waits for another Python thread of rank 0.
    second = comm.split(0)
    if comm.rank == 0:
        thread = when_main_is_in("_call", lambda: second.send(b"go", 1))
        comm.recv(bytearray(2), 1)
        thread.join()
    else:
        comm.send(second.recv(bytearray(2), 0), 0)
    second.close()


def ranks_in_threads(comm):
    import ringlet

    id, totals = ringlet.unique_id(), [None] * 3

    def run(rank):
        with ringlet.Communicator(rank, 3, id) as each:
            totals[rank] = each.all_reduce(array.array("i", [rank]), zeros("i", 1))[0]

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert totals == [3, 3, 3], totals


def forked_process(comm):
    import ringlet

    comm.barrier()
    child = os.fork()
    if child == 0:
        with unittest.TestCase().assertRaises(ringlet.Error) as caught:
            comm.all_reduce(zeros("d", 1), zeros("d", 1))
        assert caught.exception.code == 4, caught.exception
        with ringlet.Communicator(0, 1, ringlet.unique_id()) as alone:
            equal(alone.all_reduce(array.array("d", [3]), zeros("d", 1)), [3], "child")
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    equal(comm.all_reduce(array.array("d", [1]), zeros("d", 1)), [comm.size], "after the child")


def interrupted(comm, function, call):
    """Ctrl-C ends `call` of rank 0, and the others learn of it."""
    import ringlet

    case = unittest.TestCase()
    if comm.rank == 0:
        interrupt_when_in(function)
        with case.assertRaises(KeyboardInterrupt):
            call()
        assert "closed" in repr(comm), comm
    else:
        with case.assertRaisesRegex(ringlet.Error, "rank 0"):
            comm.recv(bytearray(2), 0)  # rank 0 does not send
        comm.abort()


def ctrl_c(comm):
    interrupted(comm, "_call", lambda: comm.recv(bytearray(1), 1))


def ctrl_c_in_a_group(comm):
    def call():
        with comm.group():
            comm.recv(bytearray(1), 1)

    interrupted(comm, "__exit__", call)


def ctrl_c_while_splitting(comm):
    interrupted(comm, "_form", lambda: comm.split(0))


def end_without_close(comm):
    import ringlet

    ringlet.Communicator(0, 1, ringlet.unique_id()).barrier()
    comm.split(0).barrier()


def library(comm):
    loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libringlet.so" in line}
    assert {os.path.dirname(path) for path in loaded} == {os.path.realpath(os.environ["LD_LIBRARY_PATH"])}, loaded


class Operations(ranks.Ranks):
    def run_on_each_size(self, function):
        for size in SIZES:
            with self.subTest(size=size):
                self.run_ranks(function, size)

    def test_the_library_of_the_build_is_loaded(self):
        self.run_ranks(library, 1)

    def test_results_equal_those_of_plain_python(self):
        self.run_on_each_size(operations)

    def test_calls_in_place(self):
        self.run_on_each_size(in_place)

    def test_misaligned_read_only_and_structured_buffers(self):
        self.run_on_each_size(other_buffers)

    def test_wrong_arguments_are_refused_and_change_nothing(self):
        self.run_on_each_size(wrong_arguments)

    def test_objects(self):
        self.run_on_each_size(objects)

    def test_groups(self):
        self.run_on_each_size(groups)

    def test_split_and_shrink(self):
        for size in (2, 4):
            self.run_ranks(families, size)

    def test_different_counts_are_an_error_on_both_ranks(self):
        self.run_ranks(mismatch, 2)

    def test_a_killed_rank_is_named_and_the_others_shrink(self):
        self.run_ranks(lost_rank, 3, statuses=[0, -signal.SIGKILL, 0])


    def test_ranks_reform_a_communicator_after_deaths(self):
        self.run_ranks(reform, 5, statuses=[0, -signal.SIGKILL, 0, -signal.SIGKILL, -signal.SIGKILL])


class Processes(ranks.Ranks):
    def test_other_threads_run_during_a_wait(self):
        self.run_ranks(other_threads_run, 2)

    def test_threads_are_ranks_of_one_process(self):
        self.run_ranks(ranks_in_threads, 1)

    def test_a_forked_process_has_communicators_of_its_own(self):
        for output in self.run_ranks(forked_process, 2):
            self.assertNotIn("Traceback", output)

    def test_ctrl_c_ends_a_wait(self):
        self.run_ranks(ctrl_c, 2)
        self.run_ranks(ctrl_c_in_a_group, 2)
        self.run_ranks(ctrl_c_while_splitting, 2)

    def test_ctrl_c_ends_the_forming_of_a_communicator(self):
        program = (
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "import communicator_test, ringlet\n"
            "communicator_test.interrupt_when_in('wait_for')\n"
            "try:\n"
            "    ringlet.Communicator(0, 2, ringlet.unique_id())\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n")
        found = ranks.finish([ranks.start("-c", program, pathlib.Path(__file__).parent)])
        self.assertEqual(found, [(0, "interrupted\n")])

    def test_a_program_may_end_without_close(self):
        for output in self.run_ranks(end_without_close, 2):
            self.assertEqual(output, "")


class Starting(ranks.Ranks):
    PROGRAM = ("import array, ringlet\n"
               "with ringlet.Communicator.from_launcher(timeout=60) as comm:\n"
               "    print(comm.rank, comm.size, comm.all_reduce(array.array('i', [1]), array.array('i', [0]))[0])\n"
               "    try:\n"
               "        ringlet.Communicator.from_launcher()\n"
               "    except RuntimeError as error:\n"
               "        assert 'split' in str(error), error\n")

    def start_all(self, *environments):
        return ranks.finish([ranks.start("-c", self.PROGRAM, **each) for each in environments])

    def free_port(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            return str(server.getsockname()[1])

    def open_mpi(self, rank, size, port):
        return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size), "MASTER_PORT": port,
                "OMPI_COMM_WORLD_LOCAL_RANK": str(rank), "OMPI_COMM_WORLD_LOCAL_SIZE": str(size)}

    def test_mpirun(self):
        port = self.free_port()
        self.assertEqual(self.start_all(*(self.open_mpi(rank, 3, port) for rank in range(3))),
                         [(0, f"{rank} 3 3\n") for rank in range(3)])

    def test_rank_variables_of_the_caller(self):
        port = self.free_port()
        self.assertEqual(self.start_all(*({"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "localhost",
                                           "MASTER_PORT": port} for rank in range(2))),
                         [(0, "0 2 2\n"), (0, "1 2 2\n")])

    def test_a_fixed_address(self):
        fixed = {"RINGLET_COMM_ID": f"127.0.0.1:{self.free_port()}", "RINGLET_SECRET": "of the test"}
        self.assertEqual(self.start_all(*({"RANK": str(rank), "WORLD_SIZE": "2", **fixed} for rank in range(2))),
                         [(0, "0 2 2\n"), (0, "1 2 2\n")])

    def check_tool(self, command):
        tool = ranks.build / "bin/ringlet"
        done = subprocess.run([tool, command, "-n", "2", "--", sys.executable, "-c", self.PROGRAM],
                              env=ranks.environment(), capture_output=True, text=True, timeout=ranks.TIMEOUT_S)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["[0] 0 2 2", "[1] 1 2 2"]),
                         done.stderr)

    def test_ringlet_run(self):
        self.check_tool("run")

    def test_ringlet_emulate_where_a_null_stream_is_asynchronous(self):
        self.check_tool("emulate")

    def test_a_missing_rank_is_named(self):
        program = self.PROGRAM.replace("60", "1")
        (status, output), = ranks.finish([ranks.start("-c", program, **self.open_mpi(0, 3, self.free_port()))])
        self.assertEqual(status, 1)
        self.assertIn("TimeoutError: ranks 1, 2 of 3 did not fetch the id", output)

    def test_no_launcher(self):
        (status, output), = self.start_all({})
        self.assertEqual(status, 1)
        self.assertRegex(output, "RuntimeError: neither RANK and WORLD_SIZE nor .* are set: start the program")

    def test_an_incomplete_environment(self):
        (status, output), = self.start_all({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost"})
        self.assertEqual(status, 1)
        self.assertIn("RANK and WORLD_SIZE are set, and 'MASTER_PORT' is not", output)

    def test_a_file_is_private_and_is_deleted(self):
        program = ("import os, ringlet, sys\n"
                   "made = ringlet.unique_id()\n"
                   "import ringlet._meeting as meeting\n"
                   "with meeting.through_file(sys.argv[1], 0, lambda: made, 1) as id:\n"
                   "    mode = oct(os.stat(sys.argv[1]).st_mode & 0o777)\n"
                   "    print(mode, open(sys.argv[1], 'rb').read() == made == id)\n"
                   "print(os.path.exists(sys.argv[1]))\n"
                   "open(sys.argv[1], 'w').close()\n"
                   "try:\n"
                   "    ringlet.Communicator.from_file(sys.argv[1], 0, 1)\n"
                   "except FileExistsError as error:\n"
                   "    print(error)\n"
                   "try:\n"
                   "    ringlet.Communicator.from_file(sys.argv[1], 1, 2, timeout=0.1)\n"
                   "except TimeoutError as error:\n"
                   "    print(error)\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "id")
            (status, output), = ranks.finish([ranks.start("-c", program, path)])
        self.assertEqual(status, 0, output)
        self.assertEqual(output.splitlines()[:2], ["0o600 True", "False"])
        self.assertRegex(output.splitlines()[2], "exists, and may be of another or an earlier run: delete it")
        self.assertRegex(output.splitlines()[3], "rank 1 found no id in .* within 0.1 s")

    def test_a_stranger_that_sends_without_end_meets_the_deadline(self):
        program = ("import socket, threading, time\n"
                   "import ringlet._meeting as meeting\n"
                   "ours, its = socket.socketpair()\n"
                   "def flood():\n"
                   "    try:\n"
                   "        while True:\n"
                   "            its.send(b'x')\n"
                   "    except OSError:\n"
                   "        pass\n"
                   "threading.Thread(target=flood, daemon=True).start()\n"
                   "print(meeting._receive(ours, 5, time.monotonic() + 60, b'\\n'))\n"
                   "try:\n"
                   "    meeting._receive(ours, 1 << 40, time.monotonic() + 0.1, b'\\n')\n"
                   "except OSError as error:\n"
                   "    print(error)\n")
        (status, output), = ranks.finish([ranks.start("-c", program)])
        self.assertEqual((status, output), (0, "b'xxxxx'\ntimed out\n"))

    def test_a_communicator_of_mpi4py(self):
        self.run_ranks(from_mpi, 2)

    def test_the_library_in_the_package_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "ringlet")
            shutil.copytree(ranks.SOURCE / "python/ringlet", package,
                            ignore=shutil.ignore_patterns("__pycache__", "lib"))
            (package / "lib").symlink_to(ranks.build / "lib")
            program = "import ringlet; print(ringlet.lib_path(), len(ringlet.unique_id()))"
            found = ranks.finish([ranks.start("-c", program, PYTHONPATH=folder, LD_LIBRARY_PATH="")])
        self.assertEqual(found, [(0, f"{package}/lib 128\n")])

    def test_a_package_without_the_library_reports_the_cure(self):
        program = ("import ringlet\n"
                   "for call in (ringlet.lib_path, ringlet.unique_id):\n"
                   "    try:\n"
                   "        call()\n"
                   "    except ImportError as error:\n"
                   "        print(error)\n")
        (status, output), = ranks.finish([ranks.start("-c", program, LD_LIBRARY_PATH="")])
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"does not have libringlet.so.0, .*: install\b[\s\S]*"
                                 r"cannot be loaded: .*add the folder")


def from_mpi(comm):
    import ringlet

    class OfMpi:
        rank, size = comm.rank, comm.size

        def bcast(self, value, root):
            return comm.broadcast_object(value, root)

    with ringlet.Communicator.from_mpi(OfMpi()) as second:
        assert (second.rank, second.size) == (comm.rank, comm.size)
        second.barrier()


if __name__ == "__main__":
    ranks.main(globals())
