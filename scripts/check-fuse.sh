#!/usr/bin/env bash
# Says in one line why no FUSE file system can be mounted here, if so.
set -euo pipefail

if [[ ! -c /dev/fuse ]] || ! (exec 3<>/dev/fuse) 2>/dev/null; then
	echo "/dev/fuse cannot be opened, and the tests mount for real: load the fuse module, or start the container with --device /dev/fuse --cap-add SYS_ADMIN" >&2
	exit 1
fi
if ((EUID != 0)) && ! command -v fusermount3 >/dev/null; then
	echo "without root a mount needs fusermount3: install the package fuse3" >&2
	exit 1
fi
