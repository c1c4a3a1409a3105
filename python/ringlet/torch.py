"""PyTorch's arithmetic on the "cuda" tensors of a program under `ringlet emulate`.

    from ringlet.torch import HostCompute

    with HostCompute():
        model = torch.nn.Linear(8, 1).cuda()
        ...

The devices of `ringlet emulate` have the computer's memory and no kernels. Communication needs no
kernels; arithmetic does. HostCompute computes on CPU tensors over the same bytes. So training with
DistributedDataParallel, DTensor or fully_shard runs with the backend "nccl" as on GPUs, only
slower. Results are those of PyTorch's CPU kernels.
"""

import ctypes
import threading

import torch
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["HostCompute"]

# Communication, and operations that only mark or describe. PyTorch runs them without kernels.
_OWN_WAY = ("c10d", "_c10d_functional", "_c10d_functional_autograd", "symm_mem", "profiler", "prim")
# Operations of aten, besides views, that create or change tensors without reading elements.
_WITHOUT_KERNELS = frozenset(
    "aten::" + name
    for name in (
        "_reshape_alias _unsafe_view empty empty_like empty_strided is_pinned lift lift_fresh new_empty "
        "new_empty_strided record_stream resize_ set_"
    ).split()
)


_in_thread = threading.local()  # .entered: this thread's active HostCompute objects, innermost last
_make_text = torch._tensor_str._str_intern


def _make_text_of(tensor, **options):
    # PyTorch leaves all modes before it formats a tensor, which needs arithmetic on its elements.
    entered = getattr(_in_thread, "entered", None)
    if not entered or not tensor.is_cuda or isinstance(tensor, FakeTensor):
        return _make_text(tensor, **options)
    with entered[-1]:
        return _make_text(tensor, **options)


torch._tensor_str._str_intern = _make_text_of


class HostCompute(TorchDispatchMode):
    """While active, the CPU computes operations on "cuda" tensors immediately.

    Each operation first waits for the current streams of its tensors, so it sees the results of
    earlier collectives. Kernels of other libraries, torch.compile and arithmetic in a captured
    graph are not supported and fail with a message. Attention uses its mathematical form, without
    cuDNN.
    """

    def __init__(self):
        super().__init__()
        self._generators = {}
        self._settings = []

    def __enter__(self):
        # CUDA's special forms of attention, batch norm and RNNs do not exist for the CPU.
        self._settings.append([ask() for ask, _ in _settings()])
        for (_, enable), value in zip(_settings(), (False, False, False, False, True)):
            enable(value)
        _in_thread.entered = [*getattr(_in_thread, "entered", []), self]
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        _in_thread.entered = _in_thread.entered[:-1]
        for (_, enable), value in zip(_settings(), self._settings.pop()):
            enable(value)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if any(_unwraps_itself(one) for one in types):
            return NotImplemented  # a DTensor calls again with its inner tensors
        if _runs_as_it_is(function) or any(issubclass(one, FakeTensor) for one in types):
            return function(*args, **kwargs)
        call = _Call(self._generators, args, kwargs)
        return call.run(function) if call.device else function(*args, **kwargs)


def _settings():
    """Getters and setters of cuDNN and each form of attention; the mathematical one is last."""
    cuda = torch.backends.cuda
    return (
        # Avoids torch.backends.cudnn.enabled, because a program may forbid changes of it, as
        # PyTorch's tests do.
        (torch._C._get_cudnn_enabled, torch._C._set_cudnn_enabled),
        (cuda.flash_sdp_enabled, cuda.enable_flash_sdp),
        (cuda.mem_efficient_sdp_enabled, cuda.enable_mem_efficient_sdp),
        (cuda.cudnn_sdp_enabled, cuda.enable_cudnn_sdp),
        (cuda.math_sdp_enabled, cuda.enable_math_sdp),
    )


def _unwraps_itself(one):
    plain = (torch.Tensor, torch.nn.Parameter, FakeTensor)
    disabled = torch._C._disabled_torch_dispatch_impl
    return one not in plain and getattr(one, "__torch_dispatch__", disabled) is not disabled


def _runs_as_it_is(function):
    if function.namespace in _OWN_WAY:
        return True
    return function._schema.name in _WITHOUT_KERNELS or (
        function.namespace == "aten" and function.is_view
    )


class _Call:
    """One operation: its arguments for the CPU, and its results for the device."""

    def __init__(self, generators, args, kwargs):
        self._generators = generators
        self._leaves, self._form = tree_flatten((args, kwargs))
        self._on_device = [x for x in self._leaves if isinstance(x, torch.Tensor) and x.is_cuda]
        asked = kwargs.get("device")
        self._asked = None if asked is None else torch.device(asked)
        self.device = None  # of the results
        if self._on_device:
            self.device = self._on_device[0].device
        elif self._asked is not None and self._asked.type == "cuda":
            self.device = self._asked
        self._given = {}  # the caller's tensor, by the id of a CPU tensor
        self._storages = {}  # a device tensor, by its address

    def run(self, function):
        self._wait()
        args, kwargs = tree_unflatten([self._to_host(x) for x in self._leaves], self._form)
        return tree_map(self._to_device, function(*args, **kwargs))

    def _wait(self):
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError(
                "HostCompute computes at once, which a graph cannot capture: capture communication alone"
            )
        for device in {x.device for x in self._on_device} | {self.device}:
            torch.cuda.current_stream(device).synchronize()

    def _to_host(self, x):
        if isinstance(x, torch.device):
            return torch.device("cpu") if x.type == "cuda" else x
        if isinstance(x, torch.Generator):
            return self._host_generator(x) if x.device.type == "cuda" else x
        if not isinstance(x, torch.Tensor):
            return x
        host = _host_view(x) if x.is_cuda else x
        self._given[id(host)] = (host, x)
        if x.is_cuda:
            self._storages[x.untyped_storage().data_ptr()] = x
        return host

    def _host_generator(self, generator):
        key = id(generator)
        if key not in self._generators:
            host = torch.Generator().manual_seed(generator.initial_seed())
            self._generators[key] = (host, generator)
        return self._generators[key][0]

    def _to_device(self, x):
        if not isinstance(x, torch.Tensor):
            return x
        if id(x) in self._given:
            return self._given[id(x)][1]
        if self._asked is not None and self._asked.type != "cuda":
            return x
        owner = self._storages.get(x.untyped_storage().data_ptr())
        if owner is not None and x.untyped_storage().nbytes() > 0:
            view = torch.empty(0, dtype=x.dtype, device=owner.device)
            return view.set_(owner.untyped_storage(), x.storage_offset(), x.size(), x.stride())
        made = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=self.device)
        if x.numel() > 0:
            _host_view(made).copy_(x)
        return made


def _host_view(tensor):
    """Returns a CPU tensor on the bytes of a device tensor; valid while that keeps its storage."""
    storage = tensor.untyped_storage()
    view = torch.empty(0, dtype=tensor.dtype)
    if storage.nbytes() == 0:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    memory = (ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr())
    raw = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
    view.set_(raw, tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.is_conj():
        view = view.conj()
    return view._neg_view() if tensor.is_neg() else view
