import { expect } from "bun:test";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt(
  "E5 io_uring, bpf, perf and userfaultfd, through which calls or memory go unseen, are shut",
  ["python3"],
  async ({ python }) => {
    const end = await python(`
for number, arguments in ((${callNumber("io_uring_setup")}, (8, (ctypes.c_uint32 * 30)())), (${callNumber("bpf")}, (0, (ctypes.c_uint32 * 32)(1, 4, 4, 1), 128)), (${callNumber("bpf")}, (5, (ctypes.c_uint32 * 32)(), 128)),
    (${callNumber("perf_event_open")}, ((ctypes.c_uint32 * 32)(1, 128), 0, -1, -1, 0)), (${callNumber("userfaultfd")}, (0,)), (${callNumber("userfaultfd")}, (1,)), (${callNumber("fanotify_init")}, (0, 0))):
    if call(number, *arguments) >= 0: print("DONE", number)
import select
select.epoll(); os.eventfd(0); os.pipe(); print("own")
`);
    expect(end.code).toBe(0);
    expect(end.stdout).not.toContain("DONE");
    expect(end.stdout.endsWith("own\n")).toBe(true);
  },
);
