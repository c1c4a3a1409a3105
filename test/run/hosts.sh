# Hosts in namespaces of their own on one bridge. test/slurm/cluster.sh and test/kubernetes/pods.sh source it, in
#
#     unshare -nmupf --kill-child --mount-proc bash SCRIPT FOLDER
#
# FOLDER is empty and holds all files that are written. All processes end with their process namespace.

# make_network FOLDER: a bridge, on which this namespace is 10.77.0.1. FOLDER/hosts becomes /etc/hosts.
make_network() {
  mount --make-rprivate /
  ip link set lo up
  ip link add cluster type bridge forward_delay 0
  ip link set cluster up
  ip address add 10.77.0.1/24 dev cluster
  mount --bind "$1/hosts" /etc/hosts
}

# on HOST COMMAND...: runs the command on a host of make_host.
on() {
  local host=$1
  shift
  nsenter --target "$(cat "$folder/pid-$host")" --net --uts --mount --ipc "$@"
}

# make_host HOST NUMBER: a host at 10.77.0.NUMBER, with a network, a name, a boot id and shared memory of its own.
make_host() {
  local host=$1 number=$2
  # The process opens the pipe as soon as its namespaces exist.
  mkfifo "$folder/begun"
  unshare --net --uts --mount --ipc sh -c 'echo $$ >"$0"; exec sleep infinity' "$folder/begun" &
  cat "$folder/begun" >"$folder/pid-$host"
  rm "$folder/begun"
  ip link add eth0 netns "/proc/$(cat "$folder/pid-$host")/ns/net" type veth peer name "to-$host"
  ip link set "to-$host" master cluster up
  on "$host" ip link set lo up
  on "$host" ip address add "10.77.0.$number/24" dev eth0
  on "$host" ip link set eth0 up
  on "$host" hostname "$host"
  cat /proc/sys/kernel/random/uuid >"$folder/boot-$host"
  on "$host" mount --bind "$folder/boot-$host" /proc/sys/kernel/random/boot_id
  on "$host" mount -t tmpfs tmpfs /dev/shm
}
