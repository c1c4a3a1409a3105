"""Hugging Face's accelerate, told that there is another backend for CPUs."""

import functools


def accelerate():
    """Has accelerate and the transformers Trainer take "ringlet" where they are told a backend.

    Called once, ahead of Accelerator() or TrainingArguments(): then
    InitProcessGroupKwargs(backend="ringlet") and TrainingArguments(use_cpu=True, ddp_backend="ringlet")
    mean what they say. accelerate itself takes Gloo on CPUs, whatever it is told. Programs that name
    another backend, or none, go on as before. Without this call, a process group that exists already
    is used as well. Raises ModuleNotFoundError without accelerate, RuntimeError where its version is
    one that this does not know.
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
