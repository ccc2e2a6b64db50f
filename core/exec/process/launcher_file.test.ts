import { expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TempFolder, tempFolder } from "../../testing/temp_folder.ts";
import { LAUNCHER_SIZE_BYTES } from "../generated/launcher.ts";
import { LAUNCHER_DIGEST, openLauncher } from "./launcher_file.ts";

const uid = process.getuid?.() ?? 0;
const pathIn = (folder: TempFolder) => folder.at(`launcher-${LAUNCHER_DIGEST}`);

/** Opens the launcher, checks that what is open and what has its name are sound, and gives the file's inode. */
function openSound(folder: TempFolder): number {
  const { fd, path } = openLauncher(folder.root, uid);
  const open = readFileSync(fd);
  closeSync(fd);
  expect(path).toBe(pathIn(folder));
  expect(new Bun.CryptoHasher("sha256").update(open).digest("hex")).toBe(LAUNCHER_DIGEST);
  const { mode, size, ino } = statSync(path);
  expect([mode & 0o7777, size]).toEqual([0o500, LAUNCHER_SIZE_BYTES]);
  expect(readdirSync(folder.root).filter((name) => /^launcher-[0-9a-f]+$/.test(name))).toHaveLength(1);
  return ino;
}

test("F2 the launcher is taken out once with mode 0500, and used again", () => {
  using folder = tempFolder();
  expect(openSound(folder)).toBe(openSound(folder));
});

test("F2 a damaged, a shortened and an empty file are replaced", () => {
  using folder = tempFolder();
  for (const damage of [
    (bytes: Buffer) => bytes.fill(0, 5000, 5001),
    (bytes: Buffer) => bytes.subarray(1),
    () => Buffer.alloc(0),
  ]) {
    openSound(folder);
    const bytes = damage(readFileSync(pathIn(folder)));
    unlinkSync(pathIn(folder));
    writeFileSync(pathIn(folder), bytes, { mode: 0o500 });
    openSound(folder);
  }
});

test("F2 a good file with another mode is not used but replaced", () => {
  using folder = tempFolder();
  for (const mode of [0o700, 0o555, 0o522, 0o400, 0o4500]) {
    const before = openSound(folder);
    chmodSync(pathIn(folder), mode);
    expect(openSound(folder)).not.toBe(before);
  }
});

test("F2 a link in the file's place is not followed, even to a good launcher, and its target stays", () => {
  using folder = tempFolder();
  openSound(folder);
  const copy = folder.at("copy");
  copyFileSync(pathIn(folder), copy);
  chmodSync(copy, 0o500);
  unlinkSync(pathIn(folder));
  symlinkSync(copy, pathIn(folder));
  expect(openSound(folder)).not.toBe(statSync(copy).ino);
  expect(statSync(copy).size).toBe(LAUNCHER_SIZE_BYTES);
});

test("F2 a FIFO in the file's place is not waited for, and a folder there is an error that says what to do", () => {
  using folder = tempFolder();
  Bun.spawnSync(["mkfifo", pathIn(folder)]);
  openSound(folder);
  unlinkSync(pathIn(folder));
  mkdirSync(pathIn(folder));
  expect(() => openLauncher(folder.root, uid)).toThrow(
    expect.objectContaining({ code: "audit.unwritable", hint: expect.stringContaining("CORDON_STATE_DIR") }),
  );
  expect(readdirSync(folder.root)).toHaveLength(1);
});

test("F2 a cache folder that others can write is refused; closed again it is used", () => {
  using folder = tempFolder();
  chmodSync(folder.root, 0o777);
  expect(() => openLauncher(folder.root, uid)).toThrow(expect.objectContaining({ code: "state.insecure" }));
  chmodSync(folder.root, 0o700);
  openSound(folder);
});

test("F2 processes that race for an empty or damaged cache all get a sound launcher", async () => {
  using folder = tempFolder();
  const program = `import { openLauncher } from ${JSON.stringify(join(import.meta.dir, "launcher_file.ts"))}; openLauncher(${JSON.stringify(folder.root)}, ${uid});`;
  for (const start of ["empty", "damaged"]) {
    if (start === "damaged") {
      unlinkSync(pathIn(folder));
      writeFileSync(pathIn(folder), "not a launcher", { mode: 0o500 });
    }
    const racers = Array.from({ length: 6 }, () =>
      Bun.spawn([process.execPath, "-e", program], { stderr: "inherit", timeout: 30_000 }),
    );
    expect(await Promise.all(racers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0, 0, 0]);
    openSound(folder);
  }
});
