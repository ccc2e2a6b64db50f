import { Type } from "@sinclair/typebox";
import { ToolFault } from "../../contract/fault.ts";
import { defineTool } from "../define_tool.ts";

/** The largest file that is opened, as in the system these tools come from. */
const FILE_LIMIT_BYTES = 10 * 1024 * 1024;
/** What one answer holds at most; below the cap on results, so that a slice ends at a line end and not in the middle (C16). */
const ANSWER_LIMIT_BYTES = 128 * 1024;
/** A NUL in this many leading bytes makes a file binary (git uses the same test with 8000 bytes). */
const BINARY_PROBE_BYTES = 8192;

/** Some lines of a text. `text` is the file's own bytes as text; counts are lines. `more` says that lines follow. */
export type LineSlice = { text: string; numLines: number; startLine: number; totalLines: number; more: boolean };

/**
 * Reads a text file. `content` is the text just as it stands in the file (BOM, CRLF, last line end), so that a part of it can
 * be given to edit_file unchanged; numbered lines (D3) come instead of it on demand and never beside it, which would double
 * the answer. Errors: fs.*.
 */
export const readFile = defineTool({
  name: "read_file",
  aliases: ["Read"],
  description:
    "Reads a text file, whole or some lines of it. offset counts lines to skip (0 is the start of the file), limit counts " +
    "lines to return; both may reach past the end. One answer holds at most 128 KiB and ends at a line end: when nextOffset " +
    "is in the result, call again with offset set to it. Files above 10 MiB, binary files, folders and devices are refused.",
  requires: "read-only",
  params: () =>
    Type.Object(
      {
        path: Type.String({ minLength: 1, description: "The file; absolute, or relative to the working folder" }),
        offset: Type.Optional(
          Type.Integer({ minimum: 0, description: "Lines to skip before the first one; default 0" }),
        ),
        limit: Type.Optional(Type.Integer({ minimum: 1, description: "Lines to return; default all that fit" })),
        line_numbers: Type.Optional(
          Type.Boolean({
            description: "true puts the line number and a tab before each line of content; default false",
          }),
        ),
      },
      { additionalProperties: false },
    ),
  paramAliases: { file_path: "path" },
  readOnly: () => true,
  concurrencySafe: () => true,
  title: (args) => `Read ${args.path ?? "a file"}`,
  needs: (args) => [{ kind: "fs.read", path: args.path }],
  run: async (args, { fs }) => {
    const { path, bytes } = fs.read(args.path, FILE_LIMIT_BYTES);
    refuseBinary(path, bytes);
    const slice = sliceLines(decodeText(bytes), args.offset ?? 0, args.limit ?? Number.POSITIVE_INFINITY);
    const content = args.line_numbers ? numberLines(slice) : slice.text;
    const { numLines, startLine, totalLines } = slice;
    const next = slice.more ? { nextOffset: startLine - 1 + numLines } : {};
    return { type: "text", file: { filePath: path, content, numLines, startLine, totalLines, ...next } };
  },
});

/** Throws `fs.binary` when the file starts like a binary one. */
export function refuseBinary(path: string, bytes: Uint8Array): void {
  const at = bytes.subarray(0, BINARY_PROBE_BYTES).indexOf(0);
  if (at < 0) return;
  throw new ToolFault({
    code: "fs.binary",
    message: `Cannot use "${path}" as text: a NUL byte stands at byte ${at}`,
    hint: "Look at it with bash, for example with file or xxd",
  });
}

/** UTF-8 as text with its BOM kept; what is not UTF-8 becomes U+FFFD. Never throws. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/**
 * Cuts lines out of a text; both counts saturate (A8). A line ends after its LF; text after the last LF is a line too. Stops
 * before the line that would go over the limit of an answer, but always gives one. Never throws.
 */
export function sliceLines(text: string, skip: number, count: number): LineSlice {
  const starts = lineStarts(text);
  const totalLines = starts.length;
  const first = Math.min(skip, totalLines);
  const wanted = Math.min(first + count, totalLines);
  const begin = starts[first] ?? text.length;
  let last = wanted;
  let end = starts[wanted] ?? text.length;
  // A UTF-16 unit is at most three UTF-8 bytes, so most slices need no counting to be known to fit.
  if ((end - begin) * 3 > ANSWER_LIMIT_BYTES) {
    last = lastThatFits(text, starts, { first, wanted });
    end = starts[last] ?? text.length;
  }
  const numLines = last - first;
  return { text: text.slice(begin, end), numLines, startLine: first + 1, totalLines, more: last < totalLines };
}

function lastThatFits(text: string, starts: number[], { first, wanted }: { first: number; wanted: number }): number {
  let bytes = 0;
  for (let line = first; line < wanted; line += 1) {
    bytes += Buffer.byteLength(text.slice(starts[line], starts[line + 1]));
    if (bytes > ANSWER_LIMIT_BYTES && line > first) return line;
  }
  return wanted;
}

function lineStarts(text: string): number[] {
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    const end = text.indexOf("\n", at);
    if (end < 0) break;
    at = end + 1;
  }
  return starts;
}

function numberLines({ text, startLine }: LineSlice): string {
  const numbered = lineStarts(text).map((at, index, starts) => {
    return `${String(startLine + index).padStart(6)}\t${text.slice(at, starts[index + 1] ?? text.length)}`;
  });
  return numbered.join("");
}
