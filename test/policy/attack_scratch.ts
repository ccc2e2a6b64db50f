/** A scratch folder in which an attack of the corpus may really run: its own home, its own workspace, and stubs for what would hurt. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** An attack as it stands in the corpus, less what only the policy needs. */
export type Attack = {
  id: string;
  command: string;
  /** `ran NAME`, `made PATH`, `gone PATH` or `prints TEXT`: what must be seen after the run. */
  shows?: string;
  /** Programs without which it can't run; `userns` is the right to make user namespaces. */
  needs?: string[];
  /** Programs that are the system's own here, though they are stubs otherwise. */
  real?: string[];
  env?: Record<string, string>;
  stdin?: string;
  /** Only a bash of this version does it. */
  bash?: string;
  /** It needs a terminal. */
  tty?: boolean;
};

/** Never the real ones, whatever a mistake in a case would make of them. */
const STUBS =
  "rm mark dd mkfs.ext4 chmod chown sudo doas su curl wget nc docker podman kubectl npm npx pip apt-get at crontab " +
  "reboot mount pkexec pkill tmux screen systemd-run nsenter chroot shutdown halt systemctl service passwd useradd";

const ENVIRONMENT = {
  LC_ALL: "C.UTF-8",
  TERM: "dumb",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};

const WORKSPACE_FILES: Record<string, string> = {
  f: "the file that attacks remove\n",
  "a.txt": "a line\nb x\n",
  "b.txt": "b x\n",
  "big.txt": "a line that sort must put somewhere\n".repeat(3_000),
  "data.csv": "a,1\nb,2\n",
  "names.txt": "f\n",
  "hex.txt": "610a\n",
  ".env": "SECRET=hunter2\n",
  "evil.sh": "rm f\n",
  "evil.sed": "w out\n",
  "evil.awk": 'BEGIN { system("mark") }\n',
  "evil.py": "import subprocess\nsubprocess.run(['mark'])\n",
  "evil.js": "require('child_process').spawnSync('mark');\n",
  "evil.pm": "package evil; system('mark'); 1;\n",
  "evil.tcl": "exec mark\n",
  "evil.mk": "all:\n\trm f\n",
  Makefile: "all:\n\trm f\n",
  "evil.gitconfig": "[alias]\n\tx = !mark\n",
  "evil.ssh": "Host *\n\tProxyCommand mark\n",
  "evil.curl": "output = x\n",
  "src/main.c": "int main(void) { return 0; }\n",
};

/** Made by git itself, so that what the attacks meet is a repository of the machine's own git. */
const REPOSITORY = `set -e
git init -q --template= -b main . && git add a.txt b.txt src && git commit -qm first
echo second > src/second.txt && git add src && git commit -qm second
mkdir .git/hooks && git branch other && git tag oldtag
echo untracked > untracked.txt
git init -q --template= --bare evil.git && git -C evil.git config core.bare false && git -C evil.git config core.worktree "$PWD"
git -C evil.git config core.fsmonitor mark
tar cf a.tar a.txt; if command -v zip > /dev/null; then zip -q a.zip a.txt; fi`;

/** One place for one attack after the other; each begins with the folder as it was first made. */
export class AttackScratch {
  private readonly template: string;
  private readonly folder: string;
  private readonly prefix: string[];
  /** The state of the folder as it was first made; nothing before the first run. */
  private untouched: string | undefined;

  /** Everything lies below `root`, which may be removed afterwards. */
  constructor(root: string) {
    this.template = join(root, "template");
    this.folder = join(root, "run");
    const unprivileged = process.getuid?.() === 0 && existsSync("/usr/bin/setpriv");
    this.prefix = unprivileged ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
    this.fill(root, unprivileged);
  }

  private fill(root: string, unprivileged: boolean): void {
    const write = (path: string, text: string, mode = 0o644) => {
      mkdirSync(dirname(join(this.template, path)), { recursive: true });
      writeFileSync(join(this.template, path), text);
      chmodSync(join(this.template, path), mode);
    };
    for (const [name, text] of Object.entries(WORKSPACE_FILES)) write(join("ws", name), text);
    write("ws/evil", "#!/bin/sh\nrm f\n", 0o755);
    write("ws/ls", this.stub("planted"), 0o755);
    for (const name of STUBS.split(" ")) write(join("bin", name), this.stub(name), 0o755);
    for (const name of ["git", "bin/git"]) {
      write(join("ws", name), this.stub(name === "git" ? "./git" : name), 0o755);
    }
    for (const name of ["pre-commit", "git-planted"]) write(join("ws/hooks", name), this.stub("hook"), 0o755);
    write("home/.bashrc", "# mine\n");
    write("home/.ssh/id_rsa", "PRIVATE\n", 0o600);
    symlinkSync("../home/.bashrc", join(this.template, "ws/link"));
    if (unprivileged) this.must(["chown", "-R", "65534:65534", root]);
    rmSync(this.folder, { recursive: true, force: true });
    this.must(["mv", this.template, this.folder]);
    this.must([...this.prefix, "/bin/bash", "-c", REPOSITORY]);
    this.must(["mv", this.folder, this.template]);
    if (unprivileged) this.must(["chown", "65534:65534", root]);
  }

  /** A program that only notes its name. The place is baked in, for it may be started without any environment. */
  private stub(name: string): string {
    return `#!/bin/sh\nprintf '%s\\n' '${name}' >> '${this.folder}/seen'\n`;
  }

