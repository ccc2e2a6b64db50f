/** Folders and repositories for tests, on the real file system. Nothing but tests imports this. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A new folder of mode 0700 with a real path, removed at the end of the `using` block. `at` joins names to its path. */
export type TempFolder = { root: string; at: (...names: string[]) => string; [Symbol.dispose](): void };

/** Makes a folder with these files in it; a name that ends in a slash is an empty folder. */
export function tempFolder(files: Record<string, string> = {}): TempFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "test-of-cordon-")));
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(path, content);
  }
  return {
    root,
    at: (...names) => join(root, ...names),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Runs git in `folder` with no settings of this machine and gives what it printed. Throws with its words when it fails. */
export function git(folder: string, ...args: string[]): string {
  const settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const done = Bun.spawnSync(["git", ...settings, ...args], { cwd: folder, env, timeout: 20_000 });
  if (!done.success) throw new Error(`git ${args.join(" ")}: ${done.stderr.toString()}`);
  return done.stdout.toString().trim();
}
