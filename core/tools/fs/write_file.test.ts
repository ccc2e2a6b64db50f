import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runOnFile, temporaryFolder } from "../../../test/support/tool_calls.ts";
import { writeFile } from "./write_file.ts";

describe("write_file", () => {
  const folder = temporaryFolder();

  test("A10 makes parent folders and says that the file is new", async () => {
    const path = join(folder, "a", "b", "c.txt");
    const args = { path, content: "čau\r\n" };
    expect(await runOnFile(writeFile, args, false)).toEqual({ type: "create", filePath: path, bytes: 6 });
    expect(readFileSync(path, "utf8")).toBe("čau\r\n");
    expect(readdirSync(join(folder, "a", "b"))).toEqual(["c.txt"]);
  });

  test("replaces a file and does not show what was in it", async () => {
    const path = join(folder, "old.txt");
    writeFileSync(path, "a secret");
    const result = await runOnFile(writeFile, Object.assign({ path }, { content: "new" }));
    expect(result).toEqual({ type: "update", filePath: path, bytes: 3 });
    expect(JSON.stringify(result)).not.toContain("secret");
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  test("writes an empty file", async () => {
    const path = join(folder, "empty");
    expect(await runOnFile(writeFile, Object.assign({ path }, { content: "" }), false)).toMatchObject({ bytes: 0 });
    expect(readFileSync(path, "utf8")).toBe("");
  });

  test("C9 is neither read-only nor safe beside other calls, and needs to write only", () => {
    const args = { path: "x", content: "" };
    expect(writeFile.readOnly(args)).toBe(false);
    expect(writeFile.concurrencySafe(args)).toBe(false);
    expect(writeFile.needs(args, { cwd: "/", home: "/", workspace: "/" })).toEqual([{ kind: "fs.write", path: "x" }]);
  });
});
