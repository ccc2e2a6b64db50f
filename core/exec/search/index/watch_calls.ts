/**
 * Events of the file system, read when they are wanted. The kernel queues an event in the very call that changes a file
 * (fsnotify in fs/read_write.c, fs/namei.c, fs/attr.c), so whoever empties the queue has seen all changes that were over by then. An event
 * loop or a library between would give them later.
 */
import { dlopen, ptr } from "bun:ffi";
import { cString } from "../../c_string.ts";
import { constants } from "node:fs";

const IN_NONBLOCK = 0o4000;
const IN_CLOEXEC = 0o2000000;

/** The events of sys/inotify.h, the same everywhere. */
export const IN = {
  modify: 0x2,
  attrib: 0x4,
  closeWrite: 0x8,
  movedFrom: 0x40,
  movedTo: 0x80,
  create: 0x100,
  delete: 0x200,
  deleteSelf: 0x400,
  moveSelf: 0x800,
  unmount: 0x2000,
  overflow: 0x4000,
  ignored: 0x8000,
  onlyDir: 0x1000000,
  dontFollow: 0x2000000,
  exclUnlink: 0x4000000,
  isDir: 0x40000000,
} as const;

const WATCHED =
  IN.modify |
  IN.attrib |
  IN.closeWrite |
  IN.movedFrom |
  IN.movedTo |
  IN.create |
  IN.delete |
  IN.deleteSelf |
  IN.moveSelf |
  IN.onlyDir |
  IN.exclUnlink;

/** struct inotify_event: wd, mask, cookie, length of the name, 32 bits each; then the name, padded with NUL bytes. */
const EVENT_HEAD_BYTES = 16;
const QUEUE_BYTES = 256 << 10;

/** statx(2). The words of 32 bits in struct statx. */
const STATX_BYTES = 256;
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const AT_SYMLINK_NOFOLLOW = 0x100;
/** Type, mode, links, changes, inode, size, and the mount (since Linux 5.8). */
const STATX_WANTED = 0x7ff | 0x1000;
const STATX_MNT_ID = 0x1000;
const STATX = {
  mask: 0,
  links: 4,
  inodeLow: 8,
  inodeHigh: 9,
  sizeLow: 10,
  sizeHigh: 11,
  ctimeLow: 24,
  ctimeNanoseconds: 26,
  mtimeLow: 28,
  mtimeHigh: 29,
  mtimeNanoseconds: 30,
  devMajor: 34,
  devMinor: 35,
  mountLow: 36,
} as const;

const STATFS_BYTES = 256;
const POLLPRI = 2;
const POLLERR = 8;
const POLLFD_BYTES = 8;

