import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { SearchEngine } from "../../engine/search.ts";
import type { RealPath } from "./real_path.ts";

/** Larger files are not searched: a component has 4 GiB of memory in all, and the buffer and its successor both count. */
export const LIMIT_BYTES = 256 << 20;

/** Files whose size the kernel does not know, in /proc for example, are read up to this. */
const UNKNOWN_SIZE_BYTES = 1 << 20;

// open(2): O_NONBLOCK keeps a FIFO that was put in the file's place from blocking us, O_NOFOLLOW refuses a link put there.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

/** Number of bytes that are in the component's buffer now, or why the file is not. */
export type Loaded = number | "unreadable" | "too_large";

/** Reads a regular file straight into the component's memory: one open, one fstat, one read, one close. */
export function loadFile(engine: SearchEngine, path: RealPath): Loaded {
  let descriptor: number;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
  } catch {
    return "unreadable";
  }
  try {
    return loadDescriptor(engine, descriptor);
  } catch {
    return "unreadable";
  } finally {
    closeSync(descriptor);
  }
}

function loadDescriptor(engine: SearchEngine, descriptor: number): Loaded {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) return "unreadable";
  if (stats.size > LIMIT_BYTES) return "too_large";
  const wanted = stats.size === 0 ? UNKNOWN_SIZE_BYTES : stats.size;
  const buffer = engine.buffer(wanted);
  let filled = readSync(descriptor, buffer, 0, wanted, null);
  // read(2) gives fewer bytes than there are for files over 2 GiB, on network file systems and in /proc only.
  while (filled > 0 && filled < wanted) {
    const more = readSync(descriptor, buffer, filled, wanted - filled, null);
    if (more === 0) break;
    filled += more;
  }
  return filled;
}
