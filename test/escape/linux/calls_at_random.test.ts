import { expect } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { makeRepository } from "../../support/scratch_repository.ts";

/** Four threads make calls at random on names that matter and on their aliases, and overwrite one another's paths. */
const HOSTILE = (outside: string) => `
static const char *names[] = { "a", "b", "d", "d/e", "d/e/f", ".envrc", "d/.envrc", ".vscode", "d/.vscode", ".vscode/t", ".git/hooks/pre-commit",
  ".git/config", ".git/config.lock", ".git", "g", "g/hooks", "g/hooks/pre-commit", "g/objects", "g/refs", "g/config", "d/objects", "d/refs", "d/config",
  "d/HEAD", ".github", "workflows", ".github/workflows", "d/workflows", "l", "l/new", "l/kept.txt", "${outside}/kept.txt", "${outside}/new",
  "/proc/self/cwd/.envrc", "/proc/self/root${outside}/kept.txt", "x.closed", "d/x.closed", "d/e/x.closed", "p", "p/.envrc", "./d/../.envrc", "/proc/self/fd/4", "n" };
#define COUNT (sizeof names / sizeof *names)
static char shared[4][256];
static const char *pick(unsigned *seed) { return rand_r(seed) % 7 == 0 ? shared[rand_r(seed) % 4] : names[rand_r(seed) % COUNT]; }
static void spoil(int fd) { if (fd >= 0) { write(fd, "evil", 4); close(fd); } }
static void by_descriptor(const char *one, const char *other, unsigned *seed) {
  char link[64]; int fd = open(one, rand_r(seed) % 2 ? O_PATH : O_RDONLY | O_NONBLOCK);
  if (fd < 0) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  spoil(open(link, O_WRONLY | O_NONBLOCK)); spoil(openat(fd, other, O_WRONLY | O_CREAT | O_NONBLOCK, 0600)); renameat(fd, other, AT_FDCWD, one); close(fd);
}
static void nameless(const char *one, const char *other) {
  char link[64]; int fd = open(one, O_TMPFILE | O_RDWR, 0600);
  if (fd < 0) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd); write(fd, "evil", 4); linkat(AT_FDCWD, link, AT_FDCWD, other, AT_SYMLINK_FOLLOW); close(fd);
}
static void one_call(unsigned *seed) {
  const char *one = pick(seed), *other = pick(seed);
  struct { unsigned long flags, mode, resolve; } how = { O_RDWR | O_CREAT | O_NONBLOCK, 0600, 1ul << rand_r(seed) % 5 };
  strcpy(shared[rand_r(seed) % 4], names[rand_r(seed) % COUNT]);
  switch (rand_r(seed) % 16) {
    case 0: spoil(open(one, O_WRONLY | O_CREAT | O_NONBLOCK | (rand_r(seed) % 2 ? O_TRUNC : 0), 0600)); break;
    case 1: mkdir(one, 0700); break;
    case 2: rename(one, other); break;
    case 3: linkat(AT_FDCWD, one, AT_FDCWD, other, rand_r(seed) % 2 ? AT_SYMLINK_FOLLOW : 0); break;
    case 4: symlink(rand_r(seed) % 2 ? "${outside}" : other, one); break;
    case 5: unlink(one); break;
    case 6: rmdir(one); break;
    case 7: truncate(one, rand_r(seed) % 9); break;
    case 8: mknod(one, S_IFIFO | 0600, 0); break;
    case 9: syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 1 << rand_r(seed) % 3); break;
    case 10: spoil(syscall(SYS_openat2, AT_FDCWD, one, &how, sizeof how)); break;
    case 11: nameless(one, other); break;
    case 12: by_descriptor(one, other, seed); break;
    case 13: rename(one, ".envrc"); break;
    case 14: rename("d", one); break;
    case 15: rename(one, "d"); mkdir("d", 0700); mkdir("d/e", 0700); mkdir("g", 0700); symlink("${outside}", "l"); symlink("/proc/self/cwd", "p"); break;
  }
}
static void *run(void *seed) { unsigned own = (unsigned)(long)seed; for (int n = 0; n < 4000; n++) one_call(&own); return 0; }
int main(void) {
  pthread_t threads[4];
  for (long n = 0; n < 4; n++) pthread_create(&threads[n], 0, run, (void *)(n * 7919 + 17));
  for (int n = 0; n < 4; n++) pthread_join(threads[n], 0);
  unlink("own"); close(open("own", O_WRONLY | O_CREAT, 0600)); printf("%d\\n", access("own", F_OK)); return 0;
}`;

/** Links are not followed: one to /proc/self/cwd leads the reader to a folder of its own. */
function namesBelow(top: string, below = ""): string[] {
  return readdirSync(join(top, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    return [path, ...(entry.isDirectory() ? namesBelow(top, path) : [])];
  });
}

/** What may never be there: files that the host obeys, closed names, repositories with settings or hooks of the command's. */
function forbidden(work: string): string[] {
  const all = namesBelow(work).filter((path) => !/^\.git(\/|$)/.test(path));
  const isFolder = (path: string) => lstatSync(join(work, path), { throwIfNoEntry: false })?.isDirectory() === true;
  const known = new Set(all);
  const planted = (path: string) => {
    const folder = /^(hooks)$/.test(basename(dirname(path))) ? dirname(dirname(path)) : dirname(path);
    const inIt =
      basename(dirname(path)) === "hooks" || ["config", "commondir", "config.worktree"].includes(basename(path));
    return inIt && known.has(path) && isFolder(join(folder, "objects")) && isFolder(join(folder, "refs"));
  };
  const named = /(^|\/)(\.envrc|\.vscode|\.github\/workflows|[^/]*\.closed|\.git\/hooks\/pre-commit)(\/|$)/;
  return all.filter((path) => named.test(path) || planted(path));
}

attempt("E5 sixteen thousand calls at random change nothing that is closed", ["gcc", "git"], async ({ scratch, c }) => {
  const outside = join(scratch.top, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "kept.txt"), "kept\n");
  makeRepository(scratch);
  const config = readFileSync(join(scratch.work, ".git/config"), "utf8");
  const flags = [`--allow-read=${outside}`, `--deny-write=${scratch.work}/**/*.closed`];
  const end = await c(HOSTILE(outside), flags);
  expect(readdirSync(outside)).toEqual(["kept.txt"]);
  expect(readFileSync(join(outside, "kept.txt"), "utf8")).toBe("kept\n");
  expect(readFileSync(join(scratch.work, ".git/config"), "utf8")).toBe(config);
  expect(forbidden(scratch.work)).toEqual([]);
  // The allowed twin: at the end it makes a file of its own.
  expect(end).toMatchObject({ code: 0, stdout: "0\n" });
});
