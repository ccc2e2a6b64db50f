/** Files taken into the executable by `import path from "…" with { type: "file" }`: the import gives where they can be read. */
declare module "*.wasm" {
  const path: string;
  export default path;
}
declare module "*.bin" {
  const path: string;
  export default path;
}
