import type { Denial } from "../contract/denial.ts";
import type { ObservedDenial } from "../contract/enforced.ts";
import type { LinuxPlan } from "../contract/plan.ts";
import { OWN_STATE } from "../config/protected_paths.ts";
import { isWithin } from "../config/path_order.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";

/**
 * Turns a refusal that the kernel's side saw into an event with its reason and the smallest flag that would have allowed it.
 * `policy` is the one that the command ran under; `at` is milliseconds since the epoch; `existing` gives the nearest path that
 * exists, since only what exists can be allowed.
 */
export function explainDenial(
  seen: ObservedDenial,
  policy: SandboxPolicy,
  { at, existing }: { at: number; existing: (path: string) => string },
): Denial {
  const base = {
    at,
    op: seen.op,
    syscall: seen.syscall,
    pid: seen.pid,
    rule: seen.rule,
    ...(seen.exe ? { exe: seen.exe } : {}),
  };
  if (seen.reason !== undefined) return { ...base, ...explained(seen), reason: seen.reason };
  if (seen.op === "connect") return { ...base, ...connection(seen) };
  return { ...base, ...touching(seen, policy, existing) };
}

/** What the launcher has explained already: a rule of its broker, or a limit. A flag that ends in "=" is for the path. */
function explained(seen: ObservedDenial): Pick<Denial, "path" | "host" | "grant"> {
  const { path, grant } = seen;
  const host = hostOf(seen);
  const whole = grant?.endsWith("=") && path !== undefined ? flag(grant.slice(0, -1), path) : grant;
  return {
    ...(path === undefined ? {} : { path }),
    ...(host === undefined ? {} : { host }),
    ...(whole === undefined ? {} : { grant: whole }),
  };
}

function connection(seen: ObservedDenial): { host?: string; path?: string; reason: string; grant?: string } {
  if (seen.path) {
    return { path: seen.path, reason: "sockets of the host are closed", grant: flag("--allow-unix", seen.path) };
  }
  const host = hostOf(seen) ?? "the network";
  const reason = isLoopback(seen.host)
    ? "the host's loopback is not the command's, and nothing listens there on its own"
    : "the network is blocked";
  return { host, reason, grant: "--allow-net" };
}

/** The host with its port, as a person writes them. */
function hostOf({ host, port }: ObservedDenial): string | undefined {
  const named = host?.includes(":") ? `[${host}]` : host;
  return named === undefined || port === undefined ? named : `${named}:${port}`;
}

function isLoopback(host: string | undefined): boolean {
  return host !== undefined && (host === "::1" || host.startsWith("127.") || host.startsWith("::ffff:127."));
}

function touching(
  seen: ObservedDenial,
  policy: SandboxPolicy,
  existing: (path: string) => string,
): { path: string; reason: string; grant?: string } {
  const path = seen.path ?? "an unknown path";
  const write = seen.op === "write";
  const guarded = write ? policy.protected.find((rule) => isWithin(path, rule.path)) : undefined;
  if (guarded) {
    // What a flag closed no other flag opens: a person has to take the flag back.
    const grant = guarded.asked ? {} : { grant: flag("--allow-write", guarded.path) };
    return { path, reason: `protected: ${guarded.reason}`, ...grant };
  }
  const secret = policy.hidden.find((rule) => isWithin(path, rule.path));
  if (secret) {
    const grant = write || secret.asked ? {} : { grant: flag("--allow-read", path) };
    return { path, reason: `hidden: ${secret.reason}`, ...grant };
  }
  const [name, verb] = write ? ["--allow-write", "write"] : ["--allow-read", seen.op === "exec" ? "run" : "read"];
  return { path, reason: `outside what the command may ${verb}`, grant: flag(name, existing(path)) };
}

function flag(name: string, path: string): string {
  const value = `${name}=${path}`;
  return /^[A-Za-z0-9_@%+=:,./~-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/**
 * Reads are not looked at unless the plan needs it, so that opening files costs nothing. When a command failed and nothing else
 * was blocked, the secrets that it may have missed are named as a possible cause, and called a guess.
 */
export function guessHiddenRead(policy: SandboxPolicy, plan: LinuxPlan, at: number): Denial | null {
  if (plan.ops.some((op) => op.op === "broker" && op.guard.reads)) return null;
  // Files of the system's own administration are closed to ordinary users anyway; naming them would drown the others.
  const secrets = policy.hidden.filter(({ path, reason }) => !/^\/(etc|run|sys)\//.test(path) && reason !== OWN_STATE);
  if (secrets.length === 0) return null;
  const paths = secrets.map(({ path, asked, reason }) => (asked ? `${path} (${reason})` : path));
  const reason = `if it tried to read one of these, they are hidden here: ${paths.join(", ")}`;
  // No flag opens what a person closed.
  const grant = secrets.every(({ asked }) => asked) ? {} : { grant: "--allow-read=PATH" };
  return { at, op: "read", rule: "fs.read_hidden", reason, ...grant, guess: true };
}
