#!/usr/bin/env bash
# A real Slurm on this one machine, for the tests: `one_machine.sh start` and `one_machine.sh stop`. Needs root and
# Debian's packages slurm-wlm and munge. It keeps no accounting; its one node, this machine, is in two partitions, and it
# counts two GPUs that there are not. A job that takes more memory than it asked for is killed within seconds.
set -euo pipefail

state=/var/lib/densevse-slurm
conf=/etc/slurm/slurm.conf
gres=/etc/slurm/gres.conf

start() {
    for program in slurmctld slurmd munged sinfo; do
        command -v "$program" >/dev/null || { echo "no $program: apt-get install slurm-wlm munge" >&2; exit 2; }
    done
    if [ -e "$conf" ] && ! grep -q "^StateSaveLocation=$state/" "$conf"; then
        echo "$conf belongs to another Slurm, which is left alone" >&2
        exit 2
    fi
    mkdir -p /etc/slurm "$state" /run/munge /var/log/munge
    chown munge: /run/munge /var/log/munge
    [ -s /etc/munge/munge.key ] || /usr/sbin/mungekey --create
    pgrep -x munged >/dev/null || runuser -u munge -- munged
    local host cores memory
    host=$(hostname -s) cores=$(nproc) memory=$(awk '/MemTotal/ {print int($2 / 1024 * 0.95)}' /proc/meminfo)
    cat > "$conf" <<CONF
ClusterName=onemachine
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$state/controller
SlurmdSpoolDir=$state/node
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
GresTypes=gpu
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MinJobAge=600
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores RealMemory=$memory Gres=gpu:2 State=UNKNOWN
PartitionName=cpu Nodes=$host Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=$host MaxTime=INFINITE State=UP
CONF
    # Slurm wants a device file for each; any will do.
    printf "NodeName=$host Name=gpu File=/dev/%s\n" null zero > "$gres"
    mkdir -p "$state/controller" "$state/node"
    pgrep -x slurmctld >/dev/null || slurmctld
    pgrep -x slurmd >/dev/null || slurmd
    for _ in $(seq 30); do
        sinfo --noheader --format=%T 2>/dev/null | grep -qE 'idle|mixed|allocated' && { sinfo; return; }
        scontrol update NodeName="$host" State=RESUME 2>/dev/null || true
        sleep 1
    done
    echo "slurm did not come up:" >&2
    tail -n 20 "$state"/slurm*.log >&2
    exit 1
}

stop() {
    scancel --user "$(id -un)" 2>/dev/null || true
    for file in "$state/slurmd.pid" "$state/slurmctld.pid" /run/munge/munged.pid; do
        if [ -s "$file" ]; then end "$(cat "$file")"; fi
    done
    rm -rf "$state" "$conf" "$gres"
}

end() {
    kill "$1" 2>/dev/null || return 0
    for _ in $(seq 300); do  # it still saves its state into the folder that is removed then
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$1" 2>/dev/null || true
}

case "${1:-}" in
    start | stop) "$1" ;;
    *) echo "usage: $0 start|stop" >&2; exit 2 ;;
esac
