#!/bin/busybox sh
# Process 1 of the machine of run.sh: loads modules, builds the root, makes the RDMA devices, runs the command, powers off.
# modules: virtio_pci virtio_console 9pnet_virtio 9p overlay crc32_generic crc32c_generic dummy veth fuse ib_uverbs rdma_cm rdma_ucm rdma_rxe
/bin/busybox mkdir -p /sbin /usr/bin /usr/sbin
/bin/busybox --install -s /bin
export PATH=/bin

give_up() {
  echo "init: $1" >/dev/console
  poweroff -f
}

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do
  insmod "$module" || give_up "cannot load $module"
done </modules/order

mkdir -p /lower /layer /job
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,ro,cache=loose hostroot /lower || give_up "no root"
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 job /job || give_up "no job"
echo "booted" >/job/stage
mount -t tmpfs layer /layer
mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/lower,upperdir=/layer/upper,workdir=/layer/work overlay /new || give_up "no overlay"
mount -t proc proc /new/proc
mount -t sysfs sys /new/sys
mount -t devtmpfs dev /new/dev
mkdir -p /new/dev/shm /new/dev/pts
mount -t devpts devpts /new/dev/pts
# Not over /tmp, where the tree may be; what is written there goes to the overlay anyway.
for folder in dev/shm run; do
  mount -t tmpfs -o mode=1777 tmpfs "/new/$folder"
done
mkdir -p /new/run/job
mount -o bind /job /new/run/job

cat >/new/run/start <<'START'
set -e
stty raw <&1  # here, since settings end with the last open descriptor
ip link set lo up
for i in 0 1; do
  ip link add "d$i" type dummy
  ip addr add "10.77.$i.1/24" dev "d$i"
  ip link set "d$i" up
  rdma link add "rxe$i" type rxe netdev "d$i"
done
echo "running the command" >/run/job/stage
set +e
bash /run/job/command
echo $? >/run/job/status
START
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
  chroot /new /bin/bash /run/start </dev/null >/dev/hvc0 2>&1
sync
poweroff -f
