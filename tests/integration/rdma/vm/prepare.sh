#!/usr/bin/env bash
# For run.sh: puts a kernel of Debian, an initramfs with the modules of init.sh, and kernel.env that names both, into the folder
# given. Needs the network the first time only; remove the folder to get a newer kernel.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
cache=$1

tree=$(find "$cache" -maxdepth 1 -name 'tree-*' | sort -V | tail -n 1)
if [[ -z $tree ]]; then
  # Not the cloud flavour, which lacks the modules.
  kernel_package() {
    apt-cache depends linux-image-amd64 2>/dev/null | awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2; exit }'
  }
  download=$cache/download
  fetch() {
    package=$(kernel_package)
    [[ -n $package ]] || return
    rm -rf "$download"
    mkdir -p "$download/tree"
    chmod 777 "$download"  # apt fetches as a user of its own
    (cd "$download" && apt-get -q download "$package" >&2)
  }
  # The second time for lists that are missing, or name what the archive has replaced.
  if ! fetch && ! { apt-get -q update >&2 && fetch; }; then
    echo "rdma vm: no linux-image-amd64 to be had; see apt's message above, or whether this is a Debian with its main archive" >&2
    exit 1
  fi
  dpkg -x "$download/$package"_*.deb "$download/tree"
  tree=$cache/tree-${package#linux-image-}
  mv "$download/tree" "$tree"
  rm -rf "$download"
fi

version=${tree##*/tree-}
stamp=$(cat "$here/init.sh" "$here/prepare.sh" | sha256sum | cut -c1-16)
initramfs=$cache/initramfs-$version-$stamp
if [[ ! -f $initramfs ]]; then
  depmod -b "$tree" "$version"
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  mkdir -p "$root"/{bin,modules,proc,sys,dev,new}
  cp "$(command -v busybox)" "$root/bin/busybox"
  cp "$here/init.sh" "$root/init"
  chmod +x "$root/init"
  modules=$(sed -n 's/^# modules: //p' "$here/init.sh")
  for module in $modules; do
    modprobe -d "$tree" -S "$version" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$root/list"
  while read -r file; do
    cp "$file" "$root/modules/"
    echo "/modules/${file##*/}"
  done <"$root/list" >"$root/modules/order"
  (cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$initramfs.new"
  mv "$initramfs.new" "$initramfs"
fi
printf 'kernel=%q\ninitramfs=%q\n' "$tree/boot/vmlinuz-$version" "$initramfs" >"$cache/kernel.env"
