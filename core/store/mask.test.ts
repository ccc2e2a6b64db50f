import { expect, test } from "bun:test";
import { maskSecrets, maskText } from "./mask.ts";

test("I9 what looks like a secret is masked, and ordinary commands stay as they are", () => {
  for (const [text, secret] of [
    ["curl -H 'Authorization: Bearer abcdef1234567890' http://x", "abcdef1234567890"],
    ["deploy --token=hunter2", "hunter2"],
    ["deploy --api-key hunter2", "hunter2"],
    ["DB_PASSWORD='hunter 2' psql", "hunter 2"],
    ["git clone https://ada:hunter2@example.com/x", "hunter2"],
    ["curl -u ada:hunter2 http://x", "hunter2"],
    ["export GH=ghp_abcdefghijklmnopqrstuvwxyz012345", "ghp_abcdefgh"],
    ["aws AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7"],
    ["cat /srv/password=hunter2/x", "hunter2"],
  ] as const) {
    expect([text, maskText(text).includes(secret)]).toEqual([text, false]);
    expect(maskText(text)).toContain("«secret»");
  }
  for (const text of [
    "npm test",
    "git commit -m 'mend the parser'",
    "ls -la src/index.ts",
    "grep -rn passw src | head -20",
  ])
    expect(maskText(text)).toBe(text);
});

test("I9 of a question the command, the paths and the parameters are masked, contents are left out", () => {
  const masked = maskSecrets({
    tool: "bash",
    required: "danger-full-access",
    mode: "prompt",
    effects: [
      { kind: "exec", command: "x --token=hunter2" },
      { kind: "write", path: "/w/api_key=hunter2" },
    ],
    params: { command: "x --token=hunter2", content: "hunter2", secret: "hunter2", path: "a" },
    cwd: "/w",
    home: "/h",
    roots: ["/w"],
  });
  expect(JSON.stringify(masked)).not.toContain("hunter2");
  expect(masked).toMatchObject({ tool: "bash", cwd: "/w", params: { path: "a" } });
});
