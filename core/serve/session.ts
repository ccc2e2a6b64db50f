import { failureOf } from "../contract/refuse.ts";
import type { ToolDescription, ToolRequest } from "../contract/request.ts";
import type { ToolResult } from "../contract/result.ts";
import { type CallQueue, createCallQueue, type Lane } from "./call_queue.ts";
import { createLineFramer, type Frame } from "./frame_lines.ts";
import type { QuestionDesk } from "./question_desk.ts";
import { type CallMessage, type ClientMessage, readMessage } from "./read_message.ts";
import { createOutputStream } from "./stream_output.ts";
import type { ProtocolError, ServedResult, ServerLine } from "./server_line.ts";

/** The version of the protocol, as the `ready` line says. */
export const PROTOCOL_VERSION = 1;

/** The longest line a client may send, without its end. */
export const LINE_LIMIT_BYTES = 16 * 1024 * 1024;

/** Calls that change nothing and run at once; each may hold files and workers. */
const MOST_BESIDE = 16;

/** The part of the core that a session needs. */
export type ServeCore = {
  dispatch: (request: ToolRequest) => Promise<ToolResult>;
  concurrencySafe: (request: ToolRequest) => Promise<boolean>;
  tools: () => ToolDescription[];
};

/** What the session is made of. `now` is milliseconds since the epoch, `unsentBytes` what was sent and not taken yet. */
export type SessionParts = {
  core: ServeCore;
  desk: QuestionDesk;
  send: (line: ServerLine) => void;
  unsentBytes: () => number;
  now: () => number;
  version: string;
};

/** One conversation. No method throws or rejects; what goes wrong is a line to the client. */
export type ServeSession = {
  push: (chunk: Uint8Array) => void;
  /** The client has said all: pending questions are denied, running calls finish. Resolves when the last has. */
  end: () => Promise<void>;
  /** The client can't be told anything more: cancels every call. Resolves when the last has ended. */
  abort: () => Promise<void>;
};

type Running = { controller: AbortController; ended: Promise<void> };

/** Starts a conversation; sends `ready` before it returns. */
export function createServeSession(parts: SessionParts): ServeSession {
  const { core, desk, send } = parts;
  const framer = createLineFramer(LINE_LIMIT_BYTES);
  const running = new Map<string, Running>();
  const queue = createCallQueue(MOST_BESIDE);
  const start = (call: CallMessage) => {
    const controller = new AbortController();
    const ended = serveCall(call, { ...parts, signal: controller.signal, queue }).then((result) => {
      // Forgotten before the line is written: a client that has read the result may use the id again.
      running.delete(call.id);
      send({ id: call.id, type: "result", ...result });
    });
    running.set(call.id, { controller, ended });
  };
  const take = (frame: Frame) => {
    if (frame.kind !== "line") return send({ type: "error", error: FRAME_ERRORS[frame.kind] });
    const read = readMessage(frame.text);
    if (!read.ok) return send({ type: "error", ...(read.id === undefined ? {} : { id: read.id }), error: read.error });
    obey(read.message, { running, start, desk, send });
  };
  const finished = async () => {
    while (running.size > 0) await Promise.all([...running.values()].map((call) => call.ended));
  };
  send({ type: "ready", version: parts.version, protocol: PROTOCOL_VERSION, tools: core.tools() });
  return {
    push: (chunk) => framer.push(chunk).forEach(take),
    end: async () => {
      framer.end().forEach(take);
      desk.close();
      await finished();
    },
    abort: async () => {
      desk.close();
      for (const call of running.values()) call.controller.abort();
      await finished();
    },
  };
}

const FRAME_ERRORS = {
  too_long: {
    code: "serve.too_long",
    message: `The line is longer than ${LINE_LIMIT_BYTES} bytes; it was skipped`,
    hint: "send large content as a file and its path",
  },
  bad_utf8: { code: "serve.bad_utf8", message: "The line is not UTF-8; it was skipped", hint: "send JSON as UTF-8" },
} as const satisfies Record<Exclude<Frame["kind"], "line">, ProtocolError>;

type Conversation = {
  running: Map<string, Running>;
  start: (call: CallMessage) => void;
  desk: QuestionDesk;
  send: (line: ServerLine) => void;
};

function obey(message: ClientMessage, { running, start, desk, send }: Conversation): void {
  switch (message.type) {
    case "call":
      if (running.has(message.call.id)) send(duplicateId(message.call.id));
      else start(message.call);
      break;
    case "permission": {
      const taken = desk.answer(message.id, message.answer);
      if (taken === "unknown") send(unknownId(message.id, "No question with this id waits for an answer"));
      else if (taken !== "taken") send(unfitAnswer(message.id, taken.unfit));
      break;
    }
    case "cancel": {
      const call = running.get(message.id);
      if (call) call.controller.abort();
      else send(unknownId(message.id, "No call with this id is running"));
      break;
    }
    case "hello":
      desk.setAnswers(message.answers ? "given" : "refused");
      break;
    case "ping":
      send({ type: "pong" });
  }
}

function duplicateId(id: string): ServerLine {
  return {
    type: "error",
    id,
    error: {
      code: "serve.duplicate_id",
      message: "A call with this id is still running",
      hint: "the new call was not started; use another id",
    },
  };
}

function unknownId(id: string, message: string): ServerLine {
  return { type: "error", id, error: { code: "serve.unknown_id", message, hint: "it may have ended already" } };
}

function unfitAnswer(id: string, message: string): ServerLine {
  const hint = "the question still waits; answer with what its line offers";
  return { type: "error", id, error: { code: "serve.bad_message", message, hint } };
}

type CallParts = SessionParts & { signal: AbortSignal; queue: CallQueue };

async function serveCall(call: CallMessage, parts: CallParts): Promise<ServedResult> {
  const { core, send, now, signal } = parts;
  const { id, stream, ...asked } = call;
  const output = createOutputStream(id, parts);
  const request: ToolRequest = {
    id,
    door: "serve",
    ...asked,
    signal,
    ...(stream ? { onOutput: output.listener } : {}),
  };
  const cancelledEarly = Promise.withResolvers<ServedResult>();
  const cancelEarly = () => cancelledEarly.resolve(CANCELLED);
  signal.addEventListener("abort", cancelEarly);
  const lane = core.concurrencySafe(request).then((safe): Lane => (safe ? "beside" : "alone"));
  const turn = parts.queue.run(lane, async () => {
    if (signal.aborted) return CANCELLED;
    signal.removeEventListener("abort", cancelEarly);
    send({ id, type: "started", at: now() });
    return core.dispatch(request);
  });
  try {
    return await Promise.race([turn, cancelledEarly.promise]);
  } catch (error) {
    return { ok: false, error: failureOf(error, "validate") };
  } finally {
    output.finish();
  }
}

const CANCELLED: ServedResult = {
  ok: false,
  error: { code: "tool.cancelled", message: "The call was cancelled before it started", at: "validate" },
};
