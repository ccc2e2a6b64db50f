import manifest from "../package.json" with { type: "json" };

/** This version, as `cordon --version` says. */
export const VERSION: string = manifest.version;
