import { runCordon, type Surroundings } from "./run_cordon.ts";
import type { Line } from "./serve_client.ts";

/** What `cordon call` printed, parsed, with its exit code. Throws when stdout is not one JSON text and nothing else. */
export async function callTool(
  tool: string,
  input: unknown,
  around: Surroundings,
  flags: string[] = [],
): Promise<Line & { exit: number | null }> {
  const end = await runCordon(["call", ...flags, tool, JSON.stringify(input)], around);
  return { ...JSON.parse(end.stdout), exit: end.code };
}
