import { describe, expect, test } from "bun:test";
import {
  parseBytes,
  parseChoice,
  parseCount,
  parseDuration,
  parseNames,
  parsePaths,
  parsePercent,
  splitList,
} from "./flag_values.ts";

const folders = { cwd: "/ws/app", home: "/home/ann" };

describe("F5: durations", () => {
  test.each([
    ["500ms", 500],
    ["90s", 90_000],
    ["2m", 120_000],
    ["1.5h", 5_400_000],
    ["3", 3_000],
    ["0.001", 1],
  ])("%s is %d ms", (text, milliseconds) => {
    expect(parseDuration("timeout", text)).toBe(milliseconds);
  });
  test.each(["", "0", "-1", "2 m", "m", "1d", "1e3", "0x10", "25d", "600h", "0.0001", "NaN", "Infinity"])(
    "%p is refused",
    (text) => {
      expect(() => parseDuration("timeout", text)).toThrow("--timeout");
    },
  );
});

describe("F5: paths", () => {
  test("relative paths start at the working folder, ~ is the home", () => {
    expect(parsePaths("allow-read", "src,../lib,/etc,~,~/.cache", folders)).toEqual([
      "/ws/app/src",
      "/ws/lib",
      "/etc",
      "/home/ann",
      "/home/ann/.cache",
    ]);
  });
  test("a comma in a name is written with a backslash", () => {
    expect(splitList("allow-read", "a\\,b,c")).toEqual(["a,b", "c"]);
  });
  test.each(["", ",", "a,,b", "a,", "~bob/x", "a\0b"])("%p is refused", (text) => {
    expect(() => parsePaths("deny-read", text, folders)).toThrow("--deny-read");
  });
  test("~ without a home is refused, not taken as a name", () => {
    expect(() => parsePaths("deny-read", "~/x", { cwd: "/", home: undefined })).toThrow("HOME is not set");
  });
});

describe("F5: variable names", () => {
  test("names are taken as they are", () => expect(parseNames("allow-env", "CI,_X1")).toEqual(["CI", "_X1"]));
  test.each(["A=1", "1A", "A B", "A,,B"])("%p is refused", (text) => {
    expect(() => parseNames("allow-env", text)).toThrow("--allow-env");
  });
});

describe("F5: limits", () => {
  test.each([
    ["4096", 4096],
    ["10M", 10 * 1024 ** 2],
    ["1.5g", 1.5 * 1024 ** 3],
    ["2GiB", 2 * 1024 ** 3],
    ["1kb", 1024],
    ["7B", 7],
  ])("%s is %d bytes", (text, bytes) => {
    expect(parseBytes("memory", text)).toBe(bytes);
  });
  test.each(["", "0", "-1", "1.2.3", "G", "1X", "1 G", "0x10", "9999999999T", "1e3"])("%p is no size", (text) => {
    expect(() => parseBytes("memory", text)).toThrow("--memory");
  });
  test("a count is a whole number, a share a percentage of one processor", () => {
    expect([parseCount("pids", "512"), parsePercent("cpu", "50%"), parsePercent("cpu", "250")]).toEqual([512, 50, 250]);
    for (const text of ["", "0", "1.5", "x", "-1", "0%", "%"]) {
      expect(() => parseCount("pids", text)).toThrow("--pids");
      expect(() => parsePercent("cpu", text)).toThrow("--cpu");
    }
    expect(() => parseChoice("trust-files", "blok", ["block", "report"])).toThrow("--trust-files");
  });
});

describe("F5: patterns", () => {
  test("the commas of a list in braces belong to the pattern", () => {
    expect(parsePaths("deny-read", "**/*.{pem,key},.env", folders)).toEqual(["/ws/app/**/*.{pem,key}", "/ws/app/.env"]);
    expect(parsePaths("deny-read", "a{b,c", folders)).toEqual(["/ws/app/a{b", "/ws/app/c"]);
  });
  test.each(["my file (1)", "[x]", "a*b", "ünï", "line\nbreak", "trailing/"])("%j keeps its name", (name) => {
    expect(parsePaths("deny-read", name, folders)).toEqual([`/ws/app/${name.replace(/\/$/, "")}`]);
  });
});
