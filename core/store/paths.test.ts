import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { tempFolder } from "../testing/temp_folder.ts";
import { privateFolder } from "./paths.ts";

const uid = process.getuid?.() ?? 0;
const insecure = (path: string, owner = uid) => {
  expect(() => privateFolder(path, owner)).toThrow(expect.objectContaining({ code: "state.insecure" }));
};

test("E10 a missing folder is made for this user only, with the folders above it", () => {
  using folder = tempFolder();
  const path = folder.at("state/cordon");
  expect(privateFolder(path, uid)).toBe(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("E10 a folder that others can write is refused; one that they can only read is taken", () => {
  using folder = tempFolder({ "open/": "" });
  for (const mode of [0o777, 0o770, 0o702]) {
    chmodSync(folder.at("open"), mode);
    insecure(folder.at("open"));
  }
  chmodSync(folder.at("open"), 0o755);
  expect(privateFolder(folder.at("open"), uid)).toBe(folder.at("open"));
});

test("E10 a folder of another user, and a link to a good folder, are refused", () => {
  using folder = tempFolder();
  mkdirSync(folder.at("good"), { mode: 0o700 });
  symlinkSync(folder.at("good"), folder.at("link"));
  insecure(folder.at("link"));
  insecure(folder.at("good"), uid + 1);
  expect(privateFolder(folder.at("good"), uid)).toBe(folder.at("good"));
});

test("E10 a file where the folder should be is said to be unwritable", () => {
  using folder = tempFolder({ state: "" });
  expect(() => privateFolder(folder.at("state/cordon"), uid)).toThrow(
    expect.objectContaining({ code: "audit.unwritable" }),
  );
});
