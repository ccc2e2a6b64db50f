import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { faultOf, leftovers, planFor, temporaryFolder } from "../../../test/support/tool_calls.ts";
import { fsFault } from "./fs_fault.ts";
import { createFsGrant } from "./fs_grant.ts";

const LIMIT = 1024;
const bytes = (text: string) => Buffer.from(text);
let folder: string;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "file.txt");
  writeFileSync(file, "old");
});

const grant = (path = file, exists = true) => createFsGrant(planFor(path, exists));

describe("reading", () => {
  test("reads a planned file by its given and by its real name", () => {
    const fs = createFsGrant({
      paths: [{ given: "file.txt", absolute: file, real: file, access: "read", exists: true }],
      hidden: [],
    });
    expect(fs.read("file.txt", LIMIT).bytes.toString()).toBe("old");
    expect(fs.read(file, LIMIT)).toMatchObject({ path: file, mode: 0o644 & statSync(file).mode });
  });

  test("refuses a path that the plan does not list", async () => {
    writeFileSync(join(folder, "other"), "x");
    expect((await faultOf(() => grant().read(join(folder, "other"), LIMIT))).code).toBe("sandbox.outside");
  });

  test("refuses to write what is planned for reading only, and to read what is planned for writing only", async () => {
    const only = (access: "read" | "write") =>
      createFsGrant({ paths: [{ given: file, absolute: file, real: file, access, exists: true }], hidden: [] });
    expect((await faultOf(() => only("read").write(file, bytes("x")))).code).toBe("sandbox.outside");
    expect((await faultOf(() => only("write").read(file, LIMIT))).code).toBe("sandbox.outside");
    only("write").write(file, bytes("new"));
    expect(only("read").read(file, LIMIT).bytes.toString()).toBe("new");
  });

  test("C16 refuses a file over the limit and reads one that just fits", async () => {
    truncateSync(file, LIMIT + 1);
    expect(await faultOf(() => grant().read(file, LIMIT))).toMatchObject({
      code: "fs.too_large",
      details: { size: LIMIT + 1 },
    });
    truncateSync(file, LIMIT);
    expect(grant().read(file, LIMIT).bytes.length).toBe(LIMIT);
  });

  test("C16 bounds a file whose size is not known before", async () => {
    expect(statSync("/proc/self/status").size).toBe(0);
    const real = `/proc/${process.pid}/status`;
    expect(grant(real).read(real, 1_000_000).bytes.toString()).toContain("Pid:");
    expect((await faultOf(() => grant(real).read(real, 10))).code).toBe("fs.too_large");
  });

  test("C16 refuses a folder, a FIFO, a device and a socket at once", async () => {
    const fifo = join(folder, "fifo");
    expect(Bun.spawnSync(["mkfifo", fifo]).exitCode).toBe(0);
    const socket = join(folder, "socket");
    const server = createServer().listen(socket);
    await new Promise((resolve) => server.once("listening", resolve));
    for (const path of [folder, fifo, "/dev/zero", "/dev/null", socket]) {
      expect((await faultOf(() => grant(path).read(path, LIMIT))).code).toBe("fs.not_a_file");
      expect((await faultOf(() => grant(path).write(path, bytes("x")))).code).toBe("fs.not_a_file");
    }
    server.close();
    expect(leftovers(folder)).toEqual([]);
  });

  test("says fs.not_found and fs.not_a_directory", async () => {
    const missing = join(folder, "missing");
    expect((await faultOf(() => grant(missing).read(missing, LIMIT))).code).toBe("fs.not_found");
    const below = join(file, "below");
    expect((await faultOf(() => grant(below).read(below, LIMIT))).code).toBe("fs.not_a_directory");
    expect((await faultOf(() => grant(below).write(below, bytes("x")))).code).toBe("fs.not_a_directory");
  });
});

describe("swapped between plan and use", () => {
  test("refuses a file that became a link, and works on the same file without the swap", async () => {
    const fs = grant();
    expect(fs.read(file, LIMIT).bytes.toString()).toBe("old");
    const secret = join(folder, "secret");
    writeFileSync(secret, "secret");
    unlinkSync(file);
    symlinkSync(secret, file);
    expect((await faultOf(() => fs.read(file, LIMIT))).code).toBe("fs.moved");
    expect((await faultOf(() => fs.write(file, bytes("x")))).code).toBe("fs.moved");
    expect(readFileSync(secret, "utf8")).toBe("secret");
    expect(leftovers(folder)).toEqual([]);
  });

  for (const depth of ["the parent", "a folder higher up"]) {
    test(`refuses a path where ${depth} became a link`, async () => {
      const top = join(folder, "top");
      const inner = join(top, "inner");
      mkdirSync(inner, { recursive: true });
      const path = join(inner, "f");
      writeFileSync(path, "mine");
      const elsewhere = join(folder, "elsewhere");
      mkdirSync(join(elsewhere, "inner"), { recursive: true });
      writeFileSync(join(elsewhere, "f"), "theirs");
      writeFileSync(join(elsewhere, "inner", "f"), "theirs");
      const fs = grant(path);
      expect(fs.read(path, LIMIT).bytes.toString()).toBe("mine");
      const swapped = depth === "the parent" ? inner : top;
      renameSync(swapped, join(folder, "away"));
      symlinkSync(elsewhere, swapped);
      expect((await faultOf(() => fs.read(path, LIMIT))).code).toBe("fs.moved");
      expect((await faultOf(() => fs.write(path, bytes("x")))).code).toBe("fs.moved");
      expect(readFileSync(join(elsewhere, "f"), "utf8")).toBe("theirs");
      expect(readFileSync(join(elsewhere, "inner", "f"), "utf8")).toBe("theirs");
      expect(readdirSync(elsewhere).sort()).toEqual(["f", "inner"]);
    });
  }

  test("A10 makes no folder behind a link that appeared where a folder was missing", async () => {
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    const path = join(folder, "new", "deep", "f");
    const fs = grant(path, false);
    symlinkSync(elsewhere, join(folder, "new"));
    expect((await faultOf(() => fs.write(path, bytes("x")))).code).toBe("fs.moved");
    expect(readdirSync(elsewhere)).toEqual([]);
    unlinkSync(join(folder, "new"));
    expect(fs.write(path, bytes("x")).created).toBe(true);
  });

  test("refuses to write when the content is not what was read, and writes when it is", async () => {
    const fs = grant();
    const before = fs.read(file, LIMIT).bytes;
    writeFileSync(file, "other");
    expect((await faultOf(() => fs.write(file, bytes("new"), before))).code).toBe("fs.moved");
    writeFileSync(file, "odd");
    expect((await faultOf(() => fs.write(file, bytes("new"), before))).code).toBe("fs.moved");
    unlinkSync(file);
    expect((await faultOf(() => fs.write(file, bytes("new"), before))).code).toBe("fs.moved");
    expect(leftovers(folder)).toEqual([]);
    writeFileSync(file, "old");
    fs.write(file, bytes("new"), before);
    expect(readFileSync(file, "utf8")).toBe("new");
  });
});

