import type { Found } from "../finds.ts";
import type { SearchJob } from "../job.ts";
import type { Listing } from "./listing.ts";
import type { Question } from "./tree_answers.ts";

/**
 * What the thread that keeps the indexes is told. `busy` counts the searches that run: it works only while there are none. Each `ask` is followed
 * by an `ended`, with what the search was told of files with a number, in pairs, if it came to its end.
 */
export type IndexTask =
  | { type: "start"; module: WebAssembly.Module; busy: SharedArrayBuffer; budgetBytes: number }
  | { type: "keep"; job: SearchJob }
  | { type: "ask"; id: number; root: string; question: Question }
  | { type: "ended"; id: number; told?: Int32Array };

/** What it says: how a root's index stands, and its answers. A root that is lost is forgotten there. */
export type IndexNews =
  | { type: "ready"; root: string; files: number; bytes: number; workedMs: number }
  | { type: "lost"; root: string; why: string; again: boolean }
  | { type: "answer"; id: number; listing: Listing; files: number; candidates: number; known?: Found }
  | { type: "answer"; id: number; why: string };
