/**
 * The file calls of a search through bun:ffi. What node:fs does around an open, a stat, a read and a close, above all making a
 * string of the name and an object of the stat, costs more than the calls themselves.
 */
import { dlopen, ptr } from "bun:ffi";
import { cString } from "../c_string.ts";
import { constants } from "node:fs";
import type { ComponentFiles, ComponentFolders, SearchEngine } from "../../engine/search.ts";
import type { FileCalls, OpenFolder } from "./file_calls.ts";
import type { RealPath } from "./real_path.ts";

const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW, O_NOCTTY, O_DIRECTORY } = constants;

/** fcntl.h; the same on x86-64 and arm64. Not among node's constants. */
const O_CLOEXEC = 0o2000000;
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const AT_SYMLINK_NOFOLLOW = 0x100;

// open(2): O_NONBLOCK keeps a FIFO that was put in the file's place from blocking us, O_NOFOLLOW refuses a link put there.
const FILE_FLAGS = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
const FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/** openat2(2) has this number everywhere; glibc has no function for it. */
const SYS_OPENAT2 = 437;
const RESOLVE_NO_SYMLINKS = 4;
const OPEN_HOW_BYTES = 24;

/** statx(2): words of 32 bits in struct statx, and what is asked for. */
const STATX_BYTES = 256;
const STATX = { mode: 7, sizeLow: 10, sizeHigh: 11, changedLow: 28, changedHigh: 29, changedNanoseconds: 30 } as const;
const STATX_TYPE_AND_SIZE = 0x0001 | 0x0200;
const STATX_TYPE_AND_MTIME = 0x0001 | 0x0040;
const S_IFMT = 0o170000;
const S_IFREG = 0o100000;
const S_IFDIR = 0o040000;

/** linux_dirent64, see wasm/search/src/entries.rs. */
const DIRENT = { length: 16, type: 18, name: 19 } as const;
const DT_FIFO = 1;
const DT_DIR = 4;
const DT_REG = 8;

/** The largest record of getdents64(2) is 280 bytes; a call with less room than some of them may read nothing. */
const LEAST_ROOM_BYTES = 8 << 10;

// Addresses are numbers here: most of them are places in linear memory, which bun:ffi has no type for.
const SYMBOLS = {
  syscall: { args: ["i64", "i64", "u64", "u64", "i64", "i64"], returns: "i32" },
  openat: { args: ["i32", "u64", "i32", "i32"], returns: "i32" },
  pread64: { args: ["i32", "u64", "u64", "i64"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
  getdents64: { args: ["i32", "u64", "u64"], returns: "i32" },
  statx: { args: ["i32", "u64", "i32", "u32", "u64"], returns: "i32" },
} as const;

/** Undefined where the C library is another, or lacks one of the calls. */
export function nativeFileCalls(): FileCalls | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return new NativeCalls(dlopen("libc.so.6", SYMBOLS).symbols);
  } catch {
    return undefined;
  }
}

type Symbols = ReturnType<typeof dlopen<typeof SYMBOLS>>["symbols"];

class NativeCalls implements FileCalls {
  readonly #c: Symbols;
  readonly #stat = new Uint32Array(STATX_BYTES / 4);
  readonly #statAt: number;
  readonly #nothing = new Uint8Array(1);
  readonly #nothingAt: number;
  readonly #how: Uint32Array | undefined;
  #memory: ArrayBufferLike | undefined;
  #memoryAt = 0;

  constructor(symbols: Symbols) {
    this.#c = symbols;
    this.#statAt = ptr(this.#stat);
    this.#nothingAt = ptr(this.#nothing);
    const how = new Uint32Array(OPEN_HOW_BYTES / 4);
    // struct open_how: flags, mode and resolve, 64 bits each.
    how[0] = FOLDER_FLAGS;
    how[4] = RESOLVE_NO_SYMLINKS;
    this.#how = this.#openWith(how, new Uint8Array([0x2f, 0]), (fd) => this.#c.close(fd)) ? how : undefined;
  }

  openFolder(engine: SearchEngine, path: RealPath): OpenFolder | undefined {
    const handle = this.reach(path);
    if (handle < 0) return undefined;
    const bytes = this.#readEntries(engine, handle);
    if (bytes >= 0) return { path, handle, bytes };
    this.#c.close(handle);
    return undefined;
  }

