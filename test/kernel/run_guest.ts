/**
 * Boots an older kernel, with less Landlock than today's, in qemu without hardware help, and runs the core cases there.
 * `npm run kernels`; where a program or the kernel's package is missing it says which, and that is no failure.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheFolder } from "../../cli/build/cache.ts";
import type { Tally } from "../../cli/build/check_tests.ts";
import { runTool, tryTool } from "../../cli/build/run_tool.ts";
import { makeImage } from "./guest_image.ts";

/** Debian 12's kernel: Landlock ABI 2, which has no right to truncate, no TCP, no ioctl and no scopes. */
const SERIES = "6.1";

const PACKAGE = new RegExp(`^linux-image-${SERIES.replace(".", "\\.")}\\.0-\\d+-amd64$`);

/** Emulation takes two minutes on an idle machine. */
const BOOT_LIMIT_MS = 20 * 60_000;

/** Programs that this takes, and Debian's package of each. */
const NEEDED = { "qemu-system-x86_64": "qemu-system-x86", busybox: "busybox-static", gcc: "gcc", "dpkg-deb": "dpkg" };

/** Runs the cases in the guest; a machine that can't is told as skipped. */
export async function runGuest(): Promise<Tally> {
  const name = `kernel ${SERIES}`;
  const nothing = { name, passed: 0, failed: 0, skipped: [], output: "" };
  const missing = Object.entries(NEEDED).filter(([program]) => Bun.which(program) === null);
  if (process.arch !== "x64") return { ...nothing, skipped: ["the guest is for x86-64 only"] };
  if (missing.length > 0) {
    const packages = missing.map(([, debian]) => debian).join(" ");
    return { ...nothing, skipped: [`${missing.map(([program]) => program).join(", ")} missing (Debian: ${packages})`] };
  }
  const kernel = await findKernel();
  if (kernel === undefined) return { ...nothing, skipped: [`no package of a ${SERIES} kernel can be had here`] };
  const folder = mkdtempSync(join(tmpdir(), "cordon-guest-"));
  try {
    return count(name, await boot(kernel, await makeImage(folder)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The kernel from the cache, or from Debian's package. */
async function findKernel(): Promise<string | undefined> {
  const cache = join(cacheFolder(), "kernels");
  const cached = () =>
    (existsSync(cache) ? readdirSync(cache) : []).find((name) => name.startsWith(`vmlinuz-${SERIES}.`));
  const found = cached();
  if (found !== undefined) return join(cache, found);
  const listed = await tryTool({ what: "apt-cache", argv: ["apt-cache", "pkgnames", `linux-image-${SERIES}.`] });
  const names = listed.output.split("\n").filter((name) => PACKAGE.test(name));
  const newest = names.sort((one, other) => one.localeCompare(other, "en", { numeric: true })).at(-1);
  if (newest === undefined) return undefined;
  mkdirSync(cache, { recursive: true });
  const got = await tryTool({ what: "apt-get download", argv: ["apt-get", "download", "-q", newest], cwd: cache });
  const file = readdirSync(cache).find((name) => name.startsWith(`${newest}_`));
  if (got.exitCode !== 0 || file === undefined) return undefined;
  const unpack = 'dpkg-deb --fsys-tarfile "$1" | tar -x --strip-components=2 --wildcards "./boot/vmlinuz-*" && rm "$1"';
  await runTool({ what: "dpkg-deb", argv: ["sh", "-c", unpack, "sh", file], cwd: cache });
  const taken = cached();
  return taken === undefined ? undefined : join(cache, taken);
}

/** Gives what came out of the serial console. */
async function boot(kernel: string, image: string): Promise<string> {
  const machine = ["-accel", "tcg,thread=multi", "-cpu", "max", "-m", "2048", "-smp", "2"];
  const bare = ["-display", "none", "-nodefaults", "-no-reboot", "-serial", "stdio"];
  const start = ["-kernel", kernel, "-initrd", image, "-append", "console=ttyS0 quiet panic=-1 rdinit=/init"];
  const end = await tryTool({
    what: "qemu",
    argv: ["qemu-system-x86_64", ...machine, ...bare, ...start],
    timeoutMs: BOOT_LIMIT_MS,
  });
  return end.output.replaceAll("\r", "");
}

/** Counts lines of TAP. A guest that stopped early has no plan line, and that is a failure. */
function count(name: string, output: string): Tally {
  const lines = output.split("\n");
  const passed = lines.filter((line) => line.startsWith("ok ")).length;
  const failed = lines.filter((line) => line.startsWith("not ok ")).length;
  const planned = Number(/^1\.\.(\d+)$/m.exec(output)?.[1] ?? Number.NaN);
  const whole = planned === passed + failed;
  const shown = lines.filter((line) => /^(not ok |# )/.test(line)).join("\n");
  const cut = whole ? "" : `the guest stopped before the end:\n${output.slice(-2000)}\n`;
  return { name, passed, failed: failed + (whole ? 0 : 1), skipped: [], output: `${cut}${shown}` };
}
