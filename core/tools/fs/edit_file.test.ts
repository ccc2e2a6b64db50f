import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createFsGrant } from "../../exec/grants/fs_grant.ts";
import {
  faultOf,
  grantsWith,
  leftovers,
  planFor,
  runOnFile,
  temporaryFolder,
} from "../../../test/support/tool_calls.ts";
import { applyEdit } from "./apply_edit.ts";
import { editFile } from "./edit_file.ts";

const folder = temporaryFolder();
const path = join(folder, "f.txt");
const place = { cwd: folder, home: folder, workspace: folder };

type Edit = { old_string: string; new_string: string; replace_all?: boolean };

async function edit(content: string | Uint8Array, change: Edit): Promise<unknown> {
  writeFileSync(path, content);
  return runOnFile(editFile, Object.assign({ path }, change));
}

const now = () => readFileSync(path, "utf8");

describe("edit_file", () => {
  test("A9 replaces one place and shows the change", async () => {
    expect(await edit("a\nb\nc\n", { old_string: "b", new_string: "B" })).toEqual({
      filePath: path,
      oldString: "b",
      newString: "B",
      replaceAll: false,
      replacements: 1,
      structuredPatch: [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: [" a", "-b", "+B", " c"] }],
    });
    expect(now()).toBe("a\nB\nc\n");
  });

  test("A9 refuses equal texts before anybody is asked, and not different ones", async () => {
    const args = { path, old_string: "a", new_string: "a" };
    expect((await faultOf(() => editFile.needs(args, place))).code).toBe("edit.same");
    const kinds = editFile.needs({ ...args, new_string: "b" }, place).map(({ kind }) => kind);
    expect(kinds).toEqual(["fs.read", "fs.write"]);
  });

  test("A9 refuses an absent old_string and says where it almost is", async () => {
    const content = "one\n\tif (x) {\n\t\treturn 1;\n\t}\n";
    const fault = await faultOf(() => edit(content, { old_string: "  if (x) {\n    return 1;", new_string: "" }));
    expect(fault).toMatchObject({
      code: "edit.not_found",
      details: { nearestLine: 2, nearestText: "\tif (x) {\n\t\treturn 1;" },
    });
    expect(fault.message).toContain("white space");
    expect((await faultOf(() => edit(content, { old_string: "one\nof us", new_string: "" }))).message).toContain(
      "line 1",
    );
    expect((await faultOf(() => edit(content, { old_string: "nowhere", new_string: "" }))).details).toBeUndefined();
    expect(now()).toBe(content);
  });

  test("D5 refuses more than one place with their count and lines, and replace_all changes them all", async () => {
    const content = "x\ny\nx x\n\nx";
    const fault = await faultOf(() => edit(content, { old_string: "x", new_string: "z" }));
    expect(fault).toMatchObject({ code: "edit.not_unique", details: { count: 4, lines: [1, 3, 3, 5] } });
    expect(fault.message).toContain("4 times, at lines 1, 3, 3, 5");
    expect(now()).toBe(content);
    const all = await edit(content, { old_string: "x", new_string: "z", replace_all: true });
    expect(all).toMatchObject({ replacements: 4, replaceAll: true });
    expect(now()).toBe("z\ny\nz z\n\nz");
  });

  test("D5 lists twenty lines at most", async () => {
    const fault = await faultOf(() => edit("x\n".repeat(1000), { old_string: "x", new_string: "z" }));
    expect(fault).toMatchObject({
      details: { count: 1000, lines: Array.from({ length: 20 }, (_, index) => index + 1) },
    });
    expect(fault.message.length).toBeLessThan(300);
  });

  test("keeps CRLF when the texts of the call have LF", async () => {
    await edit("a\r\nb\r\nc\r\n", { old_string: "a\nb", new_string: "1\n2\n3" });
    expect(now()).toBe("1\r\n2\r\n3\r\nc\r\n");
    await edit("a\r\nb\r\n", { old_string: "a", new_string: "x\ny" });
    expect(now()).toBe("x\r\ny\r\nb\r\n");
  });

  test("keeps LF when the texts of the call have CRLF, and mixed line ends as they are", async () => {
    await edit("a\nb\n", { old_string: "a\r\nb", new_string: "x\r\ny" });
    expect(now()).toBe("x\ny\n");
    await edit("a\r\nb\nc\n", { old_string: "b\nc", new_string: "1\n2" });
    expect(now()).toBe("a\r\n1\n2\n");
  });

  test("never cuts a CRLF in two", async () => {
    await edit("a\r\nb\nb\n", { old_string: "\nb", new_string: "", replace_all: true });
    expect(now()).toBe("a\r\nb\n");
  });

  test("refuses a change of line ends alone, which would change nothing", async () => {
    const fault = await faultOf(() => edit("a\r\nb\r\n", { old_string: "a\nb", new_string: "a\r\nb" }));
    expect(fault.code).toBe("edit.same");
  });

  test("keeps the BOM, the permissions and bytes that are not UTF-8", async () => {
    const before = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0xfe, 0x0a, 0x62]);
    writeFileSync(path, before);
    chmodSync(path, 0o750);
    await runOnFile(editFile, Object.assign({ path }, { old_string: "b", new_string: "cc" }));
    expect([...readFileSync(path)]).toEqual([0xef, 0xbb, 0xbf, 0x61, 0xff, 0xfe, 0x0a, 0x63, 0x63]);
    expect(statSync(path).mode & 0o777).toBe(0o750);
  });

  test("refuses a binary file", async () => {
    expect((await faultOf(() => edit("a\0b", { old_string: "a", new_string: "b" }))).code).toBe("fs.binary");
  });

  test("takes $ in new_string as it stands", async () => {
    await edit("price", { old_string: "price", new_string: "$& $1 $$" });
    expect(now()).toBe("$& $1 $$");
  });

  test("does not overwrite a change made between its read and its write", async () => {
    writeFileSync(path, "a");
    const real = createFsGrant(planFor(path, true));
    const fs = {
      ...real,
      read: (name: string, limit: number) => {
        const file = real.read(name, limit);
        writeFileSync(path, "somebody else's");
        return file;
      },
    };
    const run = () => editFile.run({ path, old_string: "a", new_string: "b" }, grantsWith({ fs }));
    expect((await faultOf(run)).code).toBe("fs.moved");
    expect(now()).toBe("somebody else's");
    expect(leftovers(folder)).toEqual([]);
  });

  const piece = fc
    .array(fc.constantFrom("a", "b", "é", "🧪", "\n", " "), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join(""));
  const text = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(""));

  test("A9 replace_all is what String.replaceAll does, one place what replacing once does (property)", () => {
    fc.assert(
      fc.property(text, piece, text, (content, oldString, newString) => {
        const parts = content.split(oldString);
        fc.pre(parts.length > 1);
        const all = applyEdit("f", Buffer.from(content), { oldString, newString, replaceAll: true });
        expect(Buffer.from(all.content).toString()).toBe(parts.join(newString));
        expect(all.replacements).toBe(parts.length - 1);
        if (parts.length > 2) return;
        const once = applyEdit("f", Buffer.from(content), { oldString, newString, replaceAll: false });
        expect(Buffer.from(once.content).toString()).toBe(parts.join(newString));
      }),
    );
  });

  test("an edit of a CRLF file is the edit of its LF twin with CRLF (property)", () => {
    const crlf = (value: string) => value.replaceAll("\n", "\r\n");
    fc.assert(
      fc.property(text, piece, text, (content, oldString, newString) => {
        fc.pre(content.includes(oldString) && content.includes("\n"));
        const request = { oldString, newString, replaceAll: true };
        const plain = applyEdit("f", Buffer.from(content), request);
        const windows = applyEdit("f", Buffer.from(crlf(content)), request);
        expect(windows.replacements).toBe(plain.replacements);
        expect(Buffer.from(windows.content).toString()).toBe(crlf(Buffer.from(plain.content).toString()));
      }),
    );
  });
});