const SYMBOLS = {
  inotify_init1: { args: ["i32"], returns: "i32" },
  inotify_add_watch: { args: ["i32", "u64", "u32"], returns: "i32" },
  inotify_rm_watch: { args: ["i32", "i32"], returns: "i32" },
  openat: { args: ["i32", "u64", "i32", "i32"], returns: "i32" },
  read: { args: ["i32", "u64", "u64"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
  poll: { args: ["u64", "u64", "i32"], returns: "i32" },
  statx: { args: ["i32", "u64", "i32", "u32", "u64"], returns: "i32" },
  fstatfs: { args: ["i32", "u64"], returns: "i32" },
} as const;

type Symbols = ReturnType<typeof dlopen<typeof SYMBOLS>>["symbols"];

/** One event. `name` is the bytes of an entry's name, one character each; empty if it is about the folder itself. */
export type WatchEvent = { watch: number; mask: number; cookie: number; name: string };

/** What is known of a file or folder: what changes when it changes, how many names it has, and where it is. */
export type FileFacts = { changedMs: number; size: number; mark: number; links: number; inode: string; place: string };

/** The watches of one tree. */
export class WatchCalls {
  readonly #c: Symbols = dlopen("libc.so.6", SYMBOLS).symbols;
  readonly #events: number;
  readonly #mounts: number;
  readonly #queue = Buffer.alloc(QUEUE_BYTES);
  readonly #stat = new Uint32Array(STATX_BYTES / 4);
  readonly #poll = new DataView(new ArrayBuffer(POLLFD_BYTES));

  /** Throws where there is no inotify, no /proc or no glibc. */
  constructor() {
    this.#events = this.#c.inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    this.#mounts = this.#c.openat(AT_FDCWD, ptr(cString("/proc/self/mountinfo")), constants.O_RDONLY | IN_CLOEXEC, 0);
    if (this.#events >= 0 && this.#mounts >= 0) return;
    this.close();
    throw new Error("the system gives no file events");
  }

  /** Ends all watches. */
  close(): void {
    for (const fd of [this.#events, this.#mounts]) if (fd >= 0) this.#c.close(fd);
  }

  /** Watches a folder by its path; links in its last part are not followed. Undefined where that fails. */
  watch(path: string | Uint8Array): number | undefined {
    return this.#watch(path, WATCHED | IN.dontFollow);
  }

  /** Watches an open folder: the same number as before if it is the folder that was watched. */
  watchOpen(handle: number): number | undefined {
    return this.#watch(`/proc/self/fd/${handle}`, WATCHED);
  }

  /** Ends a watch. Events of it may still be queued. */
  unwatch(watch: number): void {
    this.#c.inotify_rm_watch(this.#events, watch);
  }

  /** Takes all events that are queued. */
  *drain(): Generator<WatchEvent, void, undefined> {
    const queue = this.#queue;
    for (;;) {
      const bytes = this.#c.read(this.#events, ptr(queue), QUEUE_BYTES);
      if (bytes <= 0) return;
      for (let at = 0; at < bytes; ) {
        const length = queue.readUInt32LE(at + 12);
        const start = at + EVENT_HEAD_BYTES;
        const end = length === 0 ? start : queue.indexOf(0, start);
        const name = queue.toString("latin1", start, end < 0 || end > start + length ? start + length : end);
        yield {
          watch: queue.readInt32LE(at),
          mask: queue.readUInt32LE(at + 4),
          cookie: queue.readUInt32LE(at + 8),
          name,
        };
        at = start + length;
      }
    }
  }

  /** True if anything was mounted or unmounted since the last call (proc_pid_mountinfo(5)). */
  mountsChanged(): boolean {
    this.#poll.setInt32(0, this.#mounts, true);
    this.#poll.setInt16(4, POLLPRI, true);
    this.#poll.setInt16(6, 0, true);
    const ready = this.#c.poll(ptr(this.#poll.buffer), 1, 0);
    return ready !== 0 && (this.#poll.getInt16(6, true) & (POLLPRI | POLLERR)) !== 0;
  }

  /** The facts of what stands at a path or, with a handle, of an entry of it; of the handle itself without a name. */
  facts(name: string | Uint8Array, handle = AT_FDCWD): FileFacts | undefined {
    const flags = AT_SYMLINK_NOFOLLOW | (name.length === 0 ? AT_EMPTY_PATH : 0);
    const path = cString(name);
    if (this.#c.statx(handle, ptr(path), flags, STATX_WANTED, ptr(this.#stat)) < 0) return undefined;
    const word = (place: number) => this.#stat[place] ?? 0;
    const mount = (word(STATX.mask) & STATX_MNT_ID) === 0 ? "" : word(STATX.mountLow);
    const seconds = word(STATX.mtimeLow) + (word(STATX.mtimeHigh) | 0) * 2 ** 32;
    return {
      changedMs: seconds * 1000 + word(STATX.mtimeNanoseconds) / 1e6,
      size: word(STATX.sizeLow) + word(STATX.sizeHigh) * 2 ** 32,
      // States that differ in any of these have the same sum by a rare chance only, and this is a second line of defence.
      mark:
        word(STATX.ctimeLow) * 1e6 + word(STATX.ctimeNanoseconds) / 1e3 + word(STATX.sizeLow) * 3 + word(STATX.links),
      links: word(STATX.links),
      inode: `${word(STATX.inodeHigh)}.${word(STATX.inodeLow)}`,
      place: `${word(STATX.devMajor)}:${word(STATX.devMinor)}:${mount}`,
    };
  }

  /** The type of the file system that an open folder is on, see statfs(2). */
  fileSystem(handle: number): number | undefined {
    const room = new Uint32Array(STATFS_BYTES / 4);
    return this.#c.fstatfs(handle, ptr(room)) < 0 ? undefined : room[0];
  }

  #watch(path: string | Uint8Array, mask: number): number | undefined {
    const name = cString(path);
    const watch = this.#c.inotify_add_watch(this.#events, ptr(name), mask);
    return watch < 0 ? undefined : watch;
  }
}