  reach(path: RealPath): number {
    const name = cString(path);
    let handle = -1;
    if (this.#how) this.#openWith(this.#how, name, (fd) => (handle = fd));
    else handle = this.#c.openat(AT_FDCWD, ptr(name), FOLDER_FLAGS, 0);
    return handle;
  }

  closeFolder({ handle }: OpenFolder): void {
    this.#c.close(handle);
  }

  filesOf(engine: SearchEngine): ComponentFiles {
    const c = this.#c;
    const address = addresses(engine);
    return {
      open: (folder, name) => c.openat(folder, address(name), FILE_FLAGS, 0),
      // pread(2) refuses what has no places to begin at: a FIFO or a socket that was put in the file's place is not read from.
      read: (file, to, bytes, start) => c.pread64(file, address(to), bytes, start),
      size: (file) => this.#sizeOf(file),
      changed: (folder, name) => this.#changedOf(folder, address(name)),
      close: (file) => void c.close(file),
    };
  }

  foldersOf(engine: SearchEngine): ComponentFolders {
    const c = this.#c;
    const address = addresses(engine);
    const howAt = this.#how === undefined ? 0 : ptr(this.#how);
    return {
      open: (path) =>
        howAt === 0
          ? c.openat(AT_FDCWD, address(path), FOLDER_FLAGS, 0)
          : c.syscall(SYS_OPENAT2, AT_FDCWD, address(path), howAt, OPEN_HOW_BYTES, 0),
      entries: (folder, to, bytes) => c.getdents64(folder, address(to), bytes),
      kind: (folder, name) => this.#kindOf(folder, address(name)),
    };
  }

  /** When what stands at a name was changed, in milliseconds; NaN if it is gone. */
  #changedOf(folder: number, name: number): number {
    if (this.#c.statx(folder, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE_AND_MTIME, this.#statAt) < 0) return Number.NaN;
    const seconds = this.#word(STATX.changedLow) + (this.#word(STATX.changedHigh) | 0) * 2 ** 32;
    return seconds * 1000 + this.#word(STATX.changedNanoseconds) / 1e6;
  }

  #sizeOf(file: number): number {
    if (this.#c.statx(file, this.#nothingAt, AT_EMPTY_PATH, STATX_TYPE_AND_SIZE, this.#statAt) < 0) return -1;
    if ((this.#word(STATX.mode) & S_IFMT) !== S_IFREG) return -1;
    return this.#word(STATX.sizeLow) + this.#word(STATX.sizeHigh) * 2 ** 32;
  }

  /** Bytes of entries that were read into the component's room; -1 on failure. */
  #readEntries(engine: SearchEngine, handle: number): number {
    for (let bytes = 0; ; ) {
      const room = engine.entries(bytes + LEAST_ROOM_BYTES > engine.entries(0).length ? bytes * 2 : 0);
      const read = this.#c.getdents64(handle, this.#addressOf(room) + bytes, room.length - bytes);
      if (read < 0) return -1;
      if (read === 0) return this.#nameKinds(engine, handle, bytes);
      bytes += read;
    }
  }

  /** For file systems whose folders do not say what an entry is: finds it out, and writes it into the entries. */
  #nameKinds(engine: SearchEngine, handle: number, bytes: number): number {
    const room = engine.entries(0);
    const address = this.#addressOf(room);
    for (let at = 0; at < bytes; at += (room[at + DIRENT.length] ?? 0) | ((room[at + DIRENT.length + 1] ?? 0) << 8)) {
      if (room[at + DIRENT.type] === 0) room[at + DIRENT.type] = this.#kindOf(handle, address + at + DIRENT.name);
    }
    return bytes;
  }

  /** What an entry is, in the numbers of readdir(3). 1 is a FIFO: anything that is visited by nobody. */
  #kindOf(handle: number, name: number): number {
    if (this.#c.statx(handle, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE_AND_SIZE, this.#statAt) < 0) return DT_FIFO;
    const kind = this.#word(STATX.mode) & S_IFMT;
    return kind === S_IFREG ? DT_REG : kind === S_IFDIR ? DT_DIR : DT_FIFO;
  }

  #openWith(how: Uint32Array, path: Uint8Array, use: (fd: number) => void): boolean {
    const fd = this.#c.syscall(SYS_OPENAT2, AT_FDCWD, ptr(path), ptr(how), OPEN_HOW_BYTES, 0);
    if (fd < 0) return false;
    use(fd);
    return true;
  }

  #word(place: number): number {
    return this.#stat[place] ?? 0;
  }

  /** The address of a view into linear memory, whose own address is looked up when the memory was made anew. */
  #addressOf(view: Uint8Array): number {
    if (view.buffer !== this.#memory) {
      this.#memory = view.buffer;
      this.#memoryAt = ptr(new Uint8Array(view.buffer));
    }
    return this.#memoryAt + view.byteOffset;
  }
}

/** Addresses of places in linear memory, whose own address is looked up again when it has grown. */
function addresses(engine: SearchEngine): (at: number) => number {
  let memory: Uint8Array = new Uint8Array(0);
  let memoryAt = 0;
  return (at) => {
    // A memory that has grown leaves the views of its old buffer with no bytes in them.
    if (memory.length === 0) {
      memory = engine.memory;
      memoryAt = ptr(memory);
    }
    return memoryAt + (at >>> 0);
  };
}
