import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a process that confined itself by Landlock makes no socket that its own rules forbid",
  ["python3"],
  async ({ python }) => {
    // LANDLOCK_ACCESS_FS_MAKE_SOCK is handled and given nowhere: the calls have these numbers on every processor.
    const end = await python(`
libc.prctl(38, 1, 0, 0, 0)
handled = ctypes.create_string_buffer((1 << 9).to_bytes(8, sys.byteorder), 8)
rules = call(444, handled, 8, 0)
if rules < 0: print("no landlock"); sys.exit()
kept = socket.socket(socket.AF_UNIX)
def bind(s, name):
    try: s.bind(name); s.listen(); return "bound"
    except PermissionError: return "refused"
other = socket.socket(socket.AF_UNIX)
print(bind(kept, "before.sock"), call(446, rules, 0), bind(other, "after.sock"), os.path.exists("after.sock"))
socket.socket(socket.AF_UNIX).connect("before.sock"); print("connected")`);
    expect(end.stdout).toMatch(/^(no landlock|bound 0 refused False\nconnected)\n$/);
  },
);
