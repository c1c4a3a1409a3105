"""Collectives in Python without torch: the class Communicator, on the C API by ctypes.

A call returns when its result is in the caller's memory. Other Python threads run meanwhile, because
ctypes releases the lock of the interpreter.
"""

from __future__ import annotations

import ctypes
import operator
import os
import pickle
import threading
import weakref
from typing import AbstractSet, Any, Iterable, List, Optional, Tuple, Type, TypeVar, Union

from ringlet import _interrupt, _meeting
from ringlet._buffers import (NUMPY_CODES, UINT8, TYPES, Buffer, allocate, as_bytes, describe, numpy_types, pointer_to,
                              shape_of)  # fmt: skip
from ringlet._library import ID_BYTES, UniqueId, emulated, load

_OPS = {"sum": 0, "prod": 1, "max": 2, "min": 3, "avg": 4}
_NO_COLOR = -1
_SHRINK_ABORT = 1
_INVALID_ARGUMENT, _INVALID_USAGE = 4, 5
_TIMEOUT_S = 300.0  # for the id to arrive; the default of RINGLET_INIT_TIMEOUT
# The fast path raises one of these for a buffer that needs the checks of the slow path.
_SLOW = (AttributeError, BufferError, KeyError, TypeError, ValueError)
_ABSENT = object()  # the buffer of a rank that has none in the call
_size_t = ctypes.c_size_t
_ONE = _size_t(1)
_Self = TypeVar("_Self", bound="Communicator")

_thread = threading.local()
# Has an element for each open group of any thread, and one under `ringlet emulate`. A call that finds it
# empty, the usual case, is complete.
_attention: List[None] = [None] if emulated() else []


