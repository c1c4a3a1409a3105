"""from_launcher: the ranks and the store of a program that a launcher started."""

import atexit
import os
import socket
from datetime import timedelta

import torch.distributed as dist

from ringlet import pmix
from ringlet._backend import extension
from ringlet.launchers import pmix_variables, rank_variables


def from_launcher(timeout=timedelta(minutes=5)):
    """Lets init_process_group work in a program that mpirun, srun or Kubernetes started.

    Sets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT unless they are
    set; under torchrun it has no effect. If a PMIx server started the program (Open MPI's mpirun,
    `srun --mpi=pmix`), rank 0 serves the store at a free port, and the others get its address from
    PMIx, waiting for `timeout` (a timedelta). Otherwise it reads the variables of Open MPI, MPICH,
    Slurm, Kubeflow's Trainer or an Indexed Job. With MPICH on several hosts, set MASTER_ADDR
    yourself; in an Indexed Job, MASTER_ADDR and WORLD_SIZE. Raises RuntimeError if no launcher is
    known, if its values are invalid, or if rank 0 is missing.
    """
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return
    client, why = None, None
    if "PMIX_RANK" in os.environ:
        try:
            client = pmix.Client()
        except pmix.Unavailable as unavailable:
            why = unavailable
    try:
        found = _meet_by_pmix(client, timeout) if client else rank_variables(os.environ)
    except (RuntimeError, pmix.Unavailable) as error:
        raise RuntimeError(f"{error} ({why})" if why else str(error)) from None
    # The name of a pod resolves as soon as the pod exists; PyTorch retries until its timeout.
    if "MASTER_ADDR" in found and found["MASTER_ADDR"] != os.environ.get("PET_MASTER_ADDR") and not client:
        _check_name(found["MASTER_ADDR"])
    os.environ.update(found)


def _check_name(host):
    """Raises RuntimeError if no host has this name, because PyTorch would retry until its timeout."""
    try:
        socket.getaddrinfo(host, None)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):  # permanent
            raise RuntimeError(f"srun reports that rank 0 is on {host}, but that name does not resolve here: "
                               "set MASTER_ADDR to its address, or start with srun --mpi=pmix") from None


def _meet_by_pmix(client, timeout):
    atexit.register(client.close)

    def serve(address, port, size):
        # init_process_group finds it by its port, because stores of one process share their server.
        from_launcher.store = dist.TCPStore(address, port, size, is_master=True, timeout=timeout,
                                            wait_for_workers=False, multi_tenant=True)
        return from_launcher.store.port

    return pmix_variables(client, os.environ, serve, extension().reachable_address,
                          timeout.total_seconds())
