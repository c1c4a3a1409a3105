"""Carries the id of a communicator from rank 0 to the other ranks: in a file, over TCP, or by a launcher.

`make` is a function that returns a new id. It runs on rank 0 alone.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import pathlib
import socket
import time
from datetime import timedelta
from typing import Callable, Iterator, Mapping, Tuple

from ringlet import pmix
from ringlet._library import ID_BYTES
from ringlet.launchers import rank_variables

_PAUSE_S = 0.02
_GREETING_S = 10  # for one connection, so that a foreign one delays the others by this time at most
_KEY = "ringlet.communicator"
Make = Callable[[], bytes]


@contextlib.contextmanager
def through_file(path: os.PathLike[str] | str, rank: int, make: Make, timeout: float) -> Iterator[bytes]:
    """Yields the id in the file, which rank 0 creates, and deletes at the end of the context.

    Raises FileExistsError on rank 0 and TimeoutError on the others.
    """
    path = pathlib.Path(path)
    if rank != 0:
        yield _read_id(path, rank, timeout)
        return
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # the id contains a secret
    except FileExistsError:
        raise FileExistsError(f"{path} exists, and may be of another or an earlier run: delete it, or choose a path "
                              "for this run alone, for example with the number of the job") from None
    try:
        with open(file, "wb", buffering=0) as stream:
            id = make()
            stream.write(id)  # in one call; readers ignore a shorter file
        yield id
    finally:
        path.unlink(missing_ok=True)


def _read_id(path: pathlib.Path, rank: int, timeout: float) -> bytes:
    give_up = time.monotonic() + timeout
    while True:
        with contextlib.suppress(FileNotFoundError):
            id = path.read_bytes()
            if len(id) == ID_BYTES:
                return id
        if time.monotonic() > give_up:
            raise TimeoutError(f"rank {rank} found no id in {path} within {timeout:g} s: does rank 0 run, with the "
                               "same path on a file system that both share?")
        time.sleep(_PAUSE_S)


def _receive(connection: socket.socket, size: int, give_up: float, end: bytes = b"") -> bytes:
    """Returns what the peer sends: at most `size` bytes, up to `end` or the end of the stream.

    Raises OSError at the deadline, however slowly the peer sends.
    """
    received = b""
    while len(received) < size and not (end and received.endswith(end)):
        left = give_up - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        connection.settimeout(left)
        more = connection.recv(1 if end else size - len(received))
        if not more:
            break
        received += more
    return received


def _serve(server: socket.socket, id: bytes, size: int, give_up: float) -> None:
    """Sends the id to ranks 1 to size - 1. Raises TimeoutError with the missing ranks."""
    missing = set(range(1, size))
    while missing:
        server.settimeout(max(0.001, give_up - time.monotonic()))
        try:
            connection, _ = server.accept()
        except socket.timeout:  # an alias of TimeoutError since Python 3.10
            raise TimeoutError(f"{_ranks(missing)} of {size} did not fetch the id from rank 0: did they start, with "
                               "the same MASTER_ADDR and MASTER_PORT?") from None
        with connection, contextlib.suppress(OSError, ValueError):
            limit = min(give_up, time.monotonic() + _GREETING_S)
            greeting = _receive(connection, 100, limit, end=b"\n").split()
            if len(greeting) == 3 and greeting[0] == _KEY.encode() and int(greeting[2]) == size:
                connection.sendall(id)
                missing.discard(int(greeting[1]))


def _ranks(numbers: set[int]) -> str:
    first = ", ".join(map(str, sorted(numbers)[:8]))
    return f"rank{'s' if len(numbers) > 1 else ''} {first}{', ...' if len(numbers) > 8 else ''}"


def over_tcp(address: str, port: int, rank: int, size: int, make: Make, timeout: float) -> bytes:
    """Returns the id, which rank 0 serves at the port. Each process that reaches the port gets it.

    Raises TimeoutError with the missing ranks, and OSError if rank 0 cannot use the port.
    """
    give_up = time.monotonic() + timeout
    if rank == 0:
        # The name of the own host may resolve to a loopback address here and not on other hosts.
        local = address in ("127.0.0.1", "localhost")
        try:
            family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0][0]
            server = socket.create_server((address if local else "", port), family=family)
        except socket.gaierror as error:
            raise OSError(error.errno, f"MASTER_ADDR is {address}, and does not resolve: {error.strerror}") from None
        except OSError as error:
            raise OSError(error.errno, f"rank 0 cannot use port {port}: {error.strerror}; set MASTER_PORT to a free "
                          "port, for all ranks") from None
        with server:
            id = make()
            _serve(server, id, size, give_up)
            return id
    last = "no answer"
    while (left := give_up - time.monotonic()) > 0:
        try:
            with socket.create_connection((address, port), timeout=left) as connection:
                connection.sendall(f"{_KEY} {rank} {size}\n".encode())
                id = _receive(connection, ID_BYTES, give_up)
                if len(id) == ID_BYTES:
                    return id
                last = f"it closed the connection: is another program there, or a job with another size than {size}?"
        except OSError as error:
            last = str(error)
        time.sleep(_PAUSE_S)
    raise TimeoutError(f"rank {rank} of {size} did not get the id from rank 0 at {address}, port {port}, within "
                       f"{timeout:g} s ({last})")


def _by_torchrun(rank: int, make: Make, timeout: float) -> bytes:
    """Returns the id from the store that torchrun serves at MASTER_PORT."""
    rendezvous = importlib.import_module("torch.distributed").rendezvous
    store, _, _ = next(rendezvous("env://", timeout=timedelta(seconds=timeout)))
    if rank == 0:
        store.set(_KEY, make())
    return store.get(_KEY)


def _by_pmix(make: Make, timeout: float) -> Tuple[int, int, bytes]:
    client = pmix.Client()
    atexit.register(client.close)
    if client.rank == 0:
        id = make()
        client.publish(_KEY, id.hex())
    else:
        id = bytes.fromhex(client.published(0, _KEY, timeout))
    return client.rank, client.size(), id


def by_launcher(environment: Mapping[str, str], make: Make, timeout: float) -> Tuple[int, int, bytes]:
    """Returns rank, size and id of the job that a launcher started. Raises RuntimeError if there is
    none, and the errors of the ways above.
    """
    if "RINGLET_UNIQUE_ID" in environment:  # of `ringlet run`: the first id of each process fits
        return int(environment["RINGLET_RANK"]), int(environment["RINGLET_WORLD_SIZE"]), make()
    why = ""
    if "PMIX_RANK" in environment and "RANK" not in environment:
        try:
            return _by_pmix(make, timeout)
        except pmix.Unavailable as unavailable:
            why = f" ({unavailable})"
    fixed = environment.get("RINGLET_COMM_ID") or environment.get("NCCL_COMM_ID")
    if fixed:
        environment = {"MASTER_ADDR": fixed, **environment}
    try:
        facts = {**environment, **rank_variables(environment)}
        rank, size = int(facts["RANK"]), int(facts["WORLD_SIZE"])
        if fixed or size == 1:
            return rank, size, make()
        address, port = facts["MASTER_ADDR"], int(facts["MASTER_PORT"])
    except KeyError as missing:
        raise RuntimeError(f"RANK and WORLD_SIZE are set, and {missing} is not: set it for all ranks") from None
    except (RuntimeError, ValueError) as error:
        raise RuntimeError(f"{error}{why}") from None
    if environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        return rank, size, _by_torchrun(rank, make, timeout)
    return rank, size, over_tcp(address, port, rank, size, make, timeout)
