import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../cli/build/cache.ts";
import { PYTHON_TOOLS } from "../../cli/build/python_tools.ts";
import type { Scratch } from "../support/scratch.ts";
import type { Work } from "./works.ts";

const POOL = `from multiprocessing import Pool, Queue, Process, shared_memory
def put(q): q.put("queued")
if __name__ == "__main__":
    with Pool(2) as p: print(p.map(abs, [-1, -2]))
    q = Queue(); c = Process(target=put, args=(q,)); c.start(); print(q.get()); c.join()
    m = shared_memory.SharedMemory(create=True, size=8); m.buf[0] = 7; print(m.buf[0]); m.close(); m.unlink()
`;

const ASYNC = `import asyncio
async def main():
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE)
    print((await child.communicate())[0]); print(await asyncio.to_thread(lambda: "thread"))
asyncio.run(main())
`;

const SERVER = `import http.server, threading, urllib.request
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
print(len(urllib.request.urlopen(f"http://127.0.0.1:{s.server_port}/").read()) > 0)
`;

/** A wheel is a zip with metadata; written by hand, so that nothing has to be fetched to build one. */
const WHEEL = `import zipfile
info = "greeting-1.0.dist-info"
with zipfile.ZipFile("greeting-1.0-py3-none-any.whl", "w") as z:
    z.writestr("greeting.py", "def main(): print('from a wheel')\\n")
    z.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n")
    z.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: by-hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    z.writestr(info + "/entry_points.txt", "[console_scripts]\\ngreet = greeting:main\\n")
    z.writestr(info + "/RECORD", "")
`;

/** Lays pytest into the workspace, where every user can read it. A string says why it can't. */
function layPytest({ work }: Scratch): string | undefined {
  const folder = join(cacheFolder(), PYTHON_TOOLS);
  if (!existsSync(folder) || readdirSync(folder).length === 0) return "pytest-xdist is not in the cache of the tests";
  cpSync(folder, join(work, "tools"), { recursive: true });
  return undefined;
}

const python = ["python3"];

/** What people do with Python. */
export const PYTHON_WORKS: readonly Work[] = [
  {
    name: "python multiprocessing: Pool, Queue, shared memory",
    needs: python,
    files: { "pool.py": POOL },
    script: "python3 pool.py",
    prints: /^\[1, 2\]\nqueued\n7\n$/,
  },
  {
    name: "python multiprocessing by spawn and forkserver",
    needs: python,
    files: {
      "s.py": `import multiprocessing as m
if __name__ == "__main__":
    for way in ("spawn", "forkserver"):
        with m.get_context(way).Pool(1) as p: print(way, p.map(abs, [-3]))
`,
    },
    script: "python3 s.py",
    prints: /^spawn \[3\]\nforkserver \[3\]\n$/,
  },
  {
    name: "python asyncio: loop, child, thread",
    needs: python,
    files: { "a.py": ASYNC },
    script: "python3 a.py",
    prints: /^b'child\\n'\nthread\n$/,
  },
  {
    name: "python http.server and a client",
    needs: python,
    files: { "h.py": SERVER },
    script: "python3 h.py",
    prints: /^True\n$/,
  },
  {
    name: "python tempfile, also without names",
    needs: python,
    script: `python3 -c 'import tempfile as t
with t.TemporaryFile() as f: f.write(b"x")
with t.NamedTemporaryFile() as f: print(f.write(b"xy"))
with t.TemporaryDirectory() as d: print(bool(d))'`,
    prints: /^2\nTrue\n$/,
  },
  {
    name: "pip install of a local wheel into a venv",
    needs: python,
    files: { "wheel.py": WHEEL },
    script: `python3 wheel.py && python3 -m venv .venv && .venv/bin/pip install -q --no-index --disable-pip-version-check ./greeting-1.0-py3-none-any.whl
.venv/bin/greet`,
    prints: /^from a wheel\n$/,
    prepare: () =>
      Bun.spawnSync(["/usr/bin/env", "python3", "-c", "import ensurepip, venv"]).success
        ? undefined
        : "ensurepip missing",
  },
  {
    name: "pytest -n 2",
    needs: python,
    files: {
      "test_one.py": "def test_a(tmp_path): (tmp_path / 'f').write_text('x')\ndef test_b(): pass\n",
      "test_two.py": "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_n(n): assert n >= 0\n",
    },
    script: "PYTHONPATH=tools python3 -m pytest -q -n 2 test_one.py test_two.py",
    prints: /6 passed/,
    prepare: layPytest,
  },
  {
    name: "python sqlite3 and a database in memory",
    needs: python,
    script: `python3 -c 'import sqlite3 as s
for p in ("f.db", ":memory:"):
    c = s.connect(p); c.execute("create table t(x)"); c.execute("insert into t values(1)"); c.commit(); print(c.execute("select x from t").fetchall())'`,
    prints: /^\[\(1,\)\]\n\[\(1,\)\]\n$/,
  },
];
