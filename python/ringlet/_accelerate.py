"""Adds Ringlet to Hugging Face's accelerate as a backend for CPUs."""

import functools


def accelerate():
    """Lets accelerate and the transformers Trainer accept "ringlet" as a backend.

    Call it once, before Accelerator() or TrainingArguments(). Then
    InitProcessGroupKwargs(backend="ringlet") and TrainingArguments(use_cpu=True,
    ddp_backend="ringlet") take effect. accelerate itself always uses Gloo on CPUs. Programs with
    another backend, or without one, are unaffected. Without this call, accelerate still uses an
    existing process group. Raises ModuleNotFoundError without accelerate, RuntimeError for an
    unknown version of it.
    """
    from accelerate import PartialState
    from accelerate.utils import DistributedType

    own = getattr(PartialState, "_prepare_backend", None)
    if own is None:
        raise RuntimeError(
            "ringlet.accelerate() does not know this version of accelerate: call "
            'torch.distributed.init_process_group("ringlet") ahead of Accelerator() instead')
    if hasattr(own, "ringlet"):
        return

    @functools.wraps(own)
    def prepare(self, cpu=False, sagemaker_dp=False, backend=None):
        chosen, kind = own(self, cpu, sagemaker_dp, backend)
        return ("ringlet" if backend == "ringlet" and kind == DistributedType.MULTI_CPU else chosen), kind

    prepare.ringlet = True
    PartialState._prepare_backend = prepare
