#!/bin/busybox sh
# The first process of the guest. Its root is rootfs, which pivot_root(2) can't leave, so everything moves to a tmpfs first.
if [ ! -e /moved ]; then
  /bin/busybox mount -t proc proc /proc
  /bin/busybox mkdir /new
  /bin/busybox mount -t tmpfs -o size=90%,mode=0755 none /new
  for entry in bin lib lib64 usr etc init cases.sh; do
    [ ! -e "/$entry" ] || /bin/busybox cp -a "/$entry" /new/
  done
  /bin/busybox touch /new/moved
  /bin/busybox mkdir -p /new/proc /new/sys /new/dev /new/tmp /new/home /new/run /new/var/tmp
  /bin/busybox umount /proc
  exec /bin/busybox switch_root /new /init
fi
export PATH=/bin:/usr/bin HOME=/home
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
# As systemd would have it: controllers are handed on, and an ordinary user has a part of the tree of its own.
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo '+memory +pids +cpu' >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/user/session
echo '+memory +pids +cpu' >/sys/fs/cgroup/user/cgroup.subtree_control
for file in . ./cgroup.procs ./cgroup.subtree_control ./session ./session/cgroup.procs; do
  chown 1000:1000 "/sys/fs/cgroup/user/$file"
done
mkdir -p /dev/pts /dev/shm
mount -t devpts -o mode=0620,ptmxmode=0666 devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
chmod 1777 /tmp /var/tmp /dev/shm
ip link set lo up
sh /cases.sh
echo "# the guest is done"
poweroff -f
