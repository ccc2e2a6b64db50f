import { cpSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../cli/build/cache.ts";
import { scratchEnvironment } from "../support/run_cordon.ts";
import type { Scratch } from "../support/scratch.ts";
import { findProgram, type Work } from "./works.ts";

const CARGO_FILES = {
  "Cargo.toml":
    '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ngreeting = { path = "greeting" }\n',
  "src/main.rs":
    'fn main() { println!("{}", greeting::text()); }\n\n#[test]\nfn greets() { assert_eq!(greeting::text(), "built"); }\n',
  "build.rs": 'fn main() { println!("cargo::rerun-if-changed=build.rs"); }\n',
  "greeting/Cargo.toml": '[package]\nname = "greeting"\nversion = "0.1.0"\nedition = "2021"\n',
  "greeting/src/lib.rs": 'pub fn text() -> &\'static str { "built" }\n',
};

const GO_FILES = {
  "go.mod": "module example.org/app\n\ngo 1.18\n",
  "main.go": 'package main\n\nimport "example.org/app/greeting"\n\nfunc main() { println(greeting.Text()) }\n',
  "greeting/greeting.go": 'package greeting\n\nfunc Text() string { return "built" }\n',
  "greeting/greeting_test.go":
    'package greeting\n\nimport "testing"\n\nfunc TestText(t *testing.T) {\n\tif Text() != "built" {\n\t\tt.Fatal(Text())\n\t}\n}\n',
};

/** What go has built of its own library, from a cache outside the clone: that alone takes most of a minute. */
function layGoCache(scratch: Scratch): string | undefined {
  const go = findProgram("go");
  if (go === undefined) return "go missing";
  const cache = join(cacheFolder(), "go-build");
  const env = { ...scratchEnvironment(scratch), GOCACHE: cache, GOFLAGS: "-mod=mod" };
  const built = Bun.spawnSync([go, "build", "testing", "runtime"], { cwd: scratch.work, env });
  if (!built.success) return `go can't build its own library: ${built.stderr.toString().trim()}`;
  cpSync(cache, join(scratch.work, ".gocache"), { recursive: true });
  return undefined;
}

/** Compilers and what drives them. */
export const BUILD_WORKS: readonly Work[] = [
  {
    name: "make and gcc",
    needs: ["make", "gcc"],
    files: {
      Makefile: "app: main.o part.o\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc -pipe -c -o $@ $<\n",
      "main.c": '#include <stdio.h>\nint part(void);\nint main(void) { printf("%d\\n", part()); return 0; }\n',
      "part.c": "int part(void) { return 42; }\n",
    },
    script: "make -s -j2 && ./app && make -s && touch part.c && make -s && ./app",
    prints: /^42\n42\n$/,
  },
  {
    refusals: "harmless",
    name: "cargo build and test, offline, with a path dependency",
    needs: ["cargo", "rustc", "cc"],
    files: CARGO_FILES,
    script: "cargo build -q --offline && ./target/debug/app && cargo test -q --offline 2>&1 | grep -c '1 passed'",
    prints: /^built\n1\n$/,
  },
  {
    // Its telemetry wants ~/.config/go.
    refusals: "harmless",
    name: "go build",
    needs: ["go"],
    files: GO_FILES,
    script: "GOCACHE=$PWD/.gocache go build -o app . && ./app 2>&1",
    prepare: layGoCache,
    prints: /^built\n$/,
  },
  {
    refusals: "harmless",
    name: "go test",
    needs: ["go"],
    files: GO_FILES,
    script: "GOCACHE=$PWD/.gocache go test -vet=off ./greeting",
    prepare: layGoCache,
    prints: /^ok\s+example\.org\/app\/greeting/,
  },
  {
    // It counts in /tmp/hsperfdata_USER.
    refusals: "harmless",
    name: "java: compile and run one file",
    needs: ["java", "javac"],
    files: {
      "Main.java": 'public class Main { public static void main(String[] a) { System.out.println("ran"); } }\n',
    },
    script: "javac Main.java && java Main",
    prints: /^ran\n$/,
  },
];
