import { join } from "node:path";
import { ownedFileSync } from "../look.ts";

/** The file of the state folder that holds what the person trusts. */
export const TRUST_FILE = "trust.json";

/** What was trusted: the digest of a workspace's settings files, and when (milliseconds since the epoch). */
export type Trusted = { digest: string; at: number };

/** Trust by the workspace's real path. */
export type TrustBook = Record<string, Trusted>;

/** No person trusts this many bytes of workspaces. */
const SIZE_LIMIT = 4 << 20;

const WRITABLE_BY_OTHERS = 0o022;

/** Reads what the person trusts. What is not theirs alone, or no book, holds no trust. */
export function readTrust(stateFolder: string, uid: number): TrustBook {
  try {
    const found = ownedFileSync(join(stateFolder, TRUST_FILE), SIZE_LIMIT);
    if (found === "other" || found === "large") return {};
    if ([found.owner, found.folder].some((one) => one.uid !== uid || one.mode & WRITABLE_BY_OTHERS)) return {};
    return bookOf(JSON.parse(new TextDecoder().decode(found.bytes)));
  } catch {
    return {};
  }
}

function bookOf(value: unknown): TrustBook {
  const { workspaces } =
    typeof value === "object" && value !== null && "workspaces" in value ? value : { workspaces: {} };
  if (typeof workspaces !== "object" || workspaces === null) return {};
  return Object.fromEntries(
    Object.entries(workspaces).flatMap(([path, entry]) => (isTrusted(entry) ? [[path, entry]] : [])),
  );
}

function isTrusted(entry: unknown): entry is Trusted {
  if (typeof entry !== "object" || entry === null || !("digest" in entry && "at" in entry)) return false;
  return typeof entry.digest === "string" && typeof entry.at === "number";
}

/** The digest of files by name and content; undefined where there are none. */
export function digestOf(files: readonly { path: string; text: string }[]): string | undefined {
  if (files.length === 0) return undefined;
  const hasher = new Bun.CryptoHasher("sha256");
  for (const { path, text } of files)
    hasher.update(`${Buffer.byteLength(path)}:${path}${Buffer.byteLength(text)}:${text}`);
  return hasher.digest("hex");
}
