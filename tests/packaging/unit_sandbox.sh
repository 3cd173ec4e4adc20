#!/bin/sh
# Runs a command as packaging/systemd/glovebox.service would be run, as far as that can be done
# without systemd as process 1: unit_sandbox.sh CONFINE.PY COMMAND...
# Called in mount and IPC namespaces of its own (unshare -mi), as root.
set -eu
confine=$1
shift
mount --make-rprivate /
# ProtectSystem=strict, ReadWritePaths of RuntimeDirectory=, PrivateTmp=, ProtectHome=
mkdir -p /run/glovebox
mount --bind / /mnt
mount -o remount,bind,ro /mnt
for folder in proc sys dev run tmp; do mount --rbind "/$folder" "/mnt/$folder"; done
mount -o remount,bind,ro /mnt/run
mount --bind /run/glovebox /mnt/run/glovebox
mount -o remount,bind,rw /mnt/run/glovebox
mount -t tmpfs -o mode=0,ro none /mnt/root
mount -t tmpfs -o mode=0,ro none /mnt/home
# ProtectProc=invisible
mount -t proc -o nosuid,nodev,noexec,hidepid=invisible proc /mnt/proc
# PrivateDevices=
mount -t tmpfs -o nosuid,noexec,mode=755 none /mnt/dev
for node in null zero full random urandom tty; do
  : > "/mnt/dev/$node"
  mount --bind "/dev/$node" "/mnt/dev/$node"
done
mkdir /mnt/dev/shm
mount -t tmpfs none /mnt/dev/shm
ln -s /proc/self/fd /mnt/dev/fd
mount -o remount,ro,nosuid,noexec /mnt/dev
cd /mnt
pivot_root . mnt
umount -l mnt
# CapabilityBoundingSet=, NoNewPrivileges=, then the filters of the other settings.
exec setpriv --bounding-set=-all,+setuid,+setgid --inh-caps=-all --no-new-privs \
  /usr/bin/python3 -B "$confine" unit "$@"
