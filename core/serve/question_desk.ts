import { answerFault, type Asker, type PermissionAnswer, type PermissionQuestion } from "../contract/asking.ts";
import type { ServerLine } from "./server_line.ts";

/** Where questions of running calls wait for the client's answers. Made before the core, which gets its `asker`. */
export type QuestionDesk = {
  asker: Asker;
  /** "unknown" when no question with this id waits; an answer that does not fit is a sentence why, and the question waits on. */
  answer: (id: string, answer: PermissionAnswer) => "taken" | "unknown" | { unfit: string };
  /** "refused" denies what waits, and nothing can be asked until the client says otherwise. */
  setAnswers: (state: "given" | "refused") => void;
  /** No answer can come any more: denies what waits, for good. */
  close: () => void;
};

/** `send` writes one line to the client. */
export function createQuestionDesk(send: (line: ServerLine) => void): QuestionDesk {
  const waiting = new Map<string, { question: PermissionQuestion; resolve: (answer: PermissionAnswer) => void }>();
  let state: "given" | "refused" | "closed" = "given";
  const denyAll = (reason: string) => {
    for (const { resolve } of [...waiting.values()]) resolve({ choice: "deny", reason });
  };
  const ask = (question: PermissionQuestion, signal: AbortSignal) =>
    new Promise<PermissionAnswer>((done) => {
      const { id, choices, ...request } = question;
      const resolve = (answer: PermissionAnswer) => {
        waiting.delete(id);
        signal.removeEventListener("abort", cancel);
        done(answer);
      };
      const cancel = () => resolve({ choice: "deny", reason: "the call was cancelled" });
      if (signal.aborted) return done({ choice: "deny", reason: "the call was cancelled" });
      if (state !== "given") return done({ choice: "deny", reason: "the client does not answer questions" });
      waiting.set(id, { question, resolve });
      signal.addEventListener("abort", cancel);
      send({ id, type: "permission", request, choices });
    });
  return {
    asker: { canAsk: () => state === "given", ask },
    answer: (id, answer) => {
      const asked = waiting.get(id);
      if (!asked) return "unknown";
      const unfit = answerFault(answer, asked.question);
      if (unfit !== undefined) return { unfit };
      asked.resolve(answer);
      return "taken";
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
