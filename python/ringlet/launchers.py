"""Which rank a process is, from what the program that started it says: torchrun, mpirun or srun."""

import re

from ringlet.pmix import Unavailable

_DEFAULT_PORT = 29500


class _Launcher:
    """Names of the variables in which a launcher says it."""

    def __init__(self, name, rank, size, local_rank, local_size, hosts=()):
        self.name = name
        self.rank, self.size = rank, size
        self.local_rank, self.local_size = local_rank, local_size
        self.hosts = hosts  # lists of them, rank 0's first


# In this order: srun may start mpirun, and what is started last knows best.
_LAUNCHERS = (
    _Launcher("Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
              "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    _Launcher("MPICH's mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    _Launcher("srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE",
              hosts=("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST")),
)


def _number(environment, name, launcher):
    text = environment.get(name, "")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise RuntimeError(f"{launcher} is to set {name} to a number, and it is {text!r}")
    return int(text)


def _first_host(nodes):
    """The first name of a list as srun writes it: "n[08-11,20],m1" begins with n08."""
    match = re.match(r"([^,\[]+)(?:\[([0-9]+)[^\]]*\]([^,]*))?", nodes)
    return "".join(part or "" for part in match.groups()) if match else None


def _address(environment, launcher, size):
    """Where rank 0 listens, for those who do not say MASTER_ADDR."""
    for name in launcher.hosts:
        if environment.get(name):
            return _first_host(environment[name])
    if environment.get(launcher.local_size, "") == str(size):
        return "127.0.0.1"
    raise RuntimeError(
        f"{launcher.name} started ranks on several hosts and does not say where rank 0 is: set "
        "MASTER_ADDR to its host, for all ranks"
    )


def rank_variables(environment):
    """What torch.distributed's env:// wants, as a dictionary of texts: RANK, WORLD_SIZE, LOCAL_RANK,
    MASTER_ADDR and MASTER_PORT.

    What is set already stays; where RANK and WORLD_SIZE are, torchrun or the caller has said it all,
    and nothing is added. Raises RuntimeError where no launcher is known, or one says nonsense.
    """
    if "RANK" in environment and "WORLD_SIZE" in environment:
        return {}
    for launcher in _LAUNCHERS:
        if launcher.rank in environment:
            break
    else:
        raise RuntimeError(
            "neither RANK and WORLD_SIZE nor the variables of mpirun or srun are set: start the "
            "program with torchrun, mpirun or srun, or set them"
        )
    rank = _number(environment, launcher.rank, launcher.name)
    size = _number(environment, launcher.size, launcher.name)
    if rank >= size:
        raise RuntimeError(f"{launcher.name} says rank {rank} of {size}")
    found = {"RANK": str(rank), "WORLD_SIZE": str(size)}
    if environment.get(launcher.local_rank):
        found["LOCAL_RANK"] = str(_number(environment, launcher.local_rank, launcher.name))
    found["MASTER_ADDR"] = environment.get("MASTER_ADDR") or _address(environment, launcher, size)
    # Jobs that share a host meet at ports of their own where the launcher numbers them.
    job = environment.get("SLURM_JOB_ID", "")
    port = _DEFAULT_PORT + (int(job) % 10_000 if job.isdigit() else 0)
    found["MASTER_PORT"] = environment.get("MASTER_PORT") or str(port)
    return {name: text for name, text in found.items() if not environment.get(name)}


_MEETING = "ringlet.meeting"


def pmix_variables(client, environment, serve, reachable_address, timeout_s):
    """What rank_variables finds, as a PMIx server knows it: for ranks on any hosts, at a free port.

    client: a pmix.Client. serve(address, port, size) begins to serve the store, with port 0 at any
    that is free, and returns the port; it and reachable_address() are called on rank 0 only. The
    others wait `timeout_s` seconds for rank 0. Raises pmix.Unavailable.
    """
    size = client.size()
    if client.rank == 0:
        alone = client.local_size() == size
        address = environment.get("MASTER_ADDR") or ("127.0.0.1" if alone else reachable_address())
        given = environment.get("MASTER_PORT")
        port = serve(address, _number(environment, "MASTER_PORT", "who sets it") if given else 0, size)
        client.publish(_MEETING, f"{address} {port}")
    else:
        try:
            address, _, port = client.published(0, _MEETING, timeout_s).partition(" ")
        except Unavailable as why:
            raise Unavailable(f"rank 0 of {size} has not said where to meet: {why}; does it call "
                              "ringlet.from_launcher(), too?") from None
    found = {"RANK": client.rank, "WORLD_SIZE": size, "LOCAL_RANK": client.local_rank(),
             "MASTER_ADDR": address, "MASTER_PORT": port}
    return {name: str(value) for name, value in found.items() if not environment.get(name)}
