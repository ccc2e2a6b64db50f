// Files named like secrets: those that are there are closed at any depth, new ones are the command's own.
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeEachTier } from "../support/each_tier.ts";
import { runCordon } from "../support/run_cordon.ts";

describeEachTier(({ scratch, around }) => {
  const at = (...parts: string[]) => join(scratch.work, ...parts);
  const run = (script: string, flags: string[] = []) => runCordon(["run", ...flags, "--", "sh", "-c", script], around);

  test("D10 a secret of the start is not read, changed or carried at any depth, and opened by its name", async () => {
    mkdirSync(at("a/b/c/d"), { recursive: true });
    writeFileSync(at("a/b/c/d/.env"), "KEY=hush\n");
    writeFileSync(at("a/b/c/d/.env.example"), "KEY=\n");
    const tried = await run(
      "cd a/b/c/d; cat .env; echo evil > .env; mv .env x; ln .env y; cat x y; rm -f .env; cd ..; mv d e; cat e/.env; cat d/.env.example",
    );
    expect(tried.stdout).toBe("KEY=\n");
    expect(readFileSync(at("a/b/c/d/.env"), "utf8")).toBe("KEY=hush\n");
    const opened = await run("cat a/b/c/d/.env", [`--allow-read=${at("a/b/c/d/.env")}`]);
    expect([opened.stdout, opened.code]).toEqual(["KEY=hush\n", 0]);
  });

  test("D10 a new one is made, read and changed, and hidden from the next command", async () => {
    mkdirSync(at("web"), { recursive: true });
    const script =
      "cp a/b/c/d/.env.example web/.env && echo PORT=1 >> web/.env && sed -i s/1/2/ web/.env && cat web/.env";
    expect(await run(script)).toMatchObject({ code: 0, stdout: "KEY=\nPORT=2\n" });
    expect((await run("cat web/.env")).stdout).toBe("");
    expect((await run("cat web/.env", [`--allow-read=${at("web/.env")}`])).stdout).toBe("KEY=\nPORT=2\n");
    const listed = await run("echo x > web/new.txt; echo KEY=2 > .env", ["--trust-files=report"]);
    expect(listed.stderr).toContain(at(".env"));
  });

  test("D10 a workspace too large to be looked through says so", async () => {
    for (let n = 0; n < 260; n++) mkdirSync(at(`many/d${n}`), { recursive: true });
    const explained = await runCordon(["run", "--explain", "--", "true"], around);
    expect(explained.stdout).toContain("more folders than are looked through");
    const doctor = await runCordon(["doctor"], around);
    expect(doctor.stdout).toContain("more folders than are looked through");
  });

  test("A15 a missing file in a trusted folder is allowed alone", async () => {
    mkdirSync(at(".vscode"), { recursive: true });
    writeFileSync(at(".vscode/tasks.json"), "kept");
    const named = await run(
      "echo x > .vscode/extensions.json; echo y > .vscode/tasks.json; echo z > .vscode/launch.json",
      [`--allow-write=${at(".vscode/extensions.json")}`],
    );
    expect(named.code).not.toBe(0);
    expect(readFileSync(at(".vscode/extensions.json"), "utf8")).toBe("x\n");
    expect(readFileSync(at(".vscode/tasks.json"), "utf8")).toBe("kept");
    expect((await run("cat .vscode/launch.json")).code).not.toBe(0);
  });

  test("D1 what is named below a folder of the view's own is shown beside the whole root, and --allow-unix wants a socket", async () => {
    const shown = await run(`cat ${at("a/b/c/d/.env.example")}; ls /usr > /dev/null && echo root`, [
      "--allow-read=/",
      `--allow-read=${scratch.work}`,
    ]);
    expect(shown.stdout).toBe("KEY=\nroot\n");
    const refused = await run("true", ["--allow-unix=/etc/passwd"]);
    expect([refused.code, refused.stderr.includes("is no socket")]).toEqual([121, true]);
  });
});
