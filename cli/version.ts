// The bundler replaces this with the text of the version: `cordon --version` loads nothing but this and main.ts.
import { version } from "../package.json";

/** The version of this executable, for example "0.1.0". */
export const VERSION: string = version;
