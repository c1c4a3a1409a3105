#!/bin/bash
# Two hosts in place of the pods of an Indexed Job: JOB-0 and JOB-1, with the names of a headless Service.
#
#     unshare -nmupf --kill-child --mount-proc bash pods.sh FOLDER JOB SERVICE
#
# FOLDER/command-0 and FOLDER/command-1 are scripts. The script runs each on its pod and exits with the status of
# pod 0. The commands end with it.
set -e
folder=$1 job=$2 service=$3
. "$(dirname "$0")/../run/hosts.sh"

printf '127.0.0.1 localhost\n' >"$folder/hosts"
for index in 0 1; do
  echo "10.77.0.1$index $job-$index.$service $job-$index" >>"$folder/hosts"
done
make_network "$folder"
for index in 0 1; do make_host "$job-$index" "1$index"; done
on "$job-1" bash "$folder/command-1" >"$folder/output-1" 2>&1 &
on "$job-0" bash "$folder/command-0" >"$folder/output-0" 2>&1
