#!/bin/bash
# A cluster of Slurm in namespaces of its own: a controller and the hosts a01 and a02 on a bridge.
#
#     unshare -nmupf --kill-child --mount-proc bash cluster.sh FOLDER
#
# Writes the line READY when jobs can be started, and lasts until its standard input ends. All that it
# starts is in its process namespace and ends with it; what it mounts is seen there alone. FOLDER, which
# is empty, holds all files that are written. Needs munge, slurmctld, slurmd and slurm-client.
set -e
folder=$1
hosts='a01 a02'

. "$(dirname "$0")/../run/hosts.sh"

printf '127.0.0.1 localhost\n10.77.0.1 control\n10.77.0.11 a01\n10.77.0.12 a02\n' >"$folder/hosts"
make_network "$folder"
mount -t tmpfs tmpfs /run
mkdir -p "$folder"/{munge,control} /run/munge
hostname control

# Debian's plug-in for PMIx loads libpmix.so, which is in libpmix-dev.
pmix=$(echo /usr/lib/*/pmix2/lib)
if [ -d "$pmix" ] && [ ! -e "$pmix/libpmix.so" ]; then
  mkdir "$folder/pmix"
  mount --bind "$pmix" "$folder/pmix"
  mount -t tmpfs tmpfs "$pmix"
  ln -s "$folder"/pmix/* "$pmix"
  ln -s libpmix.so.2 "$pmix/libpmix.so"
fi

head -c 1024 /dev/urandom >"$folder/munge/key"
chmod 400 "$folder/munge/key"
munged --force --key-file="$folder/munge/key" --socket=/run/munge/munge.socket.2 \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"

cat >"$folder/slurm.conf" <<CONFIGURATION
ClusterName=test
SlurmctldHost=control(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge/munge.socket.2
StateSaveLocation=$folder/control
SlurmctldPidFile=$folder/control/pid
SlurmctldLogFile=$folder/control/log
SlurmdPidFile=$folder/%n.pid
SlurmdLogFile=$folder/%n.log
SlurmdSpoolDir=$folder/spool-%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
NodeName=a01 NodeAddr=10.77.0.11 CPUs=4
NodeName=a02 NodeAddr=10.77.0.12 CPUs=4
PartitionName=all Nodes=a01,a02 Default=YES MaxTime=10 State=UP
CONFIGURATION
echo 'PMIxCliTmpDirBase=/run/pmix' >"$folder/mpi.conf"
export SLURM_CONF=$folder/slurm.conf
slurmctld

number=10
for host in $hosts; do
  number=$((number + 1))
  make_host "$host" "$number"
  mkdir -p "$folder/spool-$host" "$folder/temporary-$host" /run/pmix
  on "$host" mount -t tmpfs tmpfs /run/pmix
  TMPDIR=$folder/temporary-$host on "$host" slurmd -N "$host"
done
# A job of both hosts ends when both are there.
srun -N2 true 2>"$folder/first.log" || { cat "$folder"/first.log "$folder"/*.log; exit 1; }
echo READY
cat >/dev/null
