/** Peers that come from npm: sandbox-runtime (srt), landstrip and Codex. peers.ts puts them into a cache outside the clone. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FoundCell } from "../../support/tiers.ts";
import type { Case, Policy } from "../case.ts";
import { peersFolder } from "../peers.ts";
import type { Place } from "../place.ts";
import { type Adapter, BASICS, type Feature, type Launch, type ToolEvent } from "./adapter.ts";

type Peer = {
  id: string;
  program: string;
  can: Feature[];
  launch: (one: Case, place: Place, call: { program: string; argv: string[] }) => Launch;
  events?: (stderr: string) => ToolEvent[];
};

const SETTINGS = "peer/settings.json";

/** What each can be told, and how. Paths in policies are absolute, so no tool has to guess where they start. */
const PEERS: Record<"srt" | "landstrip" | "codex", Peer> = {
  srt: {
    id: "srt",
    program: "srt",
    can: [
      "write_deny",
      "read_deny",
      "missing_paths",
      "globs_for_reading",
      "trust_block",
      "env_hide",
      "env_pass",
      "signals",
      ...BASICS,
      "loopback",
      "private_loopback",
    ],
    launch: (one, place, { program, argv }) => ({
      argv: [program, "--settings", join(place.state, SETTINGS), "-c", argv.map(quoted).join(" ")],
      files: { [join(place.state, SETTINGS)]: JSON.stringify(srtSettings(one.policy ?? {}, place)) },
    }),
  },
  landstrip: {
    id: "landstrip",
    program: "landstrip",
    can: [
      "write_deny",
      "read_deny",
      "missing_paths",
      "globs_for_reading",
      "globs_for_writing",
      "network_open",
      "unix",
      "env_pass",
      "signals",
      ...BASICS,
      "events",
    ],
    launch: (one, place, { program, argv }) => ({
      argv: [program, "run", "-p", join(place.state, SETTINGS), "--", ...argv],
      files: { [join(place.state, SETTINGS)]: JSON.stringify(landstripPolicy(one.policy ?? {}, place)) },
    }),
    events: landstripEvents,
  },
  codex: {
    id: "codex",
    program: "codex",
    can: [
      "write_deny",
      "read_deny",
      "missing_paths",
      "globs_for_reading",
      "network_open",
      "trust_block",
      "env_pass",
      "signals",
      ...BASICS,
      "loopback",
      "private_loopback",
    ],
    launch: (one, place, { program, argv }) => ({
      argv: [program, "sandbox", "-P", "case", "--", ...argv],
      env: { CODEX_HOME: join(place.state, "peer") },
      files: { [join(place.state, "peer/config.toml")]: codexProfile(one.policy ?? {}, place) },
    }),
  },
};

/** The column of one of them. */
export function npmPeer(name: keyof typeof PEERS, cell: FoundCell): Adapter {
  const peer = PEERS[name];
  const program = join(peersFolder(), "node_modules/.bin", peer.program);
  return {
    id: peer.id,
    version: () => /\d+\.\d+\.\d+/.exec(Bun.spawnSync([program, "--version"]).stdout.toString())?.[0] ?? "",
    missing: existsSync(program) ? (cell.found ? null : cell.why) : "not installed: npm run conformance -- --install",
    uid: cell.found ? cell.uid : -1,
    wrap: cell.found ? cell.wrap : (argv) => argv,
    can: new Set(peer.can),
    launch: (one, place, argv) => peer.launch(one, place, { program, argv }),
    events: (_place, stderr) => peer.events?.(stderr) ?? [],
  };
}

function srtSettings(policy: Policy, { work }: Place): unknown {
  return {
    filesystem: {
      denyRead: policy.read_deny ?? [],
      allowWrite: policy.write ?? [work],
      denyWrite: policy.write_deny ?? [],
    },
    network: { allowedDomains: [], deniedDomains: [] },
    credentials: { envVars: (policy.env_hide ?? []).map((name) => ({ name, mode: "deny" })) },
  };
}

function landstripPolicy(policy: Policy, { work }: Place): unknown {
  return {
    filesystem: {
      denyRead: policy.read_deny ?? [],
      // Its manual tells to name the device; without it no program can discard output.
      allowWrite: [...(policy.write ?? [work]), "/dev/null"],
      denyWrite: policy.write_deny ?? [],
    },
    network: { allowNetwork: policy.network === "open", allowUnixSockets: policy.unix ?? [] },
  };
}

/** It writes one JSON object for each denial between the command's own lines. */
function landstripEvents(stderr: string): ToolEvent[] {
  return stderr.split("\n").flatMap((line): ToolEvent[] => {
    if (!line.startsWith('{"kind":')) return [];
    const { kind, operation, path, host, suggested_grant } = JSON.parse(line);
    const op = kind === "network" ? "connect" : String(operation);
    return [{ op, path, host, grant: suggested_grant === undefined ? "" : JSON.stringify(suggested_grant) }];
  });
}

function codexProfile(policy: Policy, { work }: Place): string {
  const entries: [string, string][] = [
    [":root", "read"],
    ...(policy.write ?? [work]).map((path): [string, string] => [path, "write"]),
    ...(policy.write_deny ?? []).map((path): [string, string] => [path, "read"]),
    ...(policy.read_deny ?? []).map((path): [string, string] => [path, "deny"]),
  ];
  return [
    'default_permissions = "case"',
    "[permissions.case.filesystem]",
    ...[...new Map(entries)].map(([path, access]) => `${JSON.stringify(path)} = "${access}"`),
    "[permissions.case.network]",
    `enabled = ${policy.network === "open"}`,
  ].join("\n");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
