import { CELLS, findCell } from "../../support/tiers.ts";
import type { Adapter } from "./adapter.ts";
import { bwrapAdapter } from "./bwrap.ts";
import { cordonAdapter } from "./cordon.ts";
import { firejailAdapter } from "./firejail.ts";
import { nestedAdapter } from "./nested.ts";
import { npmPeer } from "./npm_peers.ts";

/** Every column of the table, in its order. `binary` is a cordon that every user can read. */
export function allAdapters(binary: string): Adapter[] {
  const cordons = CELLS.map((cell) => cordonAdapter(cell, binary));
  const own = process.geteuid?.() === 0 ? "root" : "ordinary";
  const [withThem] = cordons.filter(({ id }) => id === `cordon/namespaces/${own}`);
  const nested =
    withThem === undefined ? [] : (["cordon", "bwrap"] as const).map((outer) => nestedAdapter(outer, withThem, binary));
  // Peers as people run them: an ordinary user on a machine that gives them all they want.
  const ordinary = findCell({ user: "ordinary", namespaces: "with" });
  return [
    ...cordons,
    ...nested,
    bwrapAdapter(ordinary),
    firejailAdapter(findCell({ user: own, namespaces: "with" })),
    npmPeer("srt", ordinary),
    npmPeer("codex", ordinary),
    npmPeer("landstrip", ordinary),
  ];
}
