import type { Property } from "@cordon/core/contract";

/** What each property promises, for people. */
export const PROPERTY_WORDS = {
  "fs.write_confined": "writes only in the workspace, a private TMPDIR and what was allowed",
  "fs.read_confined": "reads only system folders, the workspace and what was allowed",
  "fs.read_hidden": "secrets such as ~/.ssh and .env can't be read",
  "fs.protected": "files that other tools obey (git hooks, editor and shell settings) can't be changed",
  "net.blocked": "no connection leaves the sandbox",
  "net.loopback": "a loopback works inside, and the host's services on it are out of reach",
  "proc.isolated": "other processes can't be seen or signalled",
  "env.scrubbed": "only allowed environment variables are passed",
  "keyring.blocked": "kernel keyrings can't be used",
  "syscalls.filtered": "system calls that only attacks need are refused",
  limits: "memory, processes and CPU are bounded",
} as const satisfies Record<Property, string>;
