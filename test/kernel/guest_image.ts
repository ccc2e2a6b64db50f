/** What the guest boots from: an archive with the executable, the libraries that it needs, busybox and the cases. */
import { chmodSync, copyFileSync, cpSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runTool } from "../../cli/build/run_tool.ts";
import { cordonPath } from "../support/run_cordon.ts";

/** Ordinary accounts; the file can be written by everyone, so that only the sandbox stands before it. */
const ACCOUNTS = "root:x:0:0::/home:/bin/sh\nme:x:1000:1000::/home:/bin/sh\n";

/** Makes the archive in `folder` and gives its path. Throws a BuildError when a tool fails. */
export async function makeImage(folder: string): Promise<string> {
  const root = join(folder, "guest");
  for (const name of ["bin", "etc", "proc", "usr/bin"]) mkdirSync(join(root, name), { recursive: true });
  const place = (from: string, to: string) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(realpathSync(from), join(root, to));
    chmodSync(join(root, to), 0o755);
  };
  place(Bun.which("busybox") ?? "/bin/busybox", "bin/busybox");
  place(cordonPath(), "bin/cordon");
  for (const library of await librariesOf(cordonPath())) place(library, library);
  await runTool({
    what: "gcc",
    argv: ["gcc", "-static", "-O1", "-Wall", "-o", join(root, "bin/calls"), join(import.meta.dir, "calls.c")],
  });
  cpSync(join(import.meta.dir, "guest_init.sh"), join(root, "init"));
  chmodSync(join(root, "init"), 0o755);
  cpSync(join(import.meta.dir, "cases.sh"), join(root, "cases.sh"));
  writeFileSync(join(root, "etc/passwd"), ACCOUNTS);
  chmodSync(join(root, "etc/passwd"), 0o666);
  const archive = join(folder, "guest.cpio");
  await runTool({
    what: "cpio",
    argv: ["sh", "-c", 'find . | busybox cpio -o -H newc > "$1"', "sh", archive],
    cwd: root,
  });
  return archive;
}

/** What the dynamic linker would load, as ldd(1) says. */
async function librariesOf(program: string): Promise<string[]> {
  const { output } = await runTool({ what: "ldd", argv: ["ldd", program] });
  return [...output.matchAll(/(?:=> )?(\/\S+) \(0x/g)].flatMap((found) => found[1] ?? []);
}
