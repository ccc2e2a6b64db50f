import { expect } from "bun:test";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt(
  "E5 no key is typed into a terminal, whatever the high bits of the request; windows are still sized",
  ["python3"],
  async ({ python }) => {
    const end = await python(`
import fcntl, pty, struct, termios
primary, secondary = pty.openpty()
if os.fork() == 0:
    os.setsid(); fcntl.ioctl(secondary, termios.TIOCSCTTY, 0)
    for fd in (secondary, os.open("/dev/tty", os.O_RDWR)):
        for request in (0x5412, 0x541C, 0x100005412, 0xffffffff00005412, 0x10000541C):
            if libc.syscall(ctypes.c_long(${callNumber("ioctl")}), ctypes.c_long(fd), ctypes.c_ulong(request), b"\\x03") >= 0: print("DONE", hex(request), flush=True)
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 9, 9, 0, 0)); print("sized", flush=True); os._exit(0)
os.wait()
`);
    expect(end).toMatchObject({ code: 0, stdout: "sized\n" });
  },
);
