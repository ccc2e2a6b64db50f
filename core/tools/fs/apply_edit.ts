import { ToolFault } from "../../contract/fault.ts";

/** One replacement as asked for. */
export type EditRequest = { oldString: string; newString: string; replaceAll: boolean };

/** The new content of the file, and in how many places it differs. */
export type EditedText = { content: Uint8Array; replacements: number };

/** How many line numbers an error lists. */
const LISTED_LINES = 20;

/**
 * Replaces text in a file's bytes. Works on bytes, so what is not UTF-8 elsewhere in the file stays as it is. An old_string
 * whose line ends are not the file's own is found all the same, and new_string gets the file's line ends. `path` is for
 * messages. Throws `edit.not_found` or `edit.not_unique`.
 */
export function applyEdit(path: string, bytes: Uint8Array, request: EditRequest): EditedText {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = findPlaces(file, request.oldString);
  if (!found) throw notFound(path, file, request.oldString);
  const { places, length, adapt } = found;
  if (places.length > 1 && !request.replaceAll) throw notUnique(path, file, places);
  const replacement = Buffer.from(adapt(request.newString));
  return { content: splice(file, places, { length, replacement }), replacements: places.length };
}

type Places = { places: number[]; length: number; adapt: (text: string) => string };

const asGiven = (text: string) => text;
const toCrlf = (text: string) => text.replace(/\r?\n/g, "\r\n");
const toLf = (text: string) => text.replace(/\r\n/g, "\n");

function findPlaces(file: Buffer, oldString: string): Places | undefined {
  for (const adapt of adaptations(file)) {
    const wanted = Buffer.from(adapt(oldString));
    const places = placesOf(file, wanted);
    if (places.length > 0) return { places, length: wanted.length, adapt };
  }
  return undefined;
}

/** The ways to read the texts of a call, the likeliest first. A file with one kind of line end keeps to it. */
function adaptations(file: Buffer): Places["adapt"][] {
  if (!file.includes("\r\n")) return [asGiven, toLf];
  return hasBareLf(file) ? [asGiven, toCrlf, toLf] : [toCrlf];
}

function placesOf(file: Buffer, wanted: Buffer): number[] {
  const places: number[] = [];
  for (let at = file.indexOf(wanted); at >= 0; ) {
    // A match from the middle of a CRLF on would leave its CR behind.
    const splits = wanted[0] === 10 && at > 0 && file[at - 1] === 13;
    if (!splits) places.push(at);
    at = file.indexOf(wanted, splits ? at + 1 : at + wanted.length);
  }
  return places;
}

function splice(file: Buffer, places: number[], change: { length: number; replacement: Buffer }): Uint8Array {
  const parts: Buffer[] = [];
  let from = 0;
  for (const at of places) {
    parts.push(file.subarray(from, at), change.replacement);
    from = at + change.length;
  }
  return Buffer.concat([...parts, file.subarray(from)]);
}

function hasBareLf(file: Buffer): boolean {
  for (let at = file.indexOf(10); at >= 0; at = file.indexOf(10, at + 1))
    if (at === 0 || file[at - 1] !== 13) return true;
  return false;
}

function notUnique(path: string, file: Buffer, places: number[]): ToolFault {
  const lines = lineNumbers(file, places);
  const listed = lines.slice(0, LISTED_LINES).join(", ") + (lines.length > LISTED_LINES ? ", …" : "");
  return new ToolFault({
    code: "edit.not_unique",
    message: `Cannot edit "${path}": old_string is there ${places.length} times, at lines ${listed}; one place is wanted`,
    hint: "Give more of the text around the place in old_string, or set replace_all to change them all",
    details: { count: places.length, lines: lines.slice(0, LISTED_LINES) },
  });
}

function lineNumbers(file: Buffer, places: number[]): number[] {
  let line = 1;
  let from = 0;
  return places.map((place) => {
    for (let at = file.indexOf(10, from); at >= 0 && at < place; at = file.indexOf(10, at + 1)) line += 1;
    from = place;
    return line;
  });
}

/** Says where the text is when only white space differs, the usual reason: the next try then need not read the file again. */
function notFound(path: string, file: Buffer, oldString: string): ToolFault {
  const near = nearestPlace(file.toString().split("\n"), oldString.split("\n"));
  return new ToolFault({
    code: "edit.not_found",
    message: `Cannot edit "${path}": old_string is not in the file${near ? `; ${near.what} line ${near.line}` : ""}`,
    hint: "Read the file again with read_file and copy the text as it is there, without line numbers",
    ...(near ? { details: { nearestLine: near.line, nearestText: near.text } } : {}),
  });
}

function nearestPlace(file: string[], wanted: string[]): { what: string; line: number; text: string } | undefined {
  const bare = (line: string) => line.replace(/\s+/g, " ").trim();
  const target = wanted.map(bare);
  while (target.length > 0 && target[0] === "") target.shift();
  while (target.length > 0 && target.at(-1) === "") target.pop();
  if (target.length === 0) return undefined;
  const lines = file.map(bare);
  const starts = lines.flatMap((line, index) => (line === target[0] ? [index] : []));
  const whole = starts.find((start) => target.every((line, index) => lines[start + index] === line));
  const at = whole ?? starts[0];
  if (at === undefined) return undefined;
  const what = whole === undefined ? "its first line is at" : "it differs in white space only from the text at";
  return {
    what,
    line: at + 1,
    text: file
      .slice(at, at + (whole === undefined ? 1 : target.length))
      .join("\n")
      .slice(0, 2000),
  };
}