describe("writing", () => {
  test("A10 makes parent folders, also with spaces, line ends and other scripts in their names", () => {
    for (const name of ["a b", "line\nend", "čeština 漢字 🧪", " (deleted)", "-rf", "'\"$x\\"]) {
      const path = join(folder, name, "in", `${name}.txt`);
      expect(grant(path, false).write(path, bytes(name))).toEqual({ path, created: true });
      expect(readFileSync(path, "utf8")).toBe(name);
      expect(grant(path).read(path, LIMIT).bytes.toString()).toBe(name);
      expect(readdirSync(join(folder, name, "in"))).toEqual([`${name}.txt`]);
    }
  });

  test("keeps the permissions of an old file and uses the umask for a new one", () => {
    for (const mode of [0o600, 0o644, 0o755, 0o666]) {
      chmodSync(file, mode);
      expect(grant().write(file, bytes("new")).created).toBe(false);
      expect(statSync(file).mode & 0o7777).toBe(mode);
    }
    const fresh = join(folder, "fresh");
    grant(fresh, false).write(fresh, bytes("x"));
    expect(statSync(fresh).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test("drops the set-id bits, as a write in place does", () => {
    chmodSync(file, 0o4755);
    grant().write(file, bytes("new"));
    expect(statSync(file).mode & 0o7777).toBe(0o755);
  });

  test("does not reach the other name of a hard link", () => {
    const other = join(folder, "other");
    linkSync(file, other);
    grant().write(file, bytes("new"));
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(readFileSync(other, "utf8")).toBe("old");
  });

  test("leaves no folder and no file behind when it fails", async () => {
    const path = join(folder, "made", "deep", `${"n".repeat(300)}`);
    expect((await faultOf(() => grant(path, false).write(path, bytes("x")))).code).toBe("fs.bad_path");
    expect(existsSync(join(folder, "made"))).toBe(false);
    const onFolder = join(folder, "dir");
    mkdirSync(onFolder);
    expect((await faultOf(() => grant(onFolder).write(onFolder, bytes("x")))).code).toBe("fs.not_a_file");
    expect(readdirSync(folder).sort()).toEqual(["dir", "file.txt"]);
  });

  test("gives each errno a code, what was found and a next step, and passes other errors on", () => {
    const codes = {
      ENOENT: "fs.not_found",
      EACCES: "fs.no_permission",
      EPERM: "fs.no_permission",
      EROFS: "fs.no_permission",
    };
    const more = {
      ENOTDIR: "fs.not_a_directory",
      EISDIR: "fs.not_a_file",
      ENAMETOOLONG: "fs.bad_path",
      ENOSPC: "fs.io",
      EIO: "fs.io",
    };
    for (const [errno, code] of Object.entries({ ...codes, ...more })) {
      const fault = fsFault("write", "/a b", Object.assign(new Error("x"), { code: errno }));
      expect(fault).toMatchObject({
        code,
        details: { errno },
        message: expect.stringContaining('Cannot write "/a b": '),
      });
      expect(fault).toHaveProperty("hint", expect.stringMatching(/^[A-Z]/));
    }
    const defect = new TypeError("x");
    expect(fsFault("read", "/a", defect)).toBe(defect);
  });

  test.skipIf(process.getuid?.() === 0)("leaves a read-only file as it is", async () => {
    chmodSync(file, 0o444);
    expect((await faultOf(() => grant().write(file, bytes("x")))).code).toBe("fs.no_permission");
    expect(readFileSync(file, "utf8")).toBe("old");
    chmodSync(file, 0o644);
    grant().write(file, bytes("x"));
    expect(readFileSync(file, "utf8")).toBe("x");
  });

  test("keeps no descriptor open, whether it works or fails", async () => {
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    const deep = join(folder, "one", "two", "three");
    for (let round = 0; round < 20; round += 1) {
      grant(deep, false).write(deep, bytes("x"));
      grant(deep).read(deep, LIMIT);
      await faultOf(() => grant(deep).write(deep, bytes("y"), bytes("z")));
      await faultOf(() => grant(folder).read(folder, LIMIT));
    }
    expect(open()).toBe(before);
  });
});
