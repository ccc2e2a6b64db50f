"""Becomes a program on a kernel that lacks something: `kernel_without.py WHAT[,WHAT…] PROGRAM [ARGS…]`.

A seccomp filter answers the calls in question as a kernel or a container without them does."""

import ctypes
import errno
import os
import platform
import struct
import sys

ARM = platform.machine() == "aarch64"


def number(x64, arm64=None):
    return arm64 if ARM and arm64 is not None else x64


SECCOMP, CLONE, CLONE3, UNSHARE, SETNS, MOUNT = (
    number(317, 277), number(56, 220), 435, number(272, 97), number(308, 268), number(165, 40))
NEW_MOUNT = [428, 429, 430, 431, 432, 433]
KEYS = [number(250, 219), number(248, 217), number(249, 218)]
NEWNS, NEWUSER, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP = (
    0x20000, 0x10000000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000)
NAMESPACES = NEWNS | NEWUSER | NEWPID | NEWNET | NEWIPC | NEWUTS | NEWCGROUP

# (calls, errno, argument and the bits in it that matter; None: always)
no_namespaces = [([CLONE], errno.EPERM, (0, NAMESPACES)), ([UNSHARE], errno.EPERM, (0, NAMESPACES)),
                 ([SETNS], errno.EPERM, None), ([CLONE3], errno.ENOSYS, None)]
WHAT = {
    "landlock": [([444, 445, 446], errno.ENOSYS, None)],
    "notification": [([SECCOMP], errno.EINVAL, (1, 8))],
    "new_mounts": [(NEW_MOUNT + [442], errno.ENOSYS, None)],
    "mount_setattr": [([442], errno.ENOSYS, None)],
    "pidfd": [([434, 438, number(424)], errno.ENOSYS, None)],
    "openat2": [([437], errno.ENOSYS, None)],
    "close_range": [([436], errno.ENOSYS, None)],
    "seccomp": [([SECCOMP], errno.ENOSYS, None)],
    # What Docker's default profile refuses without CAP_SYS_ADMIN.
    "docker": no_namespaces + [([MOUNT, number(166, 39), number(155, 41), 442, 321 if not ARM else 280] + NEW_MOUNT + KEYS
                                + [number(298, 241), number(323, 282)], errno.EPERM, None)],
    # RestrictNamespaces=yes of systemd.exec(5).
    "restricted": no_namespaces,
}
NEW_LISTENER = 8


def instruction(code, jt, jf, k):
    return struct.pack("HBBI", code, jt, jf, k)


def program(rules):
    out = []
    for calls, code, bits in rules:
        for call in calls:
            refuse = instruction(0x06, 0, 0, 0x50000 | code)
            if bits is None:
                body = [refuse]
            else:
                body = [instruction(0x20, 0, 0, 16 + 8 * bits[0]), instruction(0x45, 0, 1, bits[1]), refuse]
            out += [instruction(0x20, 0, 0, 0), instruction(0x15, 0, len(body), call), *body]
    return b"".join([*out, instruction(0x06, 0, 0, 0x7FFF0000)])


def load(rules, flags):
    code = program(rules)
    buffer = ctypes.create_string_buffer(code, len(code))
    filter_ = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    made = libc.syscall(SECCOMP, 1, flags, ctypes.create_string_buffer(filter_, len(filter_)))
    if made < 0:
        sys.exit(f"kernel_without: {os.strerror(ctypes.get_errno())}")
    return made


def last(rules, flags, program_):
    """Has the one listener that a tree of filters can have, as an outer sandbox does, and waits for the program."""
    listener = load(rules, flags)
    child = os.fork()
    if child == 0:
        os.close(listener)
        os.execvp(program_[0], program_)
    status = os.waitpid(child, 0)[1]
    sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 200)


for what in sys.argv[1].split(","):
    if what == "outer_listener":
        last([], NEW_LISTENER, sys.argv[2:])
    load(WHAT[what], 0)
os.execvp(sys.argv[2], sys.argv[2:])
