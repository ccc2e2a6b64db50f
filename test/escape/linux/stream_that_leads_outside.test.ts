import { expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { cordonPath, runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 a stream that is a folder or a file of the host opens nothing else",
  ["python3"],
  async ({ scratch, around }) => {
    const outside = join(scratch.home, "outside");
    mkdirSync(outside);
    const kept = join(outside, "kept.txt");
    const log = join(outside, "log.txt");
    writeFileSync(kept, "kept\n");
    const inside = async (script: string, streams: string) => {
      writeFileSync(log, "earlier\n");
      // Python itself can't start with a folder as stdin.
      const start = 'exec 7<&0; [ -d /proc/self/fd/0 ] && exec < /dev/null; exec python3 -c "$1"';
      const words = [cordonPath(), "run", "--", "sh", "-c", start, "sh", `import os, sys\n${script}`];
      const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
      return runCordon(["-c", `${line} ${streams}`], { ...around, binary: "/bin/sh" });
    };
    const tries = (body: string) => `
for name, action in {${body}}.items():
    try: action(); print("DONE", name, file=sys.stderr)
    except OSError: print("refused", name, file=sys.stderr)
`;
    const folder = await inside(
      tries(`"at": lambda: os.open("kept.txt", os.O_RDONLY, dir_fd=7), "by proc": lambda: open("/proc/self/fd/7/kept.txt"),
  "above": lambda: os.open("../outside/kept.txt", os.O_RDONLY, dir_fd=7), "list": lambda: os.listdir("/proc/self/fd/7/."),
  "make": lambda: os.mkdir("made", dir_fd=7)`),
      `< '${outside}'`,
    );
    expect(folder.stderr).not.toContain("DONE");
    expect(folder.stderr.match(/^refused/gm)).toHaveLength(5);

    const written = await inside(
      `${tries(`"read back": lambda: print(open("/proc/self/fd/1").read(), file=sys.stderr), "rewrite": lambda: os.truncate("/proc/self/fd/1", 0),
  "anew": lambda: os.open("/proc/self/fd/1", os.O_RDWR)`)}print("appended")`,
      `>> '${log}'`,
    );
    expect(written.stderr).not.toMatch(/DONE|earlier/);
    expect(readFileSync(log, "utf8")).toBe("earlier\nappended\n");

    const read = await inside(
      `${tries(`"truncate": lambda: os.truncate("/proc/self/fd/0", 0), "write": lambda: os.open("/proc/self/fd/0", os.O_WRONLY)`)}print(sys.stdin.read())`,
      `< '${kept}'`,
    );
    expect(read.stderr).not.toContain("DONE");
    expect(read).toMatchObject({ code: 0, stdout: "kept\n\n" });
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
  },
);