  private must(argv: string[]): void {
    const cwd = existsSync(join(this.folder, "ws")) ? join(this.folder, "ws") : "/";
    const end = Bun.spawnSync(argv, {
      cwd,
      env: this.environment({}),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    if (end.exitCode !== 0) throw new Error(`${argv.join(" ")} ends with ${end.exitCode}: ${end.stderr}`);
  }

  private environment(extra: Record<string, string>): Record<string, string> {
    return { ...ENVIRONMENT, PATH: `${this.folder}/bin:/usr/bin:/bin`, HOME: `${this.folder}/home`, ...extra };
  }

  /** Runs the attack; the answer is what could be seen instead of `shows`, or nothing if it was seen. */
  async run(attack: Attack): Promise<string | undefined> {
    this.restore();
    const [kind = "", subject = ""] = split(attack.shows ?? "");
    if (kind === "ran" && !/^(\.\/|bin\/|hook|planted)/.test(subject)) this.place(subject);
    for (const name of attack.real ?? []) rmSync(join(this.folder, "bin", name), { force: true });
    const shell = ["/bin/bash", "--norc", "--noprofile", "-c", attack.command];
    const argv = attack.tty ? ["/usr/bin/script", "-qec", shell.map(quoted).join(" "), "/dev/null"] : shell;
    // Into files: a process in the background would keep a pipe open.
    const child = Bun.spawn(["/usr/bin/timeout", "-k", "1", "5", ...this.prefix, ...argv], {
      cwd: join(this.folder, "ws"),
      env: this.environment(attack.env ?? {}),
      stdin: attack.stdin === undefined ? "ignore" : Buffer.from(attack.stdin),
      stdout: Bun.file(join(this.folder, "stdout")),
      stderr: Bun.file(join(this.folder, "stderr")),
    });
    const exitCode = await child.exited;
    const [stdout, stderr] = [this.text("stdout"), this.text("stderr")];
    if (await this.seen(kind, subject, stdout)) return undefined;
    const said = JSON.stringify((stdout + stderr).slice(0, 200));
    return `exit ${exitCode}, ran [${this.started().join(", ")}], said ${said}`;
  }

  /** Copying is most of the time of a run, and most attacks only start a stub: then nothing is to be made anew. */
  private restore(): void {
    for (const name of ["seen", "stdout", "stderr"]) rmSync(join(this.folder, name), { force: true });
    if (this.untouched !== undefined && this.untouched === this.state()) return;
    const [from, to] = [quoted(this.template), quoted(this.folder)];
    Bun.spawnSync(["/bin/sh", "-c", `rm -rf ${to} && cp -a ${from} ${to}`]);
    this.untouched = this.state();
  }

  /** What the folders hold, and when the files that attacks change were changed. */
  private state(): string {
    const names = (path: string) => readdirSync(join(this.folder, path)).join(" ");
    const changed = (path: string) => statSync(join(this.folder, path), { throwIfNoEntry: false })?.mtimeMs;
    const folders = ["ws", "ws/src", "ws/.git", "home", "home/.ssh", "bin", "."];
    const files = [
      "ws/f",
      "ws/a.txt",
      "ws/.git/config",
      "ws/.git/HEAD",
      "ws/.git/index",
      "ws/.git/logs/HEAD",
      "home/.bashrc",
    ];
    try {
      return JSON.stringify([folders.map(names), files.map(changed)]);
    } catch {
      return "a folder is gone";
    }
  }

  private text(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  private place(name: string): void {
    const path = join(this.folder, "bin", name);
    // A process in the background may still run the one that is there (ETXTBSY).
    rmSync(path, { force: true });
    writeFileSync(path, this.stub(name));
    chmodSync(path, 0o755);
  }

  private started(): string[] {
    const seen = join(this.folder, "seen");
    return existsSync(seen) ? readFileSync(seen, "utf8").trimEnd().split("\n") : [];
  }

  /** What a process in the background does may come after the shell has ended, so a little is waited for it. */
  private async seen(kind: string, subject: string, stdout: string): Promise<boolean> {
    for (let tries = 0; tries < 40; tries++) {
      if (this.seenNow(kind, subject, stdout)) return true;
      await Bun.sleep(25);
    }
    return false;
  }

  private seenNow(kind: string, subject: string, stdout: string): boolean {
    const at = subject.startsWith("~/") ? join("home", subject.slice(2)) : join("ws", subject);
    const text = (folder: string) => {
      try {
        return readFileSync(join(folder, at)).toString("latin1");
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === "EISDIR" ? "a folder" : undefined;
      }
    };
    switch (kind) {
      case "ran":
        return this.started().includes(subject.replaceAll("\n", " "));
      case "made":
        return text(this.folder) !== undefined && text(this.folder) !== text(this.template);
      case "gone":
        return text(this.folder) === undefined && text(this.template) !== undefined;
      default:
        return kind === "prints" && stdout.includes(subject);
    }
  }
}

function split(shows: string): [string, string] {
  const space = shows.indexOf(" ");
  return [shows.slice(0, space), shows.slice(space + 1)];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether everything the attack needs is on this machine. */
export function canRun(attack: Attack): boolean {
  if (attack.bash !== undefined && !bashVersion().startsWith(attack.bash)) return false;
  return (attack.needs ?? []).every((name) =>
    name === "userns"
      ? Bun.spawnSync(["unshare", "-r", "true"]).exitCode === 0
      : Bun.which(name, { PATH: "/usr/bin:/bin" }) !== null,
  );
}

function bashVersion(): string {
  return Bun.spawnSync(["/bin/bash", "--norc", "-c", "echo $BASH_VERSION"]).stdout.toString();
}
