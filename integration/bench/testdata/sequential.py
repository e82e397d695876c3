"""Reads a file from its start, a megabyte at a time.

Job: file, seconds (that it should take), samples (in the file). Marks: begin, end. Result: seconds, samples, batches, and epochs, 0 where
the time was over before the file.
"""
import os
import time

from marks import job, mark, memory, result


def main():
    fd, buffer, size = os.open(job["file"], os.O_RDONLY), memory(1 << 20), os.path.getsize(job["file"])
    mark("begin")
    start, read = time.monotonic(), 0
    while time.monotonic() < start + job["seconds"]:
        n = os.preadv(fd, [buffer], read)
        if n == 0:
            break
        read += n
    seconds = time.monotonic() - start
    mark("end")
    result(seconds=seconds, samples=int(read / size * job["samples"]), batches=0, epochs=int(read == size))


if __name__ == "__main__":
    main()
