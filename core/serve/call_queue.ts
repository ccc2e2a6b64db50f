/** How a call may run: "alone" ones run one behind the other in order of arrival; "beside" ones need not wait for anything. */
export type Lane = "alone" | "beside";

/** Starts work in its lane; the promise settles as the work does. Calls enter their lanes in the order of `run`. */
export type CallQueue = { run: <T>(lane: Promise<Lane>, work: () => Promise<T>) => Promise<T> };

/** `mostBeside` bounds how many "beside" calls run at once; the others wait in order of arrival. */
export function createCallQueue(mostBeside: number): CallQueue {
  const slots = createSlots(mostBeside);
  let lastAlone: Promise<unknown> = Promise.resolve();
  let lastEntered: Promise<unknown> = Promise.resolve();
  const enter = <T>(lane: Lane, work: () => Promise<T>): Promise<T> => {
    if (lane === "beside") return slots.take().then(work).finally(slots.give);
    const turn = lastAlone.then(work);
    lastAlone = turn.catch(() => {});
    return turn;
  };
  return {
    run: (lane, work) => {
      // In an object, because a promise of a promise would wait for the work and hold up those behind it.
      const entered = Promise.all([lane, lastEntered]).then(([known]) => ({ done: enter(known, work) }));
      lastEntered = entered.catch(() => {});
      return entered.then(({ done }) => done);
    },
  };
}

function createSlots(count: number): { take: () => Promise<void>; give: () => void } {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    take: () =>
      new Promise((resolve) => {
        if (free === 0) return void waiting.push(resolve);
        free--;
        resolve();
      }),
    give: () => {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
  };
}
