import type { Work } from "./works.ts";

const SERVER_AND_CLIENT = `
import { createServer, get } from "node:http";
const server = createServer((_, answer) => answer.end("hello from inside"));
server.listen(0, "127.0.0.1", () => {
  get({ host: "127.0.0.1", port: server.address().port }, (answer) => {
    answer.on("data", (text) => process.stdout.write(text));
    answer.on("end", () => server.close());
  });
});`;

/** Serves the tarball beside it as a registry does: a document with versions and the integrity of each file. */
const REGISTRY = `
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
const tarball = readFileSync("greeting-1.0.0.tgz");
const integrity = "sha512-" + createHash("sha512").update(tarball).digest("base64");
const server = createServer((request, answer) => {
  if (request.url.endsWith(".tgz")) return answer.end(tarball);
  if (request.url !== "/greeting") return answer.writeHead(404).end("{}");
  const dist = { tarball: \`http://127.0.0.1:\${server.address().port}/greeting-1.0.0.tgz\`, integrity };
  const versions = { "1.0.0": { name: "greeting", version: "1.0.0", main: "index.js", dist } };
  answer.setHeader("content-type", "application/json");
  answer.end(JSON.stringify({ name: "greeting", "dist-tags": { latest: "1.0.0" }, versions }));
});
server.listen(4873, "127.0.0.1", () => console.log("ready"));`;

/** What dev servers do: watch the sources and give the newest to clients. */
const DEV_SERVER = `
import { readFileSync, watch, writeFileSync } from "node:fs";
import { createServer } from "node:http";
let text = readFileSync("src/page.txt", "utf8");
watch("src", () => { text = readFileSync("src/page.txt", "utf8"); });
const server = createServer((_, answer) => answer.end(text)).listen(0, "localhost", async () => {
  const page = async () => (await fetch(\`http://localhost:\${server.address().port}/\`)).text();
  console.log(await page());
  writeFileSync("src/page.txt", "second");
  while ((await page()) !== "second") await new Promise((resolve) => setTimeout(resolve, 20));
  console.log("reloaded");
  server.close();
  process.exit();
});`;

const PACKAGES = {
  "package.json": '{ "name": "app", "version": "1.0.0", "private": true }\n',
  "packages/greeting/package.json": '{ "name": "greeting", "version": "1.0.0", "main": "index.js" }\n',
  "packages/greeting/index.js": 'module.exports = "hello from a package";\n',
};

const QUIET = "--no-audit --no-fund --loglevel=error";
const SAY = "node -e 'console.log(require(\"greeting\"))'";
const npm = ["node", "npm"];

/** What people do with node and npm. */
export const NODE_WORKS: readonly Work[] = [
  {
    name: "node execSync and spawnSync",
    needs: ["node"],
    script: `node -e 'const c = require("child_process"); process.stdout.write(c.execSync("echo one")); process.stdout.write(c.spawnSync("sh", ["-c", "cat; echo two"], { input: "in " }).stdout)'`,
    prints: /^one\nin two\n$/,
  },
  {
    name: "node http server on 127.0.0.1:0 and client",
    needs: ["node"],
    script: "node server.mjs",
    files: { "server.mjs": SERVER_AND_CLIENT },
    prints: /^hello from inside$/,
  },
  {
    name: "node worker threads and workers by fork",
    needs: ["node"],
    files: {
      "w.js": `const { Worker, isMainThread, parentPort } = require("worker_threads"); const { fork } = require("child_process");
if (process.send) process.send("forked"); else if (!isMainThread) parentPort.postMessage("thread");
else { new Worker(__filename).on("message", (m) => { console.log(m); const f = fork(__filename); f.on("message", (m) => console.log(m)); }); }`,
    },
    script: "node w.js",
    prints: /^thread\nforked\n$/,
  },
  {
    name: "node --test",
    needs: ["node"],
    files: {
      "one.test.mjs": 'import test from "node:test";\ntest("one", () => {});\n',
      "two.test.mjs": 'import test from "node:test";\ntest("two", () => {});\n',
    },
    script: "node --test",
    prints: /pass 2/,
  },
  {
    name: "npm pack and npm install of the tarball",
    needs: npm,
    files: PACKAGES,
    script: `npm pack --silent ./packages/greeting && npm install ${QUIET} ./greeting-1.0.0.tgz > /dev/null && ${SAY}`,
    prints: /hello from a package\n$/,
  },
  {
    name: "npm ci from packed tarballs",
    needs: npm,
    files: PACKAGES,
    script: `npm pack --silent ./packages/greeting > /dev/null && npm install ${QUIET} ./greeting-1.0.0.tgz > /dev/null
rm -r node_modules && npm ci ${QUIET} > /dev/null && ${SAY}`,
    prints: /^hello from a package\n$/,
  },
  {
    name: "npm ci from a registry on the loopback",
    needs: npm,
    files: { ...PACKAGES, "registry.mjs": REGISTRY },
    script: `npm pack --silent ./packages/greeting > /dev/null
node registry.mjs > log & until grep -q ready log; do sleep 0.1; done
npm install ${QUIET} --registry=http://127.0.0.1:4873/ greeting > /dev/null
rm -r node_modules && npm ci ${QUIET} --registry=http://127.0.0.1:4873/ > /dev/null && ${SAY}; kill %1`,
    prints: /^hello from a package\n$/,
  },
  {
    name: "npm install with lifecycle scripts",
    needs: npm,
    files: {
      ...PACKAGES,
      "package.json":
        '{ "name": "app", "version": "1.0.0", "dependencies": { "greeting": "file:packages/greeting" }, "scripts": { "preinstall": "echo pre >> ran", "postinstall": "node -e \\"require(\'fs\').appendFileSync(\'ran\', \'post\')\\"" } }\n',
    },
    script: `npm install ${QUIET} > /dev/null && cat ran`,
    prints: /^pre\npost$/,
  },
  {
    name: "npm run with a bin of node_modules",
    needs: npm,
    files: {
      "package.json":
        '{ "name": "app", "version": "1.0.0", "scripts": { "say": "greet" }, "dependencies": { "greet": "file:greet" } }\n',
      "greet/package.json": '{ "name": "greet", "version": "1.0.0", "bin": "greet.js" }\n',
      "greet/greet.js": '#!/usr/bin/env node\nconsole.log("greeted");\n',
    },
    script: `npm install ${QUIET} > /dev/null && npm run --silent say && npx --no-install greet`,
    prints: /^greeted\ngreeted\n$/,
  },
  {
    name: "hard links from a store, as pnpm makes them",
    needs: ["node"],
    script: `mkdir -p .store/a node_modules && echo 'module.exports = 7' > .store/a/index.js
node -e 'const fs = require("fs"); fs.mkdirSync("node_modules/.p/a", { recursive: true }); fs.linkSync(".store/a/index.js", "node_modules/.p/a/index.js"); fs.symlinkSync(".p/a", "node_modules/a"); console.log(require("a"), fs.statSync(".store/a/index.js").nlink)'`,
    prints: /^7 2\n$/,
  },
  {
    name: "a dev server that reloads, and its client",
    needs: ["node"],
    files: { "dev.mjs": DEV_SERVER, "src/page.txt": "first" },
    script: "node dev.mjs",
    prints: /^first\nreloaded\n$/,
  },
];
