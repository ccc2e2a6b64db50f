import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

/** A server that takes one connection and lets the others wait. */
const FULL = `import signal, threading
s = socket.socket(socket.AF_UNIX); s.bind("full.sock"); s.listen(0)
first = socket.socket(socket.AF_UNIX); first.connect("full.sock")
`;

attempt(
  "E8 connects that wait keep nobody else from working, and signals reach them",
  ["python3"],
  async ({ python, shell }) => {
    const many = await python(`${FULL}
def dial():
    try: socket.socket(socket.AF_UNIX).connect("full.sock")
    except OSError: pass
for _ in range(60): threading.Thread(target=dial, daemon=True).start()
open("file", "w").write("x"); other = socket.socket(socket.AF_UNIX); other.bind("other.sock"); other.listen()
socket.socket(socket.AF_UNIX).connect("other.sock"); print("works", flush=True); os._exit(0)`);
    expect(many).toMatchObject({ code: 0, stdout: "works\n" });
    await shell("rm -f *.sock");
    const signal = await python(`${FULL}
def heard(*_): raise TimeoutError
signal.signal(signal.SIGALRM, heard); signal.setitimer(signal.ITIMER_REAL, 0.2)
try: socket.socket(socket.AF_UNIX).connect("full.sock")
except TimeoutError: print("heard")`);
    expect(signal).toMatchObject({ code: 0, stdout: "heard\n" });
    await shell("rm -f *.sock");
    // The allowed twin: once the server accepts, the one that waited is through.
    const through = await python(`${FULL}
threading.Timer(0.2, lambda: s.accept()).start()
socket.socket(socket.AF_UNIX).connect("full.sock"); print("through", flush=True); os._exit(0)`);
    expect(through).toMatchObject({ code: 0, stdout: "through\n" });
  },
);