class Error(RuntimeError):
    """A call failed. The text names ranks, the cause and the cure.

    code: the number of NCCL's ncclResult_t. After any code but 4 (an invalid argument), abort the
    communicator.
    lost_rank: the rank of the communicator that is lost or has left, if the error names one;
    otherwise None. `reform` forms a communicator without the lost ranks.
    """

    def __init__(self, message: str, code: int, lost_rank: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code
        self.lost_rank = lost_rank

    def __reduce__(self) -> Tuple[Type[Error], Tuple[str, int, Optional[int]]]:
        return Error, (str(self), self.code, self.lost_rank)


def _error(code: int) -> Error:
    library = load()
    text = library.ncclGetLastError(None) or library.ncclGetErrorString(code)
    lost = library.ringletLastLostRank()
    return Error(text.decode(errors="replace"), code, lost if lost >= 0 else None)


def _check(code: int) -> None:
    if code:
        raise _error(code)


def unique_id() -> bytes:
    """Returns a new id of a communicator, for its rank 0 to send to the other ranks.

    The id contains a secret: each of its holders can join. This process must live until all ranks
    have joined.
    """
    made = UniqueId()
    _check(load().ncclGetUniqueId(ctypes.byref(made)))
    return bytes(made)


def _rank_in(value: Any, size: int, name: str) -> int:
    """Returns the rank as an int. ctypes would cut a larger number off."""
    rank = operator.index(value)
    if not 0 <= rank < size:
        raise ValueError(f"{name} is {rank}, and the ranks are 0 to {size - 1}")
    return rank


def _one(buf: Any, writable: bool) -> Tuple[Any, int, int]:
    """Returns pointer, number of elements and type of the buffer of a call that only moves it."""
    try:
        return pointer_to(buf), buf.size, NUMPY_CODES[buf.dtype]
    except _SLOW:
        buffer = as_bytes(describe(buf, "buf", writable))
        return buffer.pointer, buffer.elements, buffer.code or 0


def _shape(send: Any) -> Tuple[Optional[Tuple[int, ...]], int, Optional[Buffer]]:
    """Returns shape, number of elements and, unless it is a NumPy array, the description of `send`."""
    numpy = numpy_types()
    if numpy is not None and type(send) is numpy.ndarray:
        return send.shape, send.size, None
    like = describe(send, "send")
    return shape_of(send), like.elements, like


def _compare(source: Buffer, target: Buffer, needed: int) -> None:
    if source.type_name != target.type_name or source.item_bytes != target.item_bytes:
        raise TypeError(f"recv has the type {target.type_name}, and send {source.type_name}: pass buffers of one type")
    if target.elements != needed:
        raise ValueError(f"recv has {target.elements} elements, and the call with {source.elements} elements in send "
                         f"needs {needed}: pass a buffer of that size")


def _blocks(send: Any, recv: Any, sends: int, receives: int, reduces: bool) -> Tuple[Tuple[Any, Any], int, int]:
    """Returns the pointers, the number of elements of a block, and the type. `send` has `sends` blocks, and
    `recv` has `receives` blocks. The pointer of an absent buffer is None.
    """
    try:
        code, count = NUMPY_CODES[send.dtype], send.size
        if not count % sends and recv.size * sends == count * receives and NUMPY_CODES[recv.dtype] == code:
            return (pointer_to(send), pointer_to(recv)), count // sends, code
    except _SLOW:
        pass
    source = None if send is _ABSENT else describe(send, "send")
    target = None if recv is _ABSENT else describe(recv, "recv", writable=True)
    for name, buffer, blocks in (("send", source, sends), ("recv", target, receives)):
        if buffer is not None and buffer.elements % blocks:
            raise ValueError(f"{name} has {buffer.elements} elements, which {blocks} ranks cannot share equally")
    if source is not None and target is not None:
        _compare(source, target, source.elements // sends * receives)
    known, blocks = (source, sends) if source is not None else (target, receives)
    assert known is not None
    if known.code is None and reduces:
        raise TypeError(f"send has the type {known.type_name}, which cannot be reduced: convert it to one of "
                        f"{', '.join(TYPES)} in native byte order")
    known = as_bytes(known)
    return (source and source.pointer, target and target.pointer), known.elements // blocks, known.code or 0


def _op(name: str) -> int:
    try:
        return _OPS[name]
    except (KeyError, TypeError):
        raise ValueError(f"op is {name!r}: pass one of {', '.join(map(repr, _OPS))}") from None


def _end(function: str, handle: ctypes.c_void_p, process: int) -> int:
    """Ends a communicator; without effect in a forked process, which does not have it."""
    return getattr(load(), function)(handle) if os.getpid() == process else 0


class _Group:
    """A context that joins the calls of this thread. See Communicator.group."""

    _communicators: AbstractSet[Communicator] = frozenset()  # during the outermost end

    def __enter__(self) -> None:
        _check(load().ncclGroupStart())
        opened = _thread.__dict__.setdefault("groups", [])
        opened.append([])
        _attention.append(None)

    def __exit__(self, kind: Optional[Type[BaseException]], error: object, trace: object) -> None:
        groups = _thread.groups
        used = groups.pop()
        _attention.pop()
        if groups:
            groups[-1] += used  # the outermost end completes them
        else:
            self._communicators = {each for each, _ in used}
        try:
            if kind is not None:
                load().ncclGroupSimulateEnd(None)  # drops the calls
                return
            _check(load().ncclGroupEnd())
            if not groups:
                _synchronize()
        finally:
            if not groups:
                del self._communicators

    def abort(self) -> None:
        """Ends the blocked end of the group, from the thread that observes Ctrl-C."""
        for each in self._communicators:
            each.abort()


def _synchronize() -> None:
    """Waits for the null stream, which under `ringlet emulate` returns before the work is done."""
    if emulated() and load().ringletStreamSynchronize(None):
        raise Error(load().ringletStreamLastMessage().decode(errors="replace"), _INVALID_USAGE)


def _groups_open() -> bool:
    return bool(_thread.__dict__.get("groups"))


class Communicator:
    """A rank of a group of processes that communicate.

    Every rank calls the same collectives in the same order. One thread at a time may use a
    communicator; `abort` is for any thread. Buffers are NumPy arrays, objects with Python's buffer
    protocol, or tensors of the CPU with DLPack. They are contiguous.

        with ringlet.Communicator.from_launcher() as comm:
            total = comm.all_reduce(numpy.ones(4))
    """

    def __init__(self, rank: int, size: int, id: bytes) -> None:
        """Joins the communicator of `id`. Returns when all ranks have joined.

        The time limit is the variable RINGLET_INIT_TIMEOUT of the process.
        Ranks in one process need a thread each.
        """
        size = operator.index(size)
        if not 1 <= size < 1 << 31:
            raise ValueError(f"size is {size}, and a communicator has at least 1 rank")
        rank = _rank_in(rank, size, "rank")
        if not isinstance(id, (bytes, bytearray)) or len(id) != ID_BYTES:
            raise ValueError(f"id is not an id: pass the {ID_BYTES} bytes that ringlet.unique_id() returned on rank 0")
        library, handle, passed = load(), ctypes.c_void_p(), UniqueId.from_buffer_copy(id)

        abandoned = threading.Event()

        def join() -> Optional[Error]:
            code = library.ncclCommInitRank(ctypes.byref(handle), size, passed, rank)
            if not code and abandoned.is_set():
                library.ncclCommAbort(handle)
            return _error(code) if code else None  # the text belongs to the thread

        try:
            error = _interrupt.wait_for(join)
        except KeyboardInterrupt:
            abandoned.set()
            raise
        if error is not None:
            raise error
        self._take(handle, rank, size)

    def _take(self, handle: ctypes.c_void_p, rank: int, size: int) -> None:
        library = load()
        numpy_types()
        _interrupt.install(__file__)
        self._handle, self._rank, self._size = handle, rank, size
        self._all_reduce = library.ncclAllReduce  # looked up once
        self._token = (ctypes.c_char * 1)()  # of barriers
        # A rank that ends without close() leaves as if it had called it, and does not wait.
        self._leave = weakref.finalize(self, _end, "ncclCommAbort", handle, os.getpid())

    @classmethod
    def from_id(cls: Type[_Self], id: bytes, rank: int, size: int) -> _Self:
        """As Communicator(rank, size, id)."""
        return cls(rank, size, id)

    @classmethod
    def from_file(cls: Type[_Self], path: Union[str, os.PathLike[str]], rank: int, size: int,
                  timeout: float = _TIMEOUT_S) -> _Self:  # fmt: skip
        """Passes the id in a file, which rank 0 creates for its user alone, and deletes afterwards.

        Other ranks wait `timeout` seconds for it, and raise TimeoutError. Rank 0 raises
        FileExistsError for an existing file, which may be left over from a run that was killed.
        """
        with _meeting.through_file(path, _rank_in(rank, size, "rank"), unique_id, timeout) as id:
            return cls(rank, size, id)

    @classmethod
    def from_launcher(cls: Type[_Self], timeout: float = _TIMEOUT_S) -> _Self:
        """Forms the communicator of all processes of torchrun, mpirun, srun or `ringlet run`.

        Call it once in each process, and `split` its result for more. `timeout`: seconds to wait for
        the id. Raises RuntimeError if no launcher is known, and TimeoutError with the missing ranks.
        """
        if Communicator._launched:
            raise RuntimeError("Communicator.from_launcher() was called before in this process: split that "
                               "communicator for another one")
        rank, size, id = _meeting.by_launcher(os.environ, unique_id, timeout)
        Communicator._launched = True
        return cls(rank, size, id)

    _launched = False

    @classmethod
    def from_mpi(cls: Type[_Self], comm: Any) -> _Self:
        """Forms a communicator of the ranks of `comm`, an mpi4py.MPI.Comm or an object with rank, size
        and bcast.
        """
        return cls(comm.rank, comm.size, comm.bcast(unique_id() if comm.rank == 0 else None, root=0))

    @staticmethod
    def group() -> _Group:
        """Returns a context that joins the calls of this thread, on one or several communicators.

        Sends and receives that wait for each other belong in one. Results are complete at the end of
        the outermost group. If the body raises, the calls do not run.
        """
        return _Group()

    @property
    def rank(self) -> int:
        return self._rank

    @property
    def size(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<ringlet.Communicator: rank {self._rank} of {self._size}{'' if self._leave.alive else ', closed'}>"

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: object, trace: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def close(self) -> None:
        """Leaves. All ranks call it: it waits for unfinished operations. Closing again has no effect."""
        if found := self._leave.peek():
            code = _end("ncclCommDestroy", *found[2][1:])
            if code != _INVALID_ARGUMENT:  # else another thread uses it
                self._leave.detach()
            _check(code)

    def abort(self) -> None:
        """Leaves at once, from any thread. A blocked call raises, and the other ranks fail with a text
        that names this one.
        """
        if found := self._leave.detach():
            _check(_end(*found[2]))

    # ---- Collectives ----

    def all_reduce(self, send: Any, recv: Any = None, op: str = "sum") -> Any:
        """Reduces the elements of all ranks to `recv` of each. In place: recv is send.

        op: "sum", "prod", "max", "min" or "avg". Returns recv, a new array if it is None.
        """
        if recv is None:
            recv = self._like(send)
        try:
            code, count = NUMPY_CODES[send.dtype], send.size
            if recv.size != count or NUMPY_CODES[recv.dtype] != code:
                raise ValueError
            source = pointer_to(send)
            target = source if recv is send else pointer_to(recv)
            result = self._all_reduce(source, target, _size_t(count), code, _OPS[op], self._handle, None)
        except _SLOW:
            return self._reduce("ncclAllReduce", send, recv, op, 1)
        if result or _attention:
            self._finish(result, source, target)
        return recv

    def reduce(self, send: Any, recv: Any = None, op: str = "sum", root: int = 0) -> Any:
        """As all_reduce, to `recv` of the root. Returns recv on the root, else None."""
        root = _rank_in(root, self._size, "root")
        if root == self._rank and recv is None:
            recv = self._like(send)
        return self._reduce("ncclReduce", send, recv if root == self._rank else _ABSENT, op, 1, root)

    def reduce_scatter(self, send: Any, recv: Any = None, op: str = "sum") -> Any:
        """Reduces blocks: rank r receives block r of `size` equal blocks of `send`. Returns recv."""
        if recv is None:
            recv = self._like(send, divided=True)
        return self._reduce("ncclReduceScatter", send, recv, op, self._size)

    def broadcast(self, buf: Any, root: int = 0) -> Any:
        """Copies `buf` of the root to `buf` of every rank. Returns buf."""
        root = _rank_in(root, self._size, "root")
        pointer, count, code = _one(buf, root != self._rank)
        self._call("ncclBroadcast", (pointer, pointer), count, code, root)
        return buf

    def all_gather(self, send: Any, recv: Any = None) -> Any:
        """Concatenates `send` of all ranks, in order, in `recv` of each. Returns recv."""
        if recv is None:
            recv = self._like(send, times=True)
        return self._move("ncclAllGather", send, recv, 1, self._size)

    def gather(self, send: Any, recv: Any = None, root: int = 0) -> Any:
        """As all_gather, to `recv` of the root. Returns recv on the root, else None."""
        root = _rank_in(root, self._size, "root")
        if root == self._rank and recv is None:
            recv = self._like(send, times=True)
        return self._move("ncclGather", send, recv if root == self._rank else _ABSENT, 1, self._size, root)

    def scatter(self, send: Any, recv: Any, root: int = 0) -> Any:
        """Copies block r of `size` equal blocks of the root's `send` to `recv` of rank r. Other ranks pass
        None as `send`. Returns recv.
        """
        root = _rank_in(root, self._size, "root")
        return self._move("ncclScatter", send if root == self._rank else _ABSENT, recv, self._size, 1, root)

    def all_to_all(self, send: Any, recv: Any = None) -> Any:
        """Sends block r of `size` equal blocks of `send` to rank r, which stores it as the block with
        this rank's number. Returns recv.
        """
        if recv is None:
            recv = self._like(send)
        return self._move("ncclAlltoAll", send, recv, self._size, self._size)

    def barrier(self) -> None:
        """Waits until all ranks have called it."""
        self._outside_a_group("barrier")
        result = self._all_reduce(self._token, self._token, _ONE, UINT8, _OPS["max"], self._handle, None)
        if result or _attention:
            self._finish(result)

    # ---- Between two ranks ----

    def send(self, buf: Any, to: int) -> None:
        """Sends to the rank `to`, which receives the same number of elements and type."""
        to = _rank_in(to, self._size, "to")
        pointer, count, code = _one(buf, False)
        self._call("ncclSend", (pointer,), count, code, to)

    def recv(self, buf: Any, source: int) -> Any:
        """Receives from the rank `source`. Returns buf."""
        source = _rank_in(source, self._size, "source")
        pointer, count, code = _one(buf, True)
        self._call("ncclRecv", (pointer,), count, code, source)
        return buf

    # ---- Communicators of some ranks ----

    def split(self: _Self, color: Optional[int], key: int = 0) -> Optional[_Self]:
        """Forms one communicator for each color, its ranks ordered by key and then by rank. All ranks
        call it. A rank with the color None joins none, and gets None.
        """
        color = _NO_COLOR if color is None else _rank_in(color, 1 << 31, "color")
        child = ctypes.c_void_p()
        return self._form("split", load().ncclCommSplit, child, color, ctypes.c_int(key), ctypes.byref(child), None)

    def shrink(self: _Self, exclude: Iterable[int], abort: bool = False) -> _Self:
        """Forms a communicator without the ranks in `exclude`. The remaining ranks call it.

        abort: whether ranks are lost, so that operations of this communicator end first.
        """
        ranks = [_rank_in(rank, self._size, "exclude") for rank in exclude]
        child = ctypes.c_void_p()
        made = self._form("shrink", load().ncclCommShrink, child, (ctypes.c_int * len(ranks))(*ranks), len(ranks),
                          ctypes.byref(child), None, _SHRINK_ABORT if abort else 0)  # fmt: skip
        if made is None:
            raise Error("shrink returned no communicator", _INVALID_USAGE)
        return made

    def reform(self: _Self, min_ranks: int = 1) -> _Self:
        """Forms a communicator of the ranks that are not lost, after this one has failed. The remaining
        ranks call it. They agree on the lost ranks, even if more ranks die meanwhile.

        min_ranks: the call fails on all ranks if fewer remain; the same on all ranks.
        """
        if not 1 <= min_ranks < 1 << 31:
            raise ValueError(f"min_ranks is {min_ranks}, which is not a number of ranks")
        child = ctypes.c_void_p()
        made = self._form("reform", load().ringletCommReform, child, ctypes.c_int(min_ranks), ctypes.byref(child))
        if made is None:
            raise Error("reform returned no communicator", _INVALID_USAGE)
        return made

    # ---- Objects, by pickle ----
    #
    # Loading a pickle can run any code: use these methods among trusted ranks alone.

    def broadcast_object(self, obj: Any = None, root: int = 0) -> Any:
        """Returns the root's `obj` on every rank. For trusted ranks: it loads a pickle of the root."""
        self._outside_a_group("broadcast_object")
        own = _rank_in(root, self._size, "root") == self._rank
        payload = bytearray(pickle.dumps(obj, -1)) if own else bytearray()
        length = self.broadcast((ctypes.c_int64 * 1)(len(payload)), root)[0]
        payload = payload if own else bytearray(length)
        self.broadcast(payload, root)
        return obj if own else pickle.loads(payload)

    def all_gather_object(self, obj: Any) -> List[Any]:
        """Returns the objects of all ranks, in order. For trusted ranks: it loads their pickles."""
        self._outside_a_group("all_gather_object")
        return self._loaded(obj, None) or []

    def gather_object(self, obj: Any, root: int = 0) -> Optional[List[Any]]:
        """As all_gather_object, on the root; None on the other ranks."""
        self._outside_a_group("gather_object")
        return self._loaded(obj, _rank_in(root, self._size, "root"))

    def send_object(self, obj: Any, to: int) -> None:
        """Sends to `recv_object` of the rank `to`."""
        self._outside_a_group("send_object")
        payload = pickle.dumps(obj, -1)
        self.send((ctypes.c_int64 * 1)(len(payload)), to)
        self.send(payload, to)

    def recv_object(self, source: int) -> Any:
        """Receives from `send_object` of the rank `source`. For trusted ranks: it loads a pickle."""
        self._outside_a_group("recv_object")
        length = self.recv((ctypes.c_int64 * 1)(), source)[0]
        return pickle.loads(self.recv(bytearray(length), source))

    def _loaded(self, obj: Any, root: Optional[int]) -> Optional[List[Any]]:
        payload = pickle.dumps(obj, -1)
        lengths = (ctypes.c_int64 * self._size)()
        self.all_gather((ctypes.c_int64 * 1)(len(payload)), lengths)
        largest = max(lengths)
        padded, gathered = payload.ljust(largest, b"\0"), None
        if root is None or root == self._rank:
            gathered = bytearray(largest * self._size)
        if root is None:
            self.all_gather(padded, gathered)
        else:
            self.gather(padded, gathered, root)
        if gathered is None:
            return None
        view = memoryview(gathered)
        return [pickle.loads(view[rank * largest:][:length]) for rank, length in enumerate(lengths)]

    # ---- Common parts ----

    def _like(self, send: Any, times: bool = False, divided: bool = False) -> Any:
        """Returns a new array for results of `send`: with its shape, or with a leading axis for the ranks,
        or with the share of a rank.
        """
        shape, elements, like = _shape(send)
        if times:
            shape = (self._size, *shape) if shape is not None else (self._size * elements,)
        elif divided:
            if elements % self._size:
                raise ValueError(f"send has {elements} elements, which {self._size} ranks cannot share equally")
            if shape and shape[0] % self._size == 0:
                shape = (shape[0] // self._size, *shape[1:])
            else:
                shape = (elements // self._size,)
        return allocate(send, like, (elements,) if shape is None else shape)

    def _reduce(self, function: str, send: Any, recv: Any, op: str, sends: int, *root: int) -> Any:
        number = _op(op)
        pointers, count, code = _blocks(send, recv, sends, 1, True)
        self._call(function, pointers, count, code, number, *root)
        return None if recv is _ABSENT else recv

    def _move(self, function: str, send: Any, recv: Any, sends: int, receives: int, *root: int) -> Any:
        pointers, count, code = _blocks(send, recv, sends, receives, False)
        self._call(function, pointers, count, code, *root)
        return None if recv is _ABSENT else recv

    def _call(self, function: str, pointers: Tuple[Any, ...], count: int, code: int, *numbers: int) -> None:
        """Calls a function of the C API, whose parameters all have this order."""
        result = getattr(load(), function)(*pointers, _size_t(count), code, *numbers, self._handle, None)
        if result or _attention:
            self._finish(result, *pointers)

    def _finish(self, result: int, *pointers: Any) -> None:
        """Raises the error of a call, or keeps its buffers until the end of the group."""
        if result:
            if result == _INVALID_ARGUMENT and not self._leave.alive:
                raise Error(f"{self!r} was closed or aborted: form a new communicator", result)
            raise _error(result)
        if _groups_open():
            _thread.groups[-1].append((self, pointers))
        else:
            _synchronize()

    def _form(self: _Self, name: str, function: Any, child: ctypes.c_void_p, *arguments: Any) -> Optional[_Self]:
        self._outside_a_group(name)
        self._finish(function(self._handle, *arguments))
        if not child:
            return None
        numbers = ctypes.c_int(), ctypes.c_int()
        _check(load().ncclCommUserRank(child, ctypes.byref(numbers[0])))
        _check(load().ncclCommCount(child, ctypes.byref(numbers[1])))
        made = object.__new__(type(self))
        made._take(child, numbers[0].value, numbers[1].value)
        return made

    def _outside_a_group(self, name: str) -> None:
        if _attention and _groups_open():
            raise Error(f"{name} needs its result at once, and a group is open in this thread: call it outside the "
                        "group", _INVALID_USAGE)
