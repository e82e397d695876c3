#!/usr/bin/env bash
# Runs make targets in a fresh Debian 12, as a newcomer would meet it.
#   scripts/debian12.sh DIR [TARGET...]      default target: test
# DIR becomes the root directory (made by debootstrap unless it is one already) and stays.
# This working tree (what git does not ignore) and this machine's Go are copied in; mirrors, proxies
# and certificates are those of this machine. Mounts and processes end with the script: it
# runs in namespaces of its own. Needs root, debootstrap, about 3 GB in DIR.
set -euo pipefail

suite=bookworm
src=/src/solarfs
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH="$PATH:/usr/local/go/bin:/usr/sbin:/sbin"

die() {
	echo "debian12: $*" >&2
	exit 1
}

# The mirror that this machine's apt uses for the suite; else debootstrap's own default.
mirror() {
	# shellcheck disable=SC2016  # apt expands these
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		awk -v suite="$suite" '$1 == suite { print $2; exit }'
}

bootstrap() {
	local root=$1
	[[ -e $root/etc/debian_version ]] && return
	echo "debian12: debootstrap $suite into $root"
	# make is what a newcomer installs by hand, before anything of ours can run.
	# shellcheck disable=SC2046  # no mirror found: no argument
	debootstrap --variant=minbase --include=make "$suite" "$root" $(mirror) >"$root.log" 2>&1 ||
		die "debootstrap failed: $(tail -n 3 "$root.log"); the whole output is in $root.log"
	rm -f "$root.log"
}

# How this machine reaches its mirrors: apt's sources and settings, own certificate authorities, name resolution.
copy_network_settings() {
	local root=$1
	if grep -qs "VERSION_CODENAME=$suite" /etc/os-release; then
		rm -rf "$root/etc/apt" && cp -a /etc/apt "$root/etc/apt"
	fi
	mkdir -p "$root/usr/local/share/ca-certificates" "$root/etc/ssl/certs"
	cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
	# Until ca-certificates is installed in there, and makes this file anew.
	cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}

copy_sources() {
	local root=$1
	rm -rf "$root/usr/local/go" "${root:?}$src"
	mkdir -p "$root$src"
	cp -a "$(go env GOROOT)" "$root/usr/local/go"
	git -C "$repo" ls-files -z --cached --others --exclude-standard |
		tar -C "$repo" --null --verbatim-files-from --ignore-failed-read -T - -c | tar -C "$root$src" --no-same-owner -x
}

# Prints NAME=VALUE, NUL-separated: what reaches a module proxy from here, and settings that numerical libraries need on this processor.
carried_environment() {
	local name
	for name in GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE GOTOOLCHAIN; do
		printf '%s=%s\0' "$name" "$(go env "$name")"
	done
	for name in $(compgen -e); do
		case $name in
		*_proxy | *_PROXY | SSL_CERT_FILE | SSL_CERT_DIR | OPENBLAS_* | CI) printf '%s=%s\0' "$name" "${!name}" ;;
		esac
	done
}

# Runs inside the new namespaces, where mounts are nobody else's.
run_inside() {
	local root=$1 environment
	shift
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	touch "$root/dev/fuse" && mount --bind /dev/fuse "$root/dev/fuse"
	mkdir -p "$root/dev/shm" && mount -t tmpfs tmpfs "$root/dev/shm"
	mapfile -d '' -t environment < <(carried_environment)
	chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		"${environment[@]}" make -C "$src" "$@" </dev/null
}

if [[ ${1:-} == --inside ]]; then
	shift
	run_inside "$@"
	exit
fi

(($# >= 1)) || {
	echo "usage: scripts/debian12.sh DIR [make target...]" >&2
	exit 2
}
((EUID == 0)) || die "needs root, for debootstrap and chroot"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
command -v go >/dev/null || die "Go is missing on this machine: there is none to copy in"
root=$(realpath -m "$1")
shift
bootstrap "$root"
copy_network_settings "$root"
copy_sources "$root"
unshare --mount --propagation slave --pid --fork --kill-child "$repo/scripts/debian12.sh" --inside "$root" "${@:-test}"
