#!/usr/bin/env python3
"""Checks that the pure layers cannot reach the outside.

    tools/purity.py ARCHIVE...

Lists the undefined symbols of each archive. Fails on those by which code could open a socket or a
file, read a clock, the environment or a random device, or start or await a thread. So "pure" is a
property of the build, independent of includes. Prints one line per finding, `archive: object:
symbol (resource)`, and exits 1 if there are any.

Symbols of the sanitizers (__asan_, __tsan_, __ubsan_...) do not count.
"""
import re
import subprocess
import sys

FORBIDDEN = {
    "a socket":
        "socket|socketpair|connect|bind|listen|accept4?|shutdown|recv(?:from|msg|mmsg)?|"
        "send(?:to|msg|mmsg)?|[gs]etsockopt|getsockname|getpeername|getaddrinfo|getnameinfo|"
        "gethostbyname|gethostname|getifaddrs|if_nametoindex|if_indextoname",
    "a file or descriptor":
        "open(?:64|at|at64)?|creat|close|p?read(?:64|v)?|p?write(?:64|v)?|f(?:re|d)?open(?:64)?|"
        "opendir|readdir(?:64)?|stat(?:64)?|[lf]stat(?:64)?|fstatat(?:64)?|access|unlink|rename|"
        "fcntl(?:64)?|ioctl|mmap(?:64)?|munmap|shm_open|shm_unlink|memfd_create|pipe2?|dup[23]?|"
        "eventfd|dlopen|dlsym|syscall|"
        "std::(?:__cxx11::)?basic_(?:i|o)?f(?:ile)?(?:stream|buf)<.*|std::filesystem::.*",
    "waiting":
        "p?poll|p?select|epoll_\\w+|nanosleep|clock_nanosleep|usleep|sleep|sched_yield|futex",
    "a clock":
        "clock_gettime|clock_getres|gettimeofday|time|times|localtime(?:_r)?|"
        "std::chrono::(?:_V2::)?\\w+_clock::now\\(\\)",
    "the environment": "(?:secure_)?getenv|[sp]utenv|(?:un)?setenv|clearenv|environ|__environ",
    "randomness":
        "s?rand(?:om)?(?:_r)?|[ejlmn]rand48|arc4random\\w*|getrandom|getentropy|randombytes_\\w+|"
        "std::random_device::.*",
    "a thread":
        "pthread_\\w+|mtx_\\w+|cnd_\\w+|thrd_\\w+|sem_\\w+|std::thread::.*|std::this_thread::.*|"
        "std::condition_variable.*|std::__atomic_futex.*|std::call_once.*|std::__once_.*",
    "a process or signal":
        "fork|vfork|exec[lv]p?e?|posix_spawnp?|waitpid|kill|raise|signal|sigaction|system|getpid",
}
# Covers glibc's checked and C23 names of the same functions: __read_chk, __open64_2, __isoc23_...
MATCHERS = [(what, re.compile(rf"(?:__(?:libc_)?)?(?:{names})(?:_chk|_2)?"))
            for what, names in FORBIDDEN.items()]


def undefined(archive, tool="nm"):
    """Yields (object, symbol) of every undefined symbol, demangled."""
    listing = subprocess.run([tool, "-uC", archive], check=True, capture_output=True, text=True)
    member = "?"
    for line in listing.stdout.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif match := re.match(r"\s+[UwvW] (.+)", line):
            yield member, match[1]


def forbidden(symbol):
    """Returns the outside resource that `symbol` reaches, or None."""
    for what, pattern in MATCHERS:
        if pattern.fullmatch(symbol):
            return what
    return None


def check(archive):
    return [f"{archive}: {member}: {symbol} ({what})" for member, symbol in undefined(archive)
            if (what := forbidden(symbol))]


def main(archives):
    if not archives:
        print("usage: tools/purity.py ARCHIVE...", file=sys.stderr)
        return 2
    findings = [finding for archive in archives for finding in check(archive)]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
