"""refuse_calls.py ERRNO CALL[&ARGUMENT:BIT]... -- ARGV: answers the calls with the errno, in this process and all below it.

With &ARGUMENT:BIT only those where that argument has the bit. Calls and errnos are numbers.
"""

import ctypes
import os
import struct
import sys

LOAD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER_AT, ARGUMENTS_AT = 0, 16
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def rule(call, errno):
    number, _, condition = call.partition("&")
    answer = (RETURN, 0, 0, REFUSE | errno)
    if not condition:
        return [(LOAD, 0, 0, NUMBER_AT), (JUMP_EQUAL, 0, 1, int(number)), answer]
    argument, bit = map(int, condition.split(":"))
    look = [(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument), (JUMP_SET, 0, 1, bit), answer]
    return [(LOAD, 0, 0, NUMBER_AT), (JUMP_EQUAL, 0, len(look), int(number)), *look]


end = sys.argv.index("--")
errno, *calls = sys.argv[1:end]
steps = [step for call in calls for step in rule(call, int(errno))] + [(RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
for request in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)):
    if libc.prctl(*request) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])
