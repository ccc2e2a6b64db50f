/** Powers of 1024, as in ulimit and docker: 2G and 2GiB are the same. */
const UNIT_BYTES: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** "10M", "1.5G", "4096" in bytes; null for anything else, and for nothing at all. */
export function bytesOf(text: string): number | null {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)(?:([kmgt]?)(?:ib|b)?)$/i.exec(text);
  const bytes = Math.round(Number(match?.[1]) * (UNIT_BYTES[(match?.[2] ?? "").toLowerCase()] ?? Number.NaN));
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : null;
}

/** A whole number above 0; null for anything else. */
export function countOf(text: string): number | null {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return count >= 1 ? count : null;
}

/** "50%" or "50", where 100 is one processor; null for anything else. */
export function percentOf(text: string): number | null {
  const percent = /^\d{1,6}%?$/.test(text) ? Number.parseInt(text, 10) : 0;
  return percent >= 1 ? percent : null;
}
