import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt("E5 open_by_handle_at can't reach a file that the view hides", ["python3"], async ({ scratch, python }) => {
  const own = join(scratch.home, "own.txt");
  writeFileSync(own, "mine\n");
  // A handle is a file's number, and numbers can be guessed: the way out of containers called shocker.
  const end = await python(`
handle = (ctypes.c_uint32 * 40)(128, 0)
mount = ctypes.c_int()
made = call(${callNumber("name_to_handle_at")}, -100, b".", handle, ctypes.byref(mount), 0)
folder = os.open(".", os.O_RDONLY)
for number in [2, 128, 256] + list(range(1, 50)):
    root = (ctypes.c_uint32 * 40)(8, 1, number, 0)
    fd = call(${callNumber("open_by_handle_at")}, folder, root, 0)
    if fd >= 0: print("opened", os.listdir(fd) if os.path.isdir(f"/proc/self/fd/{fd}") else fd)
if made >= 0:
    fd = call(${callNumber("open_by_handle_at")}, folder, handle, 0)
    if fd >= 0: print("opened own")
`);
  expect(end.code).toBe(0);
  expect(end.stdout).not.toContain("opened");
  expect(end.stdout).toMatch(/refused (EPERM|ENOSYS)/);
  expect(readFileSync(own, "utf8")).toBe("mine\n");
  expect((await python(`print(os.listdir(os.open(".", os.O_RDONLY)))`)).code).toBe(0);
});
