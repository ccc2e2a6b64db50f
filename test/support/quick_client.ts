import type { GrepAnswer, IndexNote } from "../../core/contract/search.ts";
import type { AsText } from "../../core/exec/search/tree_fixture.ts";
import { type Exit, startCordon, type Surroundings } from "./run_cordon.ts";

/** The result of a search through `cordon serve`. */
export type Searched = {
  ok: boolean;
  output?: Partial<AsText<GrepAnswer>>;
  error?: { code: string; message: string };
  meta: { durationMs: number; index?: IndexNote };
};

/** A `cordon serve` that is asked one thing after the other, thousands of times: nothing is polled and nothing kept. */
export type QuickClient = {
  pid: number;
  call: (tool: string, input: unknown) => Promise<Searched>;
  close: () => Promise<Exit>;
};

/** Starts it. `call` rejects when stdout ends before the answer. */
export function startQuickClient(around: Surroundings, flags: string[] = []): QuickClient {
  const started = startCordon(["serve", ...flags], around);
  const waiting = new Map<string, PromiseWithResolvers<Searched>>();
  let last = 0;
  const reading = (async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of started.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const line = JSON.parse(part);
        if (line.type === "result") waiting.get(line.id)?.resolve(line);
      }
    }
    for (const { reject } of waiting.values()) reject(new Error("cordon serve ended before it answered"));
  })();
  return {
    pid: started.pid,
    call: async (tool, input) => {
      last += 1;
      const id = String(last);
      const answer = Promise.withResolvers<Searched>();
      waiting.set(id, answer);
      started.stdin.write(`${JSON.stringify({ id, tool, input })}\n`);
      await started.stdin.flush();
      return answer.promise.finally(() => waiting.delete(id));
    },
    close: async () => {
      await started.stdin.end();
      await reading;
      return started.exited();
    },
  };
}
