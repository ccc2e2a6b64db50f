/** Python packages that tests run inside the sandbox; they lie in the cache outside the clone. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./cache.ts";
import type { StepEnd } from "./progress.ts";
import { tryTool } from "./run_tool.ts";

/** Versions are part of the folder's name, so that new ones are fetched once. All are written in Python alone. */
const PACKAGES = ["pytest==8.4.2", "pytest-xdist==3.8.0"];

/** The folder in the cache that holds them, ready for PYTHONPATH. */
export const PYTHON_TOOLS: string = `python-${PACKAGES.join("-").replaceAll("==", "-")}`;

/** Fetches them with pip. Where that is impossible, the tests that need them skip themselves. */
export async function installPythonTools(): Promise<StepEnd> {
  const folder = join(cacheFolder(), PYTHON_TOOLS);
  if (existsSync(folder)) return { state: "fresh" };
  const fresh = `${folder}.${process.pid}`;
  const end = await tryTool({
    what: "pip",
    argv: ["python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", fresh, ...PACKAGES],
  });
  if (end.exitCode !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    return { state: "skipped", note: `pip can't fetch ${PACKAGES.join(" ")}: what needs them is skipped` };
  }
  renameSync(fresh, folder);
  return { state: "built", note: PACKAGES.join(" ") };
}
