import type { CallPlan, LinuxPlan, Mount, PlanOp } from "@cordon/core/contract";
import { visibleText } from "./visible_text.ts";

/** A plan for people, as `--explain` prints it. Ends in a newline. */
export function renderPlan(plan: CallPlan): string {
  if (!plan.sandbox) return "The plan has no command.\n";
  const { command, asked, tier, ops } = plan.sandbox;
  const lines = [
    `command   ${command.argv.map(visibleText).join(" ")}`,
    `folder    ${visibleText(command.cwd)}`,
    `tier      ${tier}`,
    `variables ${Object.keys(command.env).map(visibleText).join(" ")}`,
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
      return [
        head,
        ...op.rules.map((rule) => `          ${rule.access.padEnd(11)} ${visibleText(rule.path)}`),
        ...op.scope.map((scope) => `          scope       ${scope}`),
      ];
    case "seccomp":
      return [`${head}: network ${op.network}`];
    case "limits":
    case "broker":
    case "loopback":
    case "privileges":
      return [head];
  }
}

function renderMount(mount: Mount): string {
  return `          ${mount.access.padEnd(11)} ${visibleText(mount.path)}${mount.target === undefined ? "" : ` -> ${visibleText(mount.target)}`}`;
}
