import manifest from "../package.json" with { type: "json" };

/** This version, as `cordon --version` says. */
export const VERSION: string = manifest.version;

/** Put in by the bundler: a hash of everything that the executable is made of. */
declare const CORDON_BUILD: string | undefined;

/** Tells this executable from any other; null where cordon runs from its sources. */
export const BUILD: string | null = typeof CORDON_BUILD === "string" ? CORDON_BUILD : null;
