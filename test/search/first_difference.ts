/** Characters of a line that are shown. */
const SHOWN_LENGTH = 200;

/** The first line that differs, as JSON: the whole of two answers is more than anybody reads. */
export function firstDifference(
  output: string,
  expected: string,
): { output: string | undefined; expected: string | undefined } {
  const [ours, theirs] = [output.split("\n"), expected.split("\n")];
  const found = ours.findIndex((line, place) => line !== theirs[place]);
  const at = found < 0 ? ours.length : found;
  const show = (line: string | undefined) => (line === undefined ? line : JSON.stringify(line.slice(0, SHOWN_LENGTH)));
  return { output: show(ours[at]), expected: show(theirs[at]) };
}
