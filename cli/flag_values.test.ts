import { describe, expect, test } from "bun:test";
import { parseDuration, parseNames, parsePaths, splitList } from "./flag_values.ts";

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
