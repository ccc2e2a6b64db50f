import type { Adapter } from "./adapters/adapter.ts";
import { startServices } from "./host_services.ts";
import type { GroupedCase } from "./load_cases.ts";
import { type Outcome, runCase } from "./run_case.ts";

/** How many cases run at a time: most of them wait for processes to start. */
const AT_ONCE = 3;

/** Runs all cases in one adapter. The result for each case is a promise, so that whoever asks waits for that case only. */
export function runColumn(
  cases: GroupedCase[],
  adapter: Adapter,
): { outcome: (id: string) => Promise<Outcome>; done: Promise<void> } {
  const found = new Map(cases.map(({ id }) => [id, Promise.withResolvers<Outcome>()]));
  const waiting = [...cases];
  const work = async () => {
    const services = await startServices(adapter.uid);
    try {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
            const end = await runCase(one, adapter, services).catch(
              (error): Outcome => ({ state: "failed", why: `the suite itself: ${error}` }),
            );
            found.get(one.id)?.resolve(end);
          }
        }),
      );
    } finally {
      services.stop();
    }
  };
  const outcome = async (id: string): Promise<Outcome> =>
    (await found.get(id)?.promise) ?? { state: "failed", why: `there is no case ${id}` };
  return { outcome, done: work() };
}
