import { type CordonCore, createCore, openSettings, requireNoHooks } from "@cordon/core";
import { type Settings, ToolFault } from "@cordon/core/contract";
import { createQuestionDesk, createServeSession, type ServeSession } from "@cordon/core/serve";
import type { Cli, Command } from "../command.ts";
import { EXIT } from "../exit_codes.ts";
import { parseBytes } from "../flag_values.ts";
import { emptyRulesDraft, readFlagsOnly, RULE_FLAGS, type RulesDraft } from "../flags.ts";
import { tellNotices } from "../ui/settings_notices.ts";
import { printHelp } from "../ui/help.ts";
import { createLineWriter, type LineWriter } from "../ui/line_writer.ts";
import { refuseLoss } from "../ui/write_fully.ts";
import { VERSION } from "../version.ts";

/** Beyond this much unread output, input is left unread: a client that does not listen is not served more. */
const MOST_UNREAD_BYTES = 1024 * 1024;

/** After a signal, the time that a client has to take the last lines. */
const FAREWELL_MS = 2_000;

/** What the flags set. */
type ServeDraft = RulesDraft & { indexBytes?: number };

/** `cordon serve`: the JSON mode. */
export const command: Command<ServeDraft> = {
  name: "serve",
  summary: "Take tool calls as JSON lines on stdin, answer on stdout",
  usage: "cordon serve [flags]",
  details: `One JSON object a line. The first line on stdout says what there is: {"type":"ready",…}.
  call        {"id":"1","tool":"bash","input":{"command":"ls"},"timeoutMs":5000,"stream":true}
  answer      {"type":"permission","id":"1","choice":"once"}  (or session, or deny with a reason)
  cancel      {"type":"cancel","id":"1"}
  no answers  {"type":"hello","answers":false}: what would ask is denied at once
  alive?      {"type":"ping"}
End of stdin lets running calls finish and ends background tasks, then the exit code is 0.`,
  flags: {
    ...RULE_FLAGS,
    "search-memory": {
      takes: "value",
      hint: "SIZE",
      help: "memory for what is remembered of searched folders, for example 1G; 0 is none (default 256M)",
      apply: (draft, value) => {
        draft.indexBytes = value === "0" ? 0 : parseBytes("search-memory", value ?? "");
      },
    },
  },
  examples: [[`echo '{"id":"1","tool":"bash","input":{"command":"ls"}}' | cordon serve`, "one call"]],
  run: async (args, cli) => {
    const draft: ServeDraft = emptyRulesDraft();
    readFlagsOnly(args, draft, { command, cli, instead: "calls are sent on stdin" });
    if (draft.help) return printHelp(command);
    return serve(draft, cli);
  },
};

async function serve(draft: ServeDraft, cli: Cli): Promise<number> {
  const writer = createLineWriter();
  try {
    const settings = await openSettings({ world: cli.world, profile: draft.profile });
    await tellNotices(cli, settings, ["rules", "mode", "sandbox", "hooks"]);
    requireNoHooks(settings);
    return await converse(writer, { draft, cli, settings });
  } catch (error) {
    // A client that reads lines hears it as one; a person reads stderr.
    if (error instanceof ToolFault) {
      const { code, message, hint } = error;
      writer.send({ type: "error", error: { code, message, hint: hint ?? "" } });
      await writer.flush();
    }
    throw error;
  }
}

type Started = { draft: ServeDraft; cli: Cli; settings: Settings };

async function converse(writer: LineWriter, { draft, cli, settings }: Started): Promise<number> {
  const desk = createQuestionDesk(writer.send);
  const core = createCore({
    world: cli.world,
    settings,
    rules: draft.rules,
    asker: desk.asker,
    background: "allowed",
    ...(draft.mode ? { mode: draft.mode } : {}),
    ...(draft.indexBytes === undefined ? {} : { indexBytes: draft.indexBytes }),
  });
  // A rule that can't be used stops the start, before a client believes that it holds.
  const lists = [...Object.values(draft.rules), ...Object.values(settings.rules)];
  if (lists.some((rules) => rules.length > 0)) await core.checkRules();
  const tools = await core.tools();
  const session = createServeSession({
    core: { ...core, tools: () => tools, concurrencySafe: expected(core) },
    desk,
    send: writer.send,
    unsentBytes: writer.unreadBytes,
    now: Date.now,
    version: VERSION,
  });
  void core.warmUp();
  const stopped = Promise.withResolvers<"stopped">();
  cli.onSignal(["SIGINT", "SIGTERM", "SIGHUP"], () => stopped.resolve("stopped"));
  const end = await Promise.race([readAll(session, writer), writer.closed, stopped.promise]);
  if (end !== "ended") await session.abort();
  await core.close();
  // A client that reads no more must not keep alive what was told to end.
  await Promise.race([writer.flush(), stopped.promise.then(() => Bun.sleep(FAREWELL_MS))]);
  refuseLoss(writer.lost());
  return EXIT.ok;
}

/** What is asked first of a call that came in. */
function expected({ expect, concurrencySafe }: CordonCore): CordonCore["concurrencySafe"] {
  return (request) => {
    void expect(request.tool);
    return concurrencySafe(request);
  };
}

async function readAll(session: ServeSession, writer: LineWriter): Promise<"ended"> {
  for await (const chunk of Bun.stdin.stream()) {
    session.push(chunk);
    if (writer.unreadBytes() > MOST_UNREAD_BYTES) await writer.flush();
  }
  await session.end();
  return "ended";
}
