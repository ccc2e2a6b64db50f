/** The known names nearest to `name`, best first, at most two, none when nothing is near. Case is ignored. Never throws. */
export function nearestNames(name: string, known: readonly string[]): string[] {
  const wanted = name.slice(0, 64).toLowerCase();
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return known
    .map((k) => ({ k, d: remoteness(wanted, k.toLowerCase()) }))
    .filter(({ d }) => d <= limit)
    .sort((a, b) => a.d - b.d)
    .slice(0, 2)
    .map(({ k }) => k);
}

/** A name that holds the wanted one is as near as one slip; the name itself is nearer than all of those. */
function remoteness(wanted: string, known: string): number {
  if (known === wanted) return 0;
  return wanted.length >= 3 && known.includes(wanted) ? 1 : distance(wanted, known);
}

/** Levenshtein distance with one row of memory. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitute));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
