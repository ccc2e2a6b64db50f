import type { SearchJob } from "../job.ts";
import type { Listing } from "./listing.ts";

/** What the thread that keeps the indexes is told. `busy` counts the searches that run: it works only while there are none. */
export type IndexTask =
  | { type: "start"; module: WebAssembly.Module; busy: SharedArrayBuffer; budgetBytes: number }
  | { type: "keep"; job: SearchJob }
  | { type: "ask"; id: number; root: string; start: string; grep?: NonNullable<SearchJob["grep"]> };

/** What it says: how a root's index stands, and its answers. A root that is lost is forgotten there. */
export type IndexNews =
  | { type: "ready"; root: string; files: number; bytes: number; workedMs: number }
  | { type: "lost"; root: string; why: string; again: boolean }
  | { type: "answer"; id: number; listing: Listing; files: number; candidates: number }
  | { type: "answer"; id: number; why: string };
