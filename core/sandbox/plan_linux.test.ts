import { expect, test } from "bun:test";
import fc from "fast-check";
import type { LinuxFacts } from "../contract/facts.ts";
import type { LinuxPlan, Property } from "../contract/plan.ts";
import { DEFAULT_SANDBOX_REQUEST, type SandboxRequest } from "../contract/sandbox_request.ts";
import { DEVELOPER, factsOf, surveyOf, WITHOUT_NAMESPACES } from "../testing/made_up_machine.ts";
import { planLinux } from "./plan_linux.ts";
import { buildPolicy } from "./policy.ts";

const command = { argv: ["make"], cwd: "/home/ada/app", env: {} };
const planOf = (request: Partial<SandboxRequest> = {}, facts: LinuxFacts = factsOf(), survey = DEVELOPER) =>
  planLinux(buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, ...request }, survey), facts, command);
const missingOf = (...args: Parameters<typeof planOf>) => {
  const plan = planOf(...args);
  return "missing" in plan ? plan.missing.map(({ property }) => property) : [];
};
function mustPlan(...args: Parameters<typeof planOf>): LinuxPlan {
  const plan = planOf(...args);
  if ("missing" in plan) throw new Error(JSON.stringify(plan.missing));
  return plan;
}

/** All properties; the compiler refuses a table in which one is missing. */
const PROPERTIES = Object.keys({
  "fs.write_confined": 1,
  "fs.read_confined": 1,
  "fs.read_hidden": 1,
  "fs.protected": 1,
  "net.blocked": 1,
  "net.loopback": 1,
  "proc.isolated": 1,
  "env.scrubbed": 1,
  "keyring.blocked": 1,
  "syscalls.filtered": 1,
  limits: 1,
} satisfies Record<Property, 1>) as Property[];

test("F2 the tier is the strongest that the machine gives", () => {
  expect(mustPlan().tier).toBe("namespaces");
  expect(mustPlan({}, factsOf({ namespaces: { user: false, withoutUser: true, procMount: true } })).tier).toBe(
    "namespaces",
  );
  expect(mustPlan({}, factsOf({ namespaces: { user: true, withoutUser: false, procMount: false } })).tier).toBe(
    "landlock",
  );
  expect(mustPlan({}, WITHOUT_NAMESPACES).tier).toBe("landlock");
});

test("F2 a must that the machine can't give is missing by name, with why and what helps; nothing runs", () => {
  const none = factsOf({ namespaces: WITHOUT_NAMESPACES.namespaces, landlockAbi: 0 });
  expect(missingOf({}, none)).toEqual([
    "fs.write_confined",
    "fs.read_confined",
    "net.blocked",
    "keyring.blocked",
    "syscalls.filtered",
  ]);
  expect(missingOf({}, factsOf({ seccompFilter: false })).length).toBeGreaterThan(0);
  const plan = planOf({ require: ["proc.isolated"] }, WITHOUT_NAMESPACES);
  expect(plan).toEqual({
    missing: [
      { property: "proc.isolated", why: expect.stringContaining("namespace"), help: expect.stringContaining("doctor") },
    ],
  });
});

test("F2 a demand that is not built is refused where it is must, on every tier; the same call without it runs", () => {
  expect(missingOf({ require: ["limits"] })).toEqual(["limits"]);
  expect(missingOf({}, factsOf())).toEqual([]);
});

test("F2 Landlock alone can't hide or protect inside a folder that is open, and says so only when it is demanded", () => {
  const alone = { ...WITHOUT_NAMESPACES, userNotification: false };
  expect(missingOf({}, alone)).toEqual([]);
  expect(missingOf({ require: ["fs.read_hidden"] }, alone)).toEqual(["fs.read_hidden"]);
  expect(missingOf({ require: ["fs.protected"] }, alone)).toEqual(["fs.protected"]);
  expect(missingOf({ denyWrite: ["/home/ada/app/.envrc"] }, alone)).toEqual(["fs.protected"]);
  const bare = surveyOf(["/usr/", "/home/ada/app/", "/home/ada/.ssh/"]);
  expect(missingOf({ require: ["fs.read_hidden"] }, alone, bare)).toEqual([]);
});

test("F2 before ABI 3 writing is confined with a broker, which truncates by opening; without one it is missing by name", () => {
  const old = { ...WITHOUT_NAMESPACES, landlockAbi: 2 };
  const broker = mustPlan({}, old).ops.find(({ op }) => op === "broker");
  expect(broker).toMatchObject({ level: "must", gives: expect.arrayContaining(["fs.write_confined"]) });
  expect(missingOf({}, { ...old, userNotification: false })).toEqual(["fs.write_confined"]);
  expect(missingOf({}, { ...old, userNotification: false, landlockAbi: 3 })).toEqual([]);
});

