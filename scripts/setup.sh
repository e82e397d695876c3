#!/usr/bin/env bash
# Installs what solarfs needs on Debian 12, and nothing when all is there.
#   scripts/setup.sh build   compiler and libraries
#   scripts/setup.sh demo    also FUSE's mount helper and Python with h5py and PyTorch
#   scripts/setup.sh test    also Chromium, in which the report is checked
#   scripts/setup.sh bench   what demo needs, and rclone, which solarfs is compared with
set -euo pipefail

mode=${1:-build}
# ca-certificates: Go fetches modules over HTTPS. make: for who runs this script first.
packages=(gcc libc6-dev libhdf5-dev libdeflate-dev make ca-certificates)
case $mode in
build) ;;
demo) packages+=(fuse3 python3-h5py python3-numpy python3-torch) ;;
test) packages+=(fuse3 python3-h5py python3-numpy python3-torch chromium) ;;
bench) packages+=(fuse3 python3-h5py python3-numpy python3-torch rclone) ;;
*)
	echo "usage: scripts/setup.sh build|demo|test|bench" >&2
	exit 2
	;;
esac

# Compares with the Go that go.mod asks for. Asked inside the module, since
# there a Go that can fetch a newer toolchain answers for the one it will use.
check_go() {
	local root want have
	root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
	want=$(awk '$1 == "go" { print $2; exit }' "$root/go.mod")
	export PATH="$PATH:/usr/local/go/bin"
	if ! command -v go >/dev/null; then
		echo "Go $want or newer is needed, and none is on PATH or in /usr/local/go/bin: install it from https://go.dev/dl" >&2
		exit 1
	fi
	have=$(cd "$root" && go env GOVERSION 2>/dev/null) || have="older than go$want"
	have=${have%% *}
	if [[ $(printf '%s\n' "$want" "${have#go}" | sort -V | head -n 1) != "$want" ]]; then
		echo "Go $want or newer is needed, $(command -v go) is ${have#go}: install a newer one from https://go.dev/dl" >&2
		exit 1
	fi
}

missing_packages() {
	local installed
	installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${packages[@]}" 2>/dev/null || true)"
	for p in "${packages[@]}"; do
		[[ $installed == *" installed:$p "* ]] || echo "$p"
	done
}

install_packages() {
	local log
	echo "setup: installing $* (PyTorch brings about 180 packages and takes a minute or two)"
	log=$(mktemp)
	export DEBIAN_FRONTEND=noninteractive
	if ! { apt-get update && apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		echo "setup: apt-get failed; its whole output is in $log" >&2
		exit 1
	fi
	rm -f "$log"
}

if ! command -v dpkg-query >/dev/null; then
	echo "setup: not a Debian system; going on without installing. Needed: ${packages[*]}" >&2
else
	mapfile -t missing < <(missing_packages)
	if ((${#missing[@]})); then
		if ((EUID != 0)); then
			echo "packages are missing; run:  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
			exit 1
		fi
		install_packages "${missing[@]}"
	fi
fi
check_go
