#!/bin/sh
# on_one_core.sh COMMAND...: on the first core that this process may use. qemu-user 7.2 on several
# cores of x86 was seen to sleep through wake-ups (Doorbell.NoWakeUpIsLost, two runs of five); it seems
# to let a load pass a store-release before it. Order between cores is not tested so.
core=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
exec taskset -c "$core" "$@"
