import type { CallPlan, LandlockRule, Limits, LinuxPlan, Mount, PlanOp } from "@cordon/core/contract";
import { renderGuard } from "./render_guard.ts";
import { visibleText } from "./visible_text.ts";

const UNSEEN =
  "secrets   the workspace has more folders than are looked through: files named like secrets deeper down can be read, " +
  "unless --deny-read='**/.env' closes them";

/** A plan for people, as `--explain` prints it. Ends in a newline. */
export function renderPlan(plan: CallPlan): string {
  if (!plan.sandbox) return "The plan has no command.\n";
  const { command, asked, tier, ops } = plan.sandbox;
  const lines = [
    `command   ${command.argv.map(visibleText).join(" ")}`,
    `folder    ${visibleText(command.cwd)}`,
    `tier      ${tier}`,
    `variables ${Object.keys(command.env).map(visibleText).join(" ")}`,
    ...(plan.rules?.secretsUnseen === true ? [UNSEEN] : []),
    "asked",
    ...renderAsked(asked),
    "steps",
    ...ops.flatMap(renderOp),
  ];
  return `${lines.join("\n")}\n`;
}

function renderAsked(asked: LinuxPlan["asked"]): string[] {
  return Object.entries(asked).map(([property, level]) => `  ${level.padEnd(4)}  ${property}`);
}

function renderOp(op: PlanOp): string[] {
  const head = `  ${op.level.padEnd(4)}  ${op.op}`;
  switch (op.op) {
    case "namespaces":
      return [`${head}: ${op.kinds.join(", ")}`];
    case "view":
      return [head, ...op.mounts.map(renderMount)];
    case "private_tmp":
      return [`${head}: ${op.at}`];
    case "landlock":
      return [head, ...op.rules.flatMap(renderRule), ...op.scope.map((scope) => `          scope       ${scope}`)];
    case "seccomp":
      return [`${head}: network ${op.network}`];
    case "limits":
      return [`${head}: ${renderLimits(op)}`];
    case "broker":
      return [head, ...renderGuard(op.guard)];
    case "loopback":
    case "privileges":
      return [head];
  }
}

function renderRule({ access, path, except }: LandlockRule): string[] {
  const closed = (except ?? []).map((inner) => `            but not ${visibleText(inner)}`);
  return [`          ${access.padEnd(11)} ${visibleText(path)}`, ...closed];
}

function renderLimits({ memoryBytes, processes, cpuPercent, fileBytes }: Limits): string {
  const parts = [
    ...(memoryBytes === undefined ? [] : [`memory ${memoryBytes} bytes`]),
    ...(processes === undefined ? [] : [`${processes} processes`]),
    ...(cpuPercent === undefined ? [] : [`cpu ${cpuPercent}%`]),
    ...(fileBytes === undefined ? [] : [`files of ${fileBytes} bytes`]),
  ];
  return parts.join(", ");
}

function renderMount(mount: Mount): string {
  return `          ${mount.access.padEnd(11)} ${visibleText(mount.path)}${mount.target === undefined ? "" : ` -> ${visibleText(mount.target)}`}`;
}
