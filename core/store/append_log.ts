import { closeSync, fstatSync, openSync, writeSync, constants as fs } from "node:fs";
import { ToolFault } from "../contract/fault.ts";

/** A file of JSON lines that only grows. Each line is one write(2) to an O_APPEND descriptor, so processes can share it. */
export type AppendLog = { append: (row: object) => void; close: () => void };

/** Opens the log, made with mode 0600. Throws ToolFault `audit.unwritable`; `append` throws the same. */
export function openAppendLog(path: string): AppendLog {
  const fd = guarded(path, () =>
    openSync(path, fs.O_WRONLY | fs.O_APPEND | fs.O_CREAT | fs.O_NOFOLLOW | fs.O_NONBLOCK, 0o600),
  );
  guarded(path, () => {
    if (!fstatSync(fd).isFile()) throw new Error("it is not a regular file");
  });
  return {
    append: (row) =>
      guarded(path, () => {
        const line = `${JSON.stringify(row)}\n`;
        const written = writeSync(fd, line);
        const wanted = Buffer.byteLength(line);
        if (written !== wanted) throw new Error(`only ${written} of ${wanted} bytes were written`);
      }),
    close: () => closeSync(fd),
  };
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ToolFault({
      code: "audit.unwritable",
      message: `Cannot write the log ${JSON.stringify(path)}: ${error instanceof Error ? error.message : String(error)}`,
      hint: "nothing was run; set CORDON_STATE_DIR to a folder that you can write",
    });
  }
}
