#!/usr/bin/env python3
"""Checks that libnccl.so.2 exports the functions of NVIDIA's library.

    nccl_names_test.py LIBNCCL C_API_PAGE [LIBRARY...]

The names are those of nvidia-nccl-cu13 2.32.3. The table of C_API_PAGE has the version of NCCL that
introduced each. Each further LIBRARY is one of NVIDIA's, with its own names: for a version missing
in this list.
"""
import re
import subprocess
import sys

# Every function also has an export with a leading p, except these.
NO_TWIN = {"ncclResetDebugInitInternal"}
NAMES = """
AllGather AllGatherConfig AllReduce AllReduceConfig AlltoAll AlltoAllConfig Bcast Broadcast
BroadcastConfig CommAbort CommCount CommCuDevice CommDeregister CommDestroy CommFinalize
CommGetAsyncError CommGetUniqueId CommGrow CommInitAll CommInitRank CommInitRankConfig
CommInitRankScalable CommMemStats CommQueryProperties CommRegister CommResume CommRevoke CommShrink
CommSplit CommSuspend CommUserRank CommWindowDeregister CommWindowRegister DevCommCreate
DevCommDestroy Gather GatherConfig GetCftDeviceLeInfo GetErrorString GetLastError
GetLsaDevicePointer GetLsaMultimemDevicePointer GetMultimemDeviceLeInfo GetMultimemDevicePointer
GetPeerDeviceLeInfo GetPeerDevicePointer GetUniqueId GetVersion GinBarrierCreateRequirement
GinInboxA2ACreateRequirement GinOutboxCreateRequirement GroupEnd GroupSimulateEnd GroupStart
LLA2ACalcSlots LLA2ACreateRequirement LsaBarrierCreateRequirement MemAlloc MemFree ParamBind
ParamDumpAll ParamGet ParamGetAllParameterKeys ParamGetI16 ParamGetI32 ParamGetI64 ParamGetI8
ParamGetParameter ParamGetStr ParamGetU16 ParamGetU32 ParamGetU64 ParamGetU8 PutSignal Recv
RedOpCreatePreMulSum RedOpDestroy Reduce ReduceConfig ReduceScatter ReduceScatterConfig
ResetDebugInit ResetDebugInitInternal Scatter ScatterConfig Send SetEncryption Signal TeamCft
TeamCftMultimem TeamLsa TeamRail TeamRankToLsa TeamRankToWorld TeamWorld WaitSignal WinGetUserPtr
""".split()


def exported(library):
    """Returns the defined functions that programs may call by NCCL's names; weak ones count."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    return set(re.findall(r" [TW] (p?nccl[A-Z]\w*)(?:@\S*)?$", symbols, re.M))


def main(ours, page, *others):
    wanted = {"nccl" + name for name in NAMES}
    wanted |= {"p" + name for name in wanted - NO_TWIN}
    for other in others:
        wanted |= exported(other)
    missing = sorted(wanted - exported(ours))
    with open(page, encoding="utf-8") as file:
        listed = set(re.findall(r"^\| `(nccl\w+)` \| 2\.\d+ \|", file.read(), re.M))
    unlisted = sorted(name for name in wanted if not name.startswith("p") and name not in listed)
    for name in missing:
        print(f"{ours} does not export {name}")
    for name in unlisted:
        print(f"{page} does not say since when there is {name}")
    return 1 if missing or unlisted else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
