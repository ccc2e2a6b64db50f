/**
 * The way in for `npm start`, `npm test`, `npm run …`: plain JavaScript for Node 20 without dependencies, because nothing
 * is installed yet. It installs the npm packages when the lock file changed, finds Bun among them and hands over to
 * setup.ts; for `start` it then becomes the program's parent, with its arguments, its descriptors and its exit code.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const targets = JSON.parse(readFileSync(join(root, "cli", "build", "targets.json"), "utf8"));
const [target = "", ...args] = process.argv.slice(2);

if (!Object.hasOwn(targets, target)) {
  stop(`Unknown target "${target}": choose one of ${Object.keys(targets).join(", ")}`, 2);
}
ensurePackages(targets[target].flat().length);
const setup = spawnSync(findBun(), ["--no-env-file", join(root, "cli", "build", "setup.ts"), target, ...args], {
  cwd: root,
  stdio: "inherit",
});
if (setup.status !== 0 || target !== "start") process.exit(setup.status ?? 1);
become(join(root, "dist", "cordon"), args.length > 0 ? args : ["tour"]);

/** Runs `npm ci` when node_modules does not come from this lock file. Never writes the lock. */
function ensurePackages(total) {
  const started = performance.now();
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".cordon-lock");
  const fresh = existsSync(stamp) && readFileSync(stamp, "utf8") === lock;
  if (!fresh) {
    const wait = process.stderr.isTTY ? "" : "\n";
    process.stderr.write(`[1/${total}] packages from npm …${wait}`);
    const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: root,
      // Our stdout belongs to the program that `npm start` runs.
      stdio: ["ignore", 2, 2],
    });
    if (npm.status !== 0) {
      stop(
        `npm ci failed (${npm.error?.message ?? `exit code ${npm.status}`}): its message is above. Check the network and start again`,
        1,
      );
    }
    writeFileSync(stamp, lock);
  }
  const took = ((performance.now() - started) / 1000).toFixed(1);
  const replace = process.stderr.isTTY ? "\r\x1b[K" : "";
  process.stderr.write(`${replace}[1/${total}] packages from npm  ${fresh ? "up to date" : "done"} (${took} s)\n`);
}

/** The Bun that the lock file pins. Where install scripts are off, `bun.exe` is only a note; the real one stands beside it. */
function findBun() {
  const found = candidates().find(works);
  if (found !== undefined) return found;
  spawnSync(process.execPath, [join(root, "node_modules", "bun", "install.js")], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  const installed = candidates().find(works);
  if (installed !== undefined) return installed;
  return stop(
    "Bun does not run: none of node_modules/bun and node_modules/@oven holds an executable for this machine. Remove node_modules and start again",
    1,
  );
}

function candidates() {
  const oven = join(root, "node_modules", "@oven");
  const names = existsSync(oven) ? readdirSync(oven) : [];
  return [join(root, "node_modules", "bun", "bin", "bun.exe"), ...names.map((name) => join(oven, name, "bin", "bun"))];
}

function works(path) {
  if (!existsSync(path)) return false;
  const pinned = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies.bun;
  return spawnSync(path, ["--version"], { encoding: "utf8" }).stdout?.trim() === pinned;
}

/** Runs the program in our place. Ctrl-C reaches it from the terminal; what is sent to us alone is passed on. */
function become(program, programArgs) {
  const child = spawn(program, programArgs, { stdio: "inherit" });
  // On the terminal's Ctrl-C both get the signal: we only have to outlive the program.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => stop(`Cannot start ${program}: ${error.message}`, 1));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/** @returns {never} */
function stop(message, exitCode) {
  process.stderr.write(`cordon: ${message}\n`);
  process.exit(exitCode);
}
