/** cordon where something already confines it: inside another cordon, and inside bubblewrap. */
import { dirname } from "node:path";
import { missingPrograms } from "../../support/run_cordon.ts";
import type { Case } from "../case.ts";
import type { Place } from "../place.ts";
import type { Adapter } from "./adapter.ts";
import { canIn, cordonLaunch } from "./cordon.ts";

/** What stands around it. Each lets the inner one do what the case needs, and is no help to it. */
const OUTER = {
  cordon: {
    needs: [],
    // The inner one has its state elsewhere: the outer one closes its own.
    argv: (binary: string, one: Case, place: Place) => [
      binary,
      "run",
      `--allow-read=${dirname(binary)}`,
      `--allow-write=${place.top}`,
      "--trust-files=allow",
      "--allow-net",
      "--allow-env",
      ...Object.keys(one.env ?? {}).map((name) => `--allow-env=${name}`),
      "--",
      "env",
      `CORDON_STATE_DIR=${place.state}/inner`,
    ],
  },
  bwrap: {
    needs: ["bwrap"],
    argv: (_binary: string, _one: Case, place: Place) => [
      "bwrap",
      ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
      ...["--bind", place.top, place.top, "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--"],
    ],
  },
} as const;

const BARE: Case = { id: "none", title: "", wants: "allowed" };

/** The same cordon as `inside`, started by another sandbox. */
export function nestedAdapter(outer: keyof typeof OUTER, inside: Adapter, binary: string): Adapter {
  const { needs, argv: wrapIn } = OUTER[outer];
  const missing = missingPrograms(needs);
  const inIt = (argv: string[], place: Place) => inside.wrap([...wrapIn(binary, BARE, place), ...argv]);
  const can = canIn(binary, inside.uid, inIt);
  // bubblewrap passes no signal on, so none reaches what is inside it.
  if (outer === "bwrap") can.delete("signals");
  return {
    ...inside,
    id: inside.id.replace("cordon/", `cordon-in-${outer}/`),
    missing: inside.missing ?? (missing.length > 0 ? `${missing.join(", ")} missing` : null),
    can,
    launch: (one, place, argv) => {
      const inner = cordonLaunch(one, place, { binary, argv });
      return { ...inner, argv: [...wrapIn(binary, one, place), ...inner.argv] };
    },
  };
}
