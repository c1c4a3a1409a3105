import logging
import os
from datetime import timedelta
from typing import Any, Dict, Mapping, Optional, Sequence, Union

import torch
import torch.distributed as dist

# Without torch, type checkers treat its names as Any; these have their types in any case.
from ringlet._communicator import Communicator as Communicator
from ringlet._communicator import Error as Error
from ringlet._communicator import unique_id as unique_id
from ringlet._library import lib_path as lib_path

__version__: str

ops: Any
"""The operators torch.ops.ringlet, which block and bypass torch.distributed: all_reduce_,
broadcast_, all_gather_into_tensor, reduce_scatter_tensor, all_to_all_single, barrier."""

class Options(dist.Backend.Options):
    """Options of a Ringlet process group; pass them as `pg_options`.

    init_timeout: for forming a communicator, in the first operation; 0 means `timeout`.
    ranks_per_root: number of ranks per root while the communicator forms.
    """

    init_timeout: timedelta
    ranks_per_root: int
    def __init__(
        self,
        *,
        timeout: timedelta = ...,
        init_timeout: timedelta = ...,
        ranks_per_root: int = ...,
    ) -> None: ...

class ProcessGroupRinglet(dist.Backend):
    """The backend of a process group on Ringlet's communicators."""

    def __init__(
        self,
        store: dist.Store,
        rank: int,
        size: int,
        timeout: timedelta = ...,
        name: str = ...,
    ) -> None: ...

def accelerate() -> None: ...
def collect_env(environment: Optional[Mapping[str, str]] = ...) -> Dict[str, Any]: ...
def empty(
    *size: Union[int, Sequence[int]], dtype: Optional[torch.dtype] = ...
) -> torch.Tensor: ...
def from_launcher(timeout: timedelta = ...) -> None: ...
def log_to_logging(logger: Optional[logging.Logger] = ...) -> None: ...
def monitored_barrier(
    group: Optional[dist.ProcessGroup] = ...,
    timeout: Optional[timedelta] = ...,
    wait_all_ranks: bool = ...,
) -> None: ...
def predict(
    xml: Union[str, os.PathLike[str]],
    hosts: int = ...,
    op: str = ...,
    bytes: int = ...,
    *,
    flows: bool = ...,
) -> Dict[str, Any]: ...
