import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import type { RuleSource } from "../contract/verdict.ts";
import { tempFolder } from "../testing/temp_folder.ts";
import { readRules } from "./read_rules.ts";
import { surveyPlaces } from "./survey.ts";

const place = { cwd: "/w/sub", home: "/home/ada", workspace: "/w" };
const source = (rule: string, more: Partial<RuleSource> = {}): RuleSource => ({
  rule,
  layer: "user",
  origin: "f:1:1",
  ...more,
});
const patterns = (...rules: string[]) =>
  readRules(
    rules.map((rule) => source(rule)),
    place,
  ).rules.map((rule) =>
    rule.patterns
      .map((one) => `${"glob" in one ? `glob ${one.glob}` : one.path}${one.inside ? " (inside)" : ""}`)
      .join(", "),
  );

test("D2 every form of a rule on reading is a place or a glob, by its base", () => {
  expect(
    patterns("Read(//etc/x)", "read_file(~/x)", "Read(/a/b)", "View(./c)", "Read(c/d)", "effect:read(c/)"),
  ).toEqual(["/etc/x", "/home/ada/x", "/w/a/b", "/w/sub/c", "/w/sub/c/d", "glob /w/sub/**/c (inside)"]);
  expect(patterns("Read(.env)", "Read(*.pem)", "Read(a/**)", "Read(**/x)", "Read(a/**/b*)", "Read(/s?/[ab]c)")).toEqual(
    [
      "glob /w/sub/**/.env",
      "glob /w/sub/**/*.pem",
      "/w/sub/a (inside)",
      "glob /w/sub/**/x",
      "glob /w/sub/a/**/b*",
      "glob /w/s?/?c",
    ],
  );
  expect(patterns("Read(path:/abs/x)", "Read(a{b,c})", "Read(./a\\*b)", "Read(a**z)")).toEqual([
    "/abs/x",
    "glob /w/sub/**/a\\{b\\,c\\}",
    "/w/sub/a*b",
    "glob /w/sub/**/a*z, glob /w/sub/**/a*/**/*z",
  ]);
});

test("D2 rules on other things are none, and one that would close the workspace is left with the reason", () => {
  expect(patterns("Bash(cat *)", "Edit(x)", "Grep(x)", "WebFetch", "effect:write(x)")).toEqual([]);
  for (const rule of [
    "Read",
    "Read(*)",
    "Read(**)",
    "Read(//**)",
    "Read(~/../x)",
    "Read(/)",
    "Read(//w)",
    "Read(//w/**)",
  ]) {
    const { rules, left } = readRules([source(rule)], place);
    if (rule.includes("..")) continue;
    expect([rule, rules.length, left.length]).toEqual([rule, 0, 1]);
  }
  const own = [source("Read(.env)", { layer: "built-in" }), source("Read(x)", { reason: "sandbox.denyRead names it" })];
  expect(readRules(own, place)).toEqual({ rules: [], left: [] });
});

test("D2 D10 what rules name is found at any depth, by its real path, but for what is carved out", () => {
  using folder = tempFolder({
    "app/a.pem": "",
    "app/x/y/b.pem": "",
    "app/x/y/public.pem": "",
    "app/x/c.txt": "",
    "app/s/1": "",
    "app/s/t/2": "",
    "app/s/open/3": "",
    "app/node_modules/d.pem": "",
    "other/k": "",
  });
  symlinkSync("../other/k", folder.at("app/link"));
  const found = (...rules: RuleSource[]) => {
    const where = { cwd: folder.at("app"), home: folder.at("home"), workspace: folder.at("app") };
    const { ruled } = surveyPlaces([], { ...where, rules: readRules(rules, where).rules }, "");
    return ruled.map(({ path, folder: whole }) => `${path.slice(folder.root.length + 1)}${whole ? "/" : ""}`).sort();
  };
  expect(found(source("Read(*.pem)", { except: ["Read(public.pem)"] }))).toEqual(["app/a.pem", "app/x/y/b.pem"]);
  expect(found(source("Read(./s/**)"))).toEqual(["app/s/"]);
  expect(found(source("Read(s/**)", { except: ["Read(s/open/**)"] }))).toEqual(["app/s/1", "app/s/t/2"]);
  expect(found(source("Read(link)"), source("Read(nothing/there)"), source("Read(./x/c.txt/)"))).toEqual(["other/k"]);
  expect(found(source("Read(y)"))).toEqual(["app/x/y/"]);
});