test("F2 a limit that nothing holds is refused, one that is held weakly is demanded only by name", () => {
  const held = (memory: "cgroup2" | "rlimit" | "none") =>
    factsOf({ limits: { memory, processes: "rlimit", cpu: "none" } });
  const limits = { memoryBytes: 1 << 30 };
  expect(missingOf({ limits }, held("none"))).toEqual(["limits"]);
  expect(missingOf({ limits }, held("rlimit"))).toEqual([]);
  expect(missingOf({ limits, require: ["limits"] }, held("rlimit"))).toEqual(["limits"]);
  expect(missingOf({ limits, require: ["limits"] }, held("cgroup2"))).toEqual([]);
  const op = (facts: LinuxFacts) => {
    const plan = planOf({ limits }, facts);
    return "missing" in plan ? undefined : plan.ops[0];
  };
  expect(op(held("cgroup2"))).toMatchObject({ op: "limits", memoryBytes: 1 << 30, level: "must", gives: ["limits"] });
  expect(op(held("rlimit"))).toMatchObject({ op: "limits", level: "best" });
});

test("F2 a demand for no network beside an open one is a contradiction and is refused, on both tiers", () => {
  for (const facts of [factsOf(), WITHOUT_NAMESPACES]) {
    expect(missingOf({ network: "open", require: ["net.blocked"] }, facts)).toEqual(["net.blocked"]);
    expect(missingOf({ network: "blocked", require: ["net.blocked"] }, facts)).toEqual([]);
  }
});

test("F2 without namespaces the loopback is the broker's: not without one, without copies of sockets, or under --deny-net", () => {
  const network = (asked: Partial<SandboxRequest>, machine: Partial<LinuxFacts> = {}) => {
    const { ops } = mustPlan(asked, { ...WITHOUT_NAMESPACES, ...machine });
    const seccomp = ops.find((op) => op.op === "seccomp");
    return [ops.some(({ op }) => op === "loopback"), seccomp?.op === "seccomp" && seccomp.network];
  };
  expect(network({})).toEqual([true, "loopback"]);
  expect(network({ network: "blocked" })).toEqual([false, "blocked"]);
  expect(network({}, { userNotification: false })).toEqual([false, "blocked"]);
  expect(network({}, { socketCopies: false })).toEqual([false, "blocked"]);
  expect(network({ network: "open" })).toEqual([false, "open"]);
  expect(missingOf({ require: ["net.loopback"] }, WITHOUT_NAMESPACES)).toEqual([]);
  expect(missingOf({ require: ["net.loopback"] }, { ...WITHOUT_NAMESPACES, socketCopies: false })).toEqual([
    "net.loopback",
  ]);
});

const request: fc.Arbitrary<Partial<SandboxRequest>> = fc.record({
  network: fc.constantFrom("policy", "open", "blocked"),
  require: fc.uniqueArray(fc.constantFrom(...PROPERTIES)),
  allowRead: fc.subarray(["/home/ada/.ssh", "/etc"]),
  allowWrite: fc.subarray(["/home/ada/app/.git/hooks", "/home/ada/.cargo/bin"]),
  denyRead: fc.subarray(["/home/ada/.ssh", "/home/ada/app"]),
  denyWrite: fc.subarray(["/home/ada/app", "/home/ada/app/.envrc"]),
});
const facts = fc
  .record({
    landlockAbi: fc.nat({ max: 7 }),
    namespaces: fc.record({ user: fc.boolean(), withoutUser: fc.boolean(), procMount: fc.boolean() }),
    seccompFilter: fc.boolean(),
    userNotification: fc.boolean(),
    mountSetattr: fc.boolean(),
  })
  .map((parts) => factsOf(parts));

test("F2 if a plan comes back, every must has a step that gives it and is must itself", () => {
  fc.assert(
    fc.property(request, facts, (asked, machine) => {
      const plan = planOf(asked, machine);
      if ("missing" in plan) return expect(plan.missing.length).toBeGreaterThan(0);
      for (const property of PROPERTIES.filter((one) => plan.asked[one] === "must")) {
        // The environment is scrubbed before the launcher starts; no step of the plan does it.
        if (property === "env.scrubbed") continue;
        const givers = plan.ops.filter(({ gives }) => gives.includes(property));
        expect([property, givers.length > 0 && givers.every(({ level }) => level === "must")]).toEqual([
          property,
          true,
        ]);
      }
    }),
    { numRuns: 1000 },
  );
});

