/** A run of changed lines with its surroundings, as in a unified diff. Line numbers count from 1; `lines` start with " ", "-" or "+". */
export type Hunk = { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] };

/** The change from one text to another. `omittedLines` counts lines of the patch that did not fit, and is absent when all did. */
export type StructuredPatch = { structuredPatch: Hunk[]; omittedLines?: number };

const CONTEXT_LINES = 3;
/** More than this a person does not read, and a model pays for. */
const PATCH_LIMIT_LINES = 400;
/** Above this many comparisons the changed region is shown as one block instead of being aligned. */
const ALIGN_LIMIT_CELLS = 250_000;

/** A changed run: `oldLines` from `oldAt` became `newLines` from `newAt`. Indexes from 0, ends exclusive. */
type Change = { oldAt: number; oldEnd: number; newAt: number; newEnd: number };

/** Makes hunks with three lines of context. Line ends are not part of the lines, a CR before LF is. Never throws. */
export function structuredPatch(before: string, after: string): StructuredPatch {
  if (before === after) return { structuredPatch: [] };
  const old = splitLines(before);
  const now = splitLines(after);
  const hunks = groupChanges(findChanges(old, now)).map((group) => toHunk(old, now, group));
  return boundHunks(hunks);
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  // The empty piece after a last LF is no line; without that LF the last line is marked as diff(1) does.
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function findChanges(old: string[], now: string[]): Change[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let oldEnd = old.length;
  let newEnd = now.length;
  while (oldEnd > head && newEnd > head && old[oldEnd - 1] === now[newEnd - 1]) {
    oldEnd -= 1;
    newEnd -= 1;
  }
  const middle = { oldAt: head, oldEnd, newAt: head, newEnd };
  if ((oldEnd - head) * (newEnd - head) <= ALIGN_LIMIT_CELLS) return alignLines(old, now, middle);
  // Replacing a word all over a long file leaves the line count alone, so a walk side by side finds the changes.
  return oldEnd === newEnd ? pairLines(old, now, middle) : [middle];
}

function pairLines(old: string[], now: string[], { oldAt, oldEnd }: Change): Change[] {
  const changes: Change[] = [];
  for (let at = oldAt; at < oldEnd; at += 1) {
    if (old[at] !== now[at]) addLine(changes, { oldAt: at, oldEnd: at + 1, newAt: at, newEnd: at + 1 });
  }
  return changes;
}

/** Longest common subsequence of the two regions, by the usual table. */
function alignLines(old: string[], now: string[], { oldAt, oldEnd, newAt, newEnd }: Change): Change[] {
  const width = newEnd - newAt + 1;
  const table = new Uint32Array((oldEnd - oldAt + 1) * width);
  const cell = (i: number, j: number) => table[(i - oldAt) * width + (j - newAt)] ?? 0;
  for (let i = oldEnd - 1; i >= oldAt; i -= 1) {
    for (let j = newEnd - 1; j >= newAt; j -= 1) {
      const best = old[i] === now[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
      table[(i - oldAt) * width + (j - newAt)] = best;
    }
  }
  const changes: Change[] = [];
  for (let i = oldAt, j = newAt; i < oldEnd || j < newEnd; ) {
    if (i < oldEnd && j < newEnd && old[i] === now[j]) {
      i += 1;
      j += 1;
    } else if (i < oldEnd && (j === newEnd || cell(i + 1, j) >= cell(i, j + 1))) {
      addLine(changes, { oldAt: i, oldEnd: i + 1, newAt: j, newEnd: j });
      i += 1;
    } else {
      addLine(changes, { oldAt: i, oldEnd: i, newAt: j, newEnd: j + 1 });
      j += 1;
    }
  }
  return changes;
}

function addLine(changes: Change[], next: Change): void {
  const last = changes.at(-1);
  if (last && last.oldEnd === next.oldAt && last.newEnd === next.newAt) {
    last.oldEnd = next.oldEnd;
    last.newEnd = next.newEnd;
  } else {
    changes.push(next);
  }
}

/** Changes whose context would touch share a hunk. */
function groupChanges(changes: Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group && last && change.oldAt - last.oldEnd <= 2 * CONTEXT_LINES) group.push(change);
    else groups.push([change]);
  }
  return groups;
}

function toHunk(old: string[], now: string[], group: Change[]): Hunk {
  const lines: string[] = [];
  const marked = (mark: string, from: readonly string[]) => {
    for (const line of from) lines.push(...`${mark}${line}`.split("\n"));
  };
  const [first] = group;
  const oldFrom = Math.max(0, (first?.oldAt ?? 0) - CONTEXT_LINES);
  const newFrom = Math.max(0, (first?.newAt ?? 0) - CONTEXT_LINES);
  let oldAt = oldFrom;
  let newAt = newFrom;
  for (const change of group) {
    marked(" ", old.slice(oldAt, change.oldAt));
    marked("-", old.slice(change.oldAt, change.oldEnd));
    marked("+", now.slice(change.newAt, change.newEnd));
    oldAt = change.oldEnd;
    newAt = change.newEnd;
  }
  const tail = old.slice(oldAt, oldAt + CONTEXT_LINES);
  marked(" ", tail);
  const oldLines = oldAt + tail.length - oldFrom;
  const newLines = newAt + tail.length - newFrom;
  // diff(1) numbers an empty side by the line before it.
  const start = (from: number, count: number) => (count === 0 ? from : from + 1);
  return { oldStart: start(oldFrom, oldLines), oldLines, newStart: start(newFrom, newLines), newLines, lines };
}

function boundHunks(hunks: Hunk[]): StructuredPatch {
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  if (total <= PATCH_LIMIT_LINES) return { structuredPatch: hunks };
  const kept: Hunk[] = [];
  let room = PATCH_LIMIT_LINES;
  for (const hunk of hunks) {
    if (hunk.lines.length > room) break;
    kept.push(hunk);
    room -= hunk.lines.length;
  }
  return { structuredPatch: kept, omittedLines: total - (PATCH_LIMIT_LINES - room) };
}
