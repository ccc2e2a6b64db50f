/** The folders that one case plays in, and the words of a case that stand for them. */
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveTo } from "../support/scratch.ts";
import type { HostServices } from "./host_services.ts";

/** All are real paths below `top`. `work` is the workspace, `out` lies outside it, `state` is for the tool under test. */
export type Place = {
  top: string;
  home: string;
  work: string;
  out: string;
  secret: string;
  state: string;
  mark: string;
};

/** Not below /tmp, which tools replace or open for writing; this one is everybody's too. */
const BASE = "/var/tmp";

/** Makes the folders and gives them to `uid`. Whoever calls it removes them with `removePlace`. */
export function makePlace(uid: number): Place {
  const top = realpathSync(mkdtempSync(join(BASE, "conformance-")));
  const at = (name: string) => join(top, name);
  const place = {
    top,
    home: at("home"),
    work: at("work"),
    out: at("out"),
    secret: at("secret"),
    state: at("state"),
    mark: markOf(),
  };
  for (const folder of [place.home, place.work, place.out, place.secret, place.state]) mkdirSync(folder);
  writeFileSync(join(place.out, "kept.txt"), "kept\n");
  writeFileSync(join(place.secret, "key.txt"), "the secret\n");
  if (uid !== process.geteuid?.()) {
    chownSync(top, uid, uid);
    giveTo(top, uid);
  }
  return place;
}

/** Digits that no other case has, so that they can be part of a number too. */
function markOf(): string {
  return crypto.getRandomValues(new Uint32Array(2)).join("");
}

/** What stands before a command line that shall run as `uid`. */
export function asUser(uid: number): string[] {
  return uid === process.geteuid?.() ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
}

/** Removes all of it. */
export function removePlace({ top }: Place): void {
  rmSync(top, { recursive: true, force: true });
}

/** Puts the real paths and numbers in for the words in braces, in every string of a value. */
export function fill<T>(value: T, place: Place, services: HostServices): T {
  const words: Record<string, string> = {
    TOP: place.top,
    H: place.home,
    W: place.work,
    O: place.out,
    S: place.secret,
    TCP: String(services.tcpPort),
    UDP: String(services.udpPort),
    SOCK: services.socketPath,
    ABSTRACT: services.abstractName,
    PID: String(services.pid),
    HOST_WORD: services.word,
    MARK: place.mark,
  };
  const text = JSON.stringify(value).replaceAll(/\{([A-Z_]+)\}/g, (all, word: string) => {
    const found = words[word];
    return found === undefined ? all : JSON.stringify(found).slice(1, -1);
  });
  return JSON.parse(text);
}
