import { expect, test } from "bun:test";
import type { LinuxFacts } from "../contract/facts.ts";
import { factsOf, WITHOUT_NAMESPACES } from "../testing/made_up_machine.ts";
import { missingParts } from "./machine_help.ts";

const NEW = { landlockAbi: 7 };
const parts = (changes: Partial<LinuxFacts>) => missingParts(factsOf({ ...NEW, ...changes }), "/opt/cordon-launcher");
const refused = (changes: Partial<LinuxFacts>) => parts({ namespaces: WITHOUT_NAMESPACES.namespaces, ...changes });
const help = (changes: Partial<LinuxFacts>) =>
  refused(changes)
    .flatMap((part) => part.help)
    .join("\n");

test("A18 a machine that has everything lacks nothing", () => {
  expect(parts({})).toEqual([]);
});

test.each([
  ["Debian's switch", { sysctls: { unprivilegedUsernsClone: 0 } }, "kernel.unprivileged_userns_clone=1"],
  ["no user namespaces at all", { sysctls: { maxUserNamespaces: 0 } }, "user.max_user_namespaces="],
  ["Ubuntu's AppArmor", { sysctls: { apparmorRestrictUnprivilegedUserns: 1 } }, "profile cordon /opt/cordon-launcher"],
  [
    "a container",
    { container: [{ kind: "file" as const, found: "/.dockerenv" }] },
    "--security-opt seccomp=unconfined",
  ],
  ["a service of systemd", { filtered: true }, "RestrictNamespaces=no"],
  ["nothing that is known", {}, "CONFIG_USER_NS"],
])("A18 where namespaces are refused by %s, the setting that helps is named", (_, changes, named) => {
  expect(help(changes)).toContain(named);
  expect(refused(changes)[0]).toMatchObject({ part: "namespaces", why: expect.stringContaining("EPERM") });
});

test("A18 a covered /proc is told from refused namespaces", () => {
  const covered = { user: true, withoutUser: false, procMount: false, procErrno: "EPERM" };
  const container = [{ kind: "file" as const, found: "/.dockerenv" }];
  const [part] = parts({ namespaces: covered, container });
  expect(part?.part).toContain("/proc");
  expect(part?.help.join()).toContain("systempaths=unconfined");
});

test("A18 Landlock that is not switched on names the boot parameter, an old one says what is lost", () => {
  const [off] = parts({ landlockAbi: 0, lsm: "lockdown,yama,apparmor" });
  expect(off?.help.join()).toContain("lsm=landlock,lockdown,yama,apparmor");
  expect(parts({ landlockAbi: 0, kernel: "5.10.0" })[0]?.why).toContain("5.10.0");
  expect(parts({ landlockAbi: 2 })[0]?.why).toContain("truncate");
  expect(parts({ landlockAbi: 6 })).toEqual([]);
});

test("A18 without a broker the reason is told: Yama, another sandbox, or the kernel", () => {
  expect(parts({ sysctls: { yamaPtraceScope: 2 } })[0]?.help).toEqual(["sudo sysctl kernel.yama.ptrace_scope=1"]);
  expect(parts({ sysctls: { yamaPtraceScope: 1 } })).toEqual([]);
  expect(parts({ userNotification: false, filtered: true })[0]?.why).toContain("outer sandbox");
  expect(parts({ userNotification: false })[0]?.help.join()).toContain("5.0");
});