test("F2 no plan leaves the network or writing open when the policy closes them, and none is without seccomp", () => {
  fc.assert(
    fc.property(request, facts, (asked, machine) => {
      const plan = planOf(asked, machine);
      if ("missing" in plan) return;
      const step = <K extends LinuxPlan["ops"][number]["op"]>(name: K) =>
        plan.ops.find((op): op is Extract<LinuxPlan["ops"][number], { op: K }> => op.op === name);
      expect(plan.ops.at(-1)?.op).toBe("seccomp");
      if (asked.network !== "open") {
        const shared = step("loopback") === undefined ? "blocked" : "loopback";
        expect(step("seccomp")?.network).toBe(plan.tier === "namespaces" ? "private" : shared);
        if (plan.tier === "namespaces") expect(step("namespaces")?.kinds).toContain("net");
      }
      expect(plan.tier === "namespaces" ? step("view") !== undefined : step("landlock")?.level === "must").toBe(true);
      const writable = [...(step("view")?.mounts ?? []), ...(step("landlock")?.rules ?? [])]
        .filter(({ access }) => access === "rw")
        .map(({ path }) => path);
      for (const path of ["/", "/home", "/home/ada", "/etc", "/usr", "/home/ada/.ssh"])
        expect(writable).not.toContain(path);
    }),
    { numRuns: 1000 },
  );
});

test("F2 the view lays each mount over an earlier one, and names no place inside a hidden folder", () => {
  fc.assert(
    fc.property(request, (asked) => {
      const plan = planOf({ ...asked, require: [] });
      if ("missing" in plan) return;
      const view = plan.ops.find((op) => op.op === "view");
      const mounts = view?.op === "view" ? view.mounts : [];
      for (const [at, mount] of mounts.entries()) {
        const later = mounts.slice(at + 1);
        if (mount.access === "ro" || mount.access === "rw")
          expect(
            later.some(({ path, access }) => (access === "ro" || access === "rw") && mount.path.startsWith(`${path}/`)),
          ).toBe(false);
        if (mount.access === "hidden_dir")
          expect(mounts.some(({ path }) => path.startsWith(`${mount.path}/`))).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});

test("D10 a hidden folder above the workspace hides nothing of it, and a secret in the workspace stays hidden", () => {
  const policy = buildPolicy(DEFAULT_SANDBOX_REQUEST, DEVELOPER);
  const secret = { path: "/home/ada/app/.env", folder: false, reason: "a test" };
  const above = { path: "/home/ada", folder: true, reason: "a test" };
  const plan = planLinux({ ...policy, hidden: [above, secret] }, factsOf(), command);
  if ("missing" in plan) throw new Error("no plan");
  const mounts = plan.ops.flatMap((op) => (op.op === "view" ? op.mounts : []));
  expect(mounts).toContainEqual({ path: "/home/ada/app/.env", access: "hidden_file" });
  expect(mounts.filter(({ path }) => path === "/home/ada")).toEqual([]);
});

test("E4 the folders above a workspace below /tmp are closed, and one right below /tmp has none above it", () => {
  const mountsFor = (workspace: string) => {
    const policy = { ...buildPolicy(DEFAULT_SANDBOX_REQUEST, DEVELOPER), write: [workspace], read: ["/usr"] };
    const plan = planLinux(policy, factsOf(), command);
    if ("missing" in plan) throw new Error("no plan");
    return plan.ops.flatMap((op) => (op.op === "view" ? op.mounts : []));
  };
  const deep = mountsFor("/tmp/one/two/app");
  const at = (mounts: typeof deep, path: string) => mounts.findIndex((mount) => mount.path === path);
  expect(deep[at(deep, "/tmp/one")]).toEqual({ path: "/tmp/one", access: "hidden_dir" });
  expect(at(deep, "/tmp")).toBeLessThan(at(deep, "/tmp/one"));
  expect(at(deep, "/tmp/one")).toBeLessThan(at(deep, "/tmp/one/two/app"));
  expect(mountsFor("/tmp/app").filter(({ access }) => access === "hidden_dir")).toEqual([]);
});

test("D1 what is named below /tmp is shown beside a root that is shown as a whole", () => {
  const survey = surveyOf(["/", "/home/ada/app/", "/var/tmp/x/", "/var/tmp/x/y/", "/etc/"]);
  const mountsFor = (asked: Partial<SandboxRequest>) => {
    const plan = planLinux(buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, ...asked }, survey), factsOf(), command);
    const view = "missing" in plan ? undefined : plan.ops.find((op) => op.op === "view");
    return view?.op === "view" ? view.mounts.map(({ path, access }) => `${access} ${path}`) : [];
  };
  const shown = mountsFor({ allowRead: ["/", "/var/tmp/x", "/var/tmp/x/y"] });
  expect(shown).toContain("ro /var/tmp/x");
  expect(shown.indexOf("ro /var/tmp/x")).toBeGreaterThan(shown.indexOf("tmpfs /var/tmp"));
  expect(shown).not.toContain("ro /var/tmp/x/y");
  expect(mountsFor({ allowRead: ["/"] }).filter((line) => line.includes("/var/tmp"))).toEqual(["tmpfs /var/tmp"]);
});
