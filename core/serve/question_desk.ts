import { type Asker, PERMISSION_CHOICES, type PermissionAnswer, type PermissionQuestion } from "../contract/asking.ts";
import type { ServerLine } from "./server_line.ts";

/** Where questions of running calls wait for the client's answers. Made before the core, which gets its `asker`. */
export type QuestionDesk = {
  asker: Asker;
  /** False when no question with this id waits. */
  answer: (id: string, answer: PermissionAnswer) => boolean;
  /** "refused" denies what waits, and nothing can be asked until the client says otherwise. */
  setAnswers: (state: "given" | "refused") => void;
  /** No answer can come any more: denies what waits, for good. */
  close: () => void;
};

/** `send` writes one line to the client. */
export function createQuestionDesk(send: (line: ServerLine) => void): QuestionDesk {
  const waiting = new Map<string, (answer: PermissionAnswer) => void>();
  let state: "given" | "refused" | "closed" = "given";
  const denyAll = (reason: string) => {
    for (const resolve of [...waiting.values()]) resolve({ choice: "deny", reason });
  };
  const ask = (question: PermissionQuestion, signal: AbortSignal) =>
    new Promise<PermissionAnswer>((done) => {
      const { id, ...request } = question;
      const resolve = (answer: PermissionAnswer) => {
        waiting.delete(id);
        signal.removeEventListener("abort", cancel);
        done(answer);
      };
      const cancel = () => resolve({ choice: "deny", reason: "the call was cancelled" });
      if (signal.aborted) return done({ choice: "deny", reason: "the call was cancelled" });
      if (state !== "given") return done({ choice: "deny", reason: "the client does not answer questions" });
      waiting.set(id, resolve);
      signal.addEventListener("abort", cancel);
      send({ id, type: "permission", request, choices: PERMISSION_CHOICES });
    });
  return {
    asker: { canAsk: () => state === "given", ask },
    answer: (id, answer) => {
      const resolve = waiting.get(id);
      resolve?.(answer);
      return resolve !== undefined;
    },
    setAnswers: (next) => {
      if (state !== "closed") state = next;
      if (state === "refused") denyAll("the client does not answer questions");
    },
    close: () => {
      state = "closed";
      denyAll("the client is gone");
    },
  };
}
