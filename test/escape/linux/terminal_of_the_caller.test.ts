import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";
import { runAtTerminal } from "../../support/terminal.ts";

attempt(
  "E5 /dev/tty is the caller's terminal or none, never that of the person who started cordon",
  ["python3"],
  async ({ around }) => {
    // cordon has a terminal, the command left it: what it writes to /dev/tty may not appear there.
    const script = `
import os
if os.fork() == 0:
    os.setsid()
    try: os.write(os.open("/dev/tty", os.O_RDWR), b"TYPED"); print("opened")
    except OSError: print("none")
    os._exit(0)
os.wait(); print("ready", flush=True)`;
    const end = runAtTerminal(["run", "--", "python3", "-c", script], around, { after: "never", keys: "" });
    expect(end.shown).toContain("none");
    expect(end.shown).toContain("ready");
    expect(end.shown).not.toContain("TYPED");
    // The allowed twin: with its terminal a program opens it.
    const own = 'import os; os.write(os.open("/dev/tty", os.O_RDWR), b"own terminal")';
    expect(runAtTerminal(["run", "--", "python3", "-c", own], around, { after: "never", keys: "" }).shown).toContain(
      "own terminal",
    );
  },
);
