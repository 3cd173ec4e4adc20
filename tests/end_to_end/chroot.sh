#!/bin/sh
# chroot.sh ROOT COMMAND...: in a mount namespace of its own (unshare -m), which takes the mounts.
root=$1
shift
for folder in usr lib lib64 proc; do
  mkdir -p "$root/$folder"
  mount --rbind "/$folder" "$root/$folder"
done
exec chroot "$root" "$@"
