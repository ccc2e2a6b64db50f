/**
 * File systems that only this kernel writes to, by statfs(2)'s f_type (linux/magic.h, and the sources of ZFS and bcachefs). Elsewhere
 * another machine may change a file, of which no event tells.
 */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlay
  0x2fc12fc1, // zfs
  0xca451a4e, // bcachefs
  0x52654973, // reiserfs
  0x3153464a, // jfs
  0x3434, // nilfs
]);

/** True if every change of a file raises an event here. */
export function isLocalFileSystem(type: number | undefined): boolean {
  return type !== undefined && LOCAL.has(type);
}
