/** The JSON mode's door: bytes in, lines out, no process and no descriptor. */
export {
  createServeSession,
  LINE_LIMIT_BYTES,
  PROTOCOL_VERSION,
  type ServeCore,
  type ServeSession,
} from "./session.ts";
export { createQuestionDesk, type QuestionDesk } from "./question_desk.ts";
export type { ServerLine } from "./server_line.ts";
