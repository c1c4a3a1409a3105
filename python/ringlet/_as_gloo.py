"""RINGLET_AS_GLOO=1: process groups that a program creates with the backend "gloo" run on Ringlet."""

import logging

import torch.distributed as dist
from torch._C._distributed_c10d import Backend

_log = logging.getLogger("ringlet")


class _StandInType(type(Backend)):
    """Creates Ringlet's backends with the arguments and the name of Gloo's."""

    def __call__(cls, store, rank, size, timeout=None, enable_reconfigure=False):
        from ringlet import _backend

        if enable_reconfigure:  # since PyTorch 2.15
            raise ValueError("RINGLET_AS_GLOO=1: a group whose members change needs the backend name ringlet, "
                             "not gloo")
        if not _StandInType.announced:
            _StandInType.announced = True
            _log.warning('RINGLET_AS_GLOO=1: process groups of the backend "gloo" run on Ringlet')
        return _backend.create_named(store, rank, size, timeout or _backend.DEFAULT_TIMEOUT, "gloo")

    announced = False

    def __instancecheck__(cls, value):
        return type(value) is Backend and value.name() == "gloo"

    def __getattr__(cls, name):
        raise AttributeError(f"RINGLET_AS_GLOO=1 replaces ProcessGroupGloo, and Ringlet does not have its {name}: "
                             "unset RINGLET_AS_GLOO for this program")


class ProcessGroupGloo(Backend, metaclass=_StandInType):
    """A stand-in for PyTorch's class of this name."""


def replace_gloo():
    """Lets PyTorch create Ringlet's groups in place of Gloo's."""
    dist.distributed_c10d.ProcessGroupGloo = dist.ProcessGroupGloo = ProcessGroupGloo
