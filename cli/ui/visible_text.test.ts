import { expect, test } from "bun:test";
import { visibleJson, visibleLines, visibleText } from "./visible_text.ts";

test("E9: controls, bidi and invisible characters are written out", () => {
  expect(visibleText("rm \u202egpj.x\u001b[2K\r\n\u200b\u{e0041}\ud800")).toBe(
    "rm \\u{202e}gpj.x\\u{1b}[2K\\r\\n\\u{200b}\\u{e0041}\\u{d800}",
  );
});

test("E9: what a person can read stays as it is", () => {
  expect(visibleText("grün 日本語 עברית 🙂 ~/a b")).toBe("grün 日本語 עברית 🙂 ~/a b");
});

test("E9: lines keep their ends and tabs", () => {
  expect(visibleLines("a\tb\n\u0007c")).toBe("a\tb\n\\u{7}c");
});

test("F5: JSON at a terminal keeps its meaning and shows what a terminal would obey or hide", () => {
  const value = { title: "a\u009b2Jb\u202ec\u{e0001}d\ne", list: [1, null] };
  const shown = visibleJson(JSON.stringify(value, null, 2));
  expect(JSON.parse(shown)).toEqual(value);
  expect(shown).toContain('"a\\u009b2Jb\\u202ec\\udb40\\udc01d\\ne"');
});
