"""Determines the rank of a process from the variables of its launcher: torchrun, mpirun, srun or Kubernetes."""

import re

from ringlet.pmix import Unavailable

_DEFAULT_PORT = 29500
# Ports of Slurm jobs, below Linux's ephemeral ports (32768 and above).
_SLURM_PORT, _SLURM_PORTS = 22_000, 10_000
_PORTS_BETWEEN_STEPS = 1009  # concurrent jobs have closer numbers


class _Launcher:
    """Names of the variables that a launcher sets."""

    def __init__(self, name, rank, size, local_rank, local_size):
        self.name = name
        self.rank, self.size = rank, size
        self.local_rank, self.local_size = local_rank, local_size


_OPEN_MPI = _Launcher("Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                      "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE")
_MPICH = _Launcher("MPICH's mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")
# Variables of the step: the batch script also has SLURM_NTASKS, but it is not a rank.
_SRUN = _Launcher("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", None)
# torchrun's options as Kubeflow's Trainer sets them in each pod; a program without torchrun is one rank.
_TRAINER = _Launcher("Kubeflow's Trainer", "PET_NODE_RANK", "PET_NNODES", None, None)
# Pods of an Indexed Job, also those of a JobSet, receive their index alone; the manifest sets WORLD_SIZE.
_JOB = _Launcher("the Indexed Job", "JOB_COMPLETION_INDEX", "WORLD_SIZE", None, None)
_PODS = (_TRAINER, _JOB)  # one rank per pod


def _launcher_of(environment):
    """Returns the launcher of this process. Raises RuntimeError if there is none."""
    # srun may start mpirun; the last launcher takes precedence.
    if _OPEN_MPI.rank in environment:
        return _OPEN_MPI
    # With --mpi=pmi2, srun sets some of MPICH's variables, with its own name of the job.
    step = f"{environment.get('SLURM_JOB_ID')}.{environment.get('SLURM_STEP_ID')}"
    if _MPICH.rank in environment and environment.get("PMI_JOBID") != step:
        return _MPICH
    if _SRUN.rank not in environment:
        return _pods_of(environment)
    tasks = environment.get("SLURM_NTASKS", "1")
    if _SRUN.size not in environment and tasks != "1":
        raise RuntimeError(
            f"this process belongs to the batch script of a job of {tasks} tasks, and is not a rank: "
            "start the program with srun in the script"
        )
    return _SRUN


def _pods_of(environment):
    """Returns the launcher of this pod. Raises RuntimeError if there is none, or if a pod has several ranks."""
    pods, processes = (environment.get(name, "") for name in ("PET_NNODES", "PET_NPROC_PER_NODE"))
    if ":" in pods or (re.fullmatch(r"[0-9]{1,9}", processes) and int(processes) != 1):
        raise RuntimeError(
            f"Kubeflow plans {pods or 1} pods of {processes or 1} processes (PET_NNODES, PET_NPROC_PER_NODE), and "
            "this process is one for its pod: start the program with torchrun"
        )
    if _TRAINER.rank in environment:
        return _TRAINER
    if _JOB.rank not in environment:
        raise RuntimeError(
            "neither RANK and WORLD_SIZE nor the variables of mpirun, srun or an Indexed Job are set: start the "
            "program with torchrun, mpirun or srun, or set them"
        )
    if not environment.get(_JOB.size):
        raise RuntimeError(
            "JOB_COMPLETION_INDEX is set and WORLD_SIZE is not: set WORLD_SIZE in the pod's env to the completions "
            "of the Job"
        )
    return _JOB


def _number(environment, name, launcher):
    text = environment.get(name, "")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise RuntimeError(f"{name}, set by {launcher}, is {text!r}, not a number")
    return int(text)


def _first_host(nodes):
    """Returns the first name of a list in srun's form: "n[08-11,20],m1" begins with n08,
    "r[0-3]n[1-4]" with r0n1. Raises RuntimeError if it is malformed.
    """
    first = re.match(r"(?:[^,\[\]]|\[[^\[\]]*\])*", nodes)[0]
    host = re.sub(r"\[([0-9]+)[^\]]*\]", r"\1", first)
    if nodes[len(first) : len(first) + 1] not in ("", ",") or not re.fullmatch(r"[\w.-]+", host):
        raise RuntimeError(f"srun set SLURM_STEP_NODELIST to {nodes!r}, not a list of hosts: set MASTER_ADDR")
    return host


def _tasks_of_node(counts, node):
    """Returns the count for the node with this number from a list in srun's form: "2(x3),1" is 2, 2,
    2, 1. None if the list lacks the node.
    """
    for count, times in re.findall(r"([0-9]{1,9})(?:\(x([0-9]{1,9})\))?(?:,|$)", counts):
        node -= int(times or 1)
        if node < 0:
            return int(count)
    return None


def _local_size(environment, launcher):
    """Returns the number of ranks on this host as text; None if unknown."""
    if launcher in _PODS:
        return "1"
    if launcher is not _SRUN:
        return environment.get(launcher.local_size)
    if "SLURM_STEP_TASKS_PER_NODE" not in environment:
        return None
    node = _number(environment, "SLURM_NODEID", launcher.name)
    found = _tasks_of_node(environment["SLURM_STEP_TASKS_PER_NODE"], node)
    return None if found is None else str(found)


def _address(environment, launcher, size):
    """Returns the address of rank 0, for programs without MASTER_ADDR."""
    if launcher is _TRAINER and environment.get("PET_MASTER_ADDR"):
        return environment["PET_MASTER_ADDR"]
    if launcher in _PODS and size > 1:
        raise RuntimeError(
            f"{launcher.name} does not pass the host of rank 0: set MASTER_ADDR to the pod with index 0, "
            "JOB-0.SERVICE of a headless Service; a JobSet has JOBSET-REPLICATEDJOB-0-0.JOBSET"
        )
    if launcher is not _SRUN:
        if _local_size(environment, launcher) == str(size):
            return "127.0.0.1"
    elif environment.get("SLURM_STEP_NUM_NODES", "1") == "1":
        return "127.0.0.1"
    elif environment.get("SLURM_DISTRIBUTION", "").partition(":")[0] != "arbitrary":
        return _first_host(environment.get("SLURM_STEP_NODELIST", ""))
    raise RuntimeError(
        f"{launcher.name} started ranks on several hosts and does not pass the host of rank 0: "
        "set MASTER_ADDR to it, for all ranks"
    )


def _port(environment, launcher):
    """Returns a port that depends on the job and step, if numbered, so that those on one host differ."""
    if launcher is _TRAINER and environment.get("PET_MASTER_PORT"):
        return _number(environment, "PET_MASTER_PORT", launcher.name)
    job, step = (environment.get(name, "") for name in ("SLURM_JOB_ID", "SLURM_STEP_ID"))
    if not re.fullmatch(r"[0-9]{1,18}", job):
        return _DEFAULT_PORT
    steps = int(step) if re.fullmatch(r"[0-9]{1,9}", step) else 0
    return _SLURM_PORT + (int(job) + steps * _PORTS_BETWEEN_STEPS) % _SLURM_PORTS


def rank_variables(environment):
    """Returns the variables of torch.distributed's env:// as a dict of texts: RANK, WORLD_SIZE,
    LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT.

    Variables that are set already stay unchanged. If RANK and WORLD_SIZE are set, by torchrun or
    the caller, returns an empty dict. Raises RuntimeError if no launcher is known, or if its values
    are invalid.
    """
    if "RANK" in environment and "WORLD_SIZE" in environment:
        return {}
    launcher = _launcher_of(environment)
    rank = _number(environment, launcher.rank, launcher.name)
    # A batch script of one task is its only rank.
    alone = launcher is _SRUN and launcher.size not in environment
    size = 1 if alone else _number(environment, launcher.size, launcher.name)
    if rank >= size:
        raise RuntimeError(f"{launcher.name} passed an impossible rank: {rank} of {size}")
    found = {"RANK": str(rank), "WORLD_SIZE": str(size)}
    if launcher in _PODS:
        found["LOCAL_RANK"] = "0"
    elif environment.get(launcher.local_rank):
        found["LOCAL_RANK"] = str(_number(environment, launcher.local_rank, launcher.name))
    if local_size := "1" if alone else _local_size(environment, launcher):
        found["LOCAL_WORLD_SIZE"] = local_size
    found["MASTER_ADDR"] = environment.get("MASTER_ADDR") or _address(environment, launcher, size)
    found["MASTER_PORT"] = environment.get("MASTER_PORT") or str(_port(environment, launcher))
    return {name: text for name, text in found.items() if not environment.get(name)}


_MEETING = "ringlet.meeting"


def pmix_variables(client, environment, serve, reachable_address, timeout_s):
    """As rank_variables, from a PMIx server: for ranks on any hosts, at a free port.

    client: a pmix.Client. serve(address, port, size) starts to serve the store, with port 0 at any
    free port, and returns the port; only rank 0 calls serve and reachable_address(). The others wait
    `timeout_s` seconds for rank 0. Raises pmix.Unavailable.
    """
    size = client.size()
    if client.rank == 0:
        alone = client.local_size() == size
        address = environment.get("MASTER_ADDR") or ("127.0.0.1" if alone else reachable_address())
        given = environment.get("MASTER_PORT")
        port = serve(address, _number(environment, "MASTER_PORT", "the user") if given else 0, size)
        client.publish(_MEETING, f"{address} {port}")
    else:
        try:
            address, _, port = client.published(0, _MEETING, timeout_s).partition(" ")
        except Unavailable as why:
            raise Unavailable(f"rank 0 of {size} has not published its address: {why}; does it call "
                              "ringlet.from_launcher(), too?") from None
    found = {"RANK": client.rank, "WORLD_SIZE": size, "LOCAL_RANK": client.local_rank(),
             "LOCAL_WORLD_SIZE": client.local_size(), "MASTER_ADDR": address, "MASTER_PORT": port}
    return {name: str(value) for name, value in found.items() if not environment.get(name)}
