import type { Work } from "./works.ts";

/** What people do with the programs of the system. */
export const SHELL_WORKS: readonly Work[] = [
  {
    name: "mktemp, and TMPDIR is the place",
    needs: ["mktemp", "dirname"],
    script:
      'f=$(mktemp) && echo text > "$f" && cat "$f" && test "$(dirname "$f")" = "$TMPDIR" && mktemp -d > /dev/null',
    prints: /^text\n$/,
  },
  {
    name: "/dev/null, /dev/zero, /dev/full, /dev/urandom",
    needs: ["head", "wc"],
    script:
      "echo gone > /dev/null; head -c 9 /dev/zero | wc -c; head -c 9 /dev/urandom | wc -c; ! echo x 2>/dev/null > /dev/full",
    prints: /^9\n9\n$/,
  },
  {
    name: "umask, modes and times of new files",
    needs: ["stat"],
    script: `(umask 027; echo x > a; mkdir d; ln -s a l); (umask 0; echo x > b); touch -d @86400 b; chmod 600 a
stat -c '%n %a' a b d; stat -c %Y b`,
    prints: /^a 600\nb 666\nd 750\n86400\n$/,
  },
  {
    name: "errors are those of the kernel",
    needs: ["mkdir", "rmdir", "ln"],
    script: `export LC_ALL=C; set +e; mkdir d; touch f d/inner
for c in 'mkdir d' 'rmdir d' 'mkdir f/x' 'mkdir no/x' 'ln f f' 'ln -s f f' 'rm d' 'touch f/' 'cat < no'; do
  bash -c "$c" 2>&1 | sed 's/.*: //'; done; bash -c 'set -C; echo x > f' 2>&1 | sed 's/.*: //'; true`,
    prints:
      /^File exists\nDirectory not empty\nNot a directory\nNo such file or directory\nFile exists\nFile exists\nIs a directory\nNot a directory\nNo such file or directory\ncannot overwrite existing file\n$/,
  },
  {
    name: "a named pipe between two processes",
    needs: ["mkfifo", "cat"],
    script: "mkfifo pipe && (echo through > pipe &) && cat pipe && rm pipe",
    prints: /^through\n$/,
  },
  {
    name: "process substitution, here-documents, coprocesses",
    needs: ["diff", "cat"],
    script: `diff <(echo same) <(echo same) && cat <<< here && coproc C { cat; } && echo co >&"\${C[1]}" && read -r x <&"\${C[0]}" && echo "$x" && echo tee | tee >(cat > t) > /dev/null`,
    prints: /^here\nco\n$/,
  },
  {
    name: "descriptors by name: /dev/stdin, /dev/fd, /proc/self/fd",
    needs: ["cat"],
    script:
      "echo in | cat /dev/stdin && (echo out > /dev/stdout) | cat && exec 7> seven && echo a > /dev/fd/7 && echo b > /proc/self/fd/7 && cat seven",
    prints: /^in\nout\n(a\n)?b\n$/,
  },
  {
    name: "sed -i, cp -a, find, xargs, sort",
    needs: ["sed", "cp", "find", "xargs", "sort"],
    script: `mkdir -p a/b && echo one > a/b/f && ln -s f a/b/l && ln a/b/f a/b/h && touch -d @0 a/b/f && sed -i.bak s/one/two/ a/b/f && cp -a a c
cat c/b/f && readlink c/b/l && find c -type f -print0 | xargs -0 ls | sort | tr '\\n' ' '`,
    prints: /^two\nf\nc\/b\/f c\/b\/f\.bak c\/b\/h $/,
  },
  {
    name: "tar, gzip and back",
    needs: ["tar", "gzip"],
    script:
      "mkdir -p a/b && echo x > a/b/f && ln a/b/f a/h && ln -s b/f a/l && chmod 640 a/b/f && tar czf a.tgz a && rm -r a && tar xzf a.tgz && stat -c '%a %h' a/h && cat a/l",
    prints: /^640 2\nx\n$/,
  },
  {
    name: "rsync -a --delete",
    needs: ["rsync"],
    script:
      "mkdir -p a/b c && echo x > a/b/f && touch c/old && rsync -a --delete a/ c/ && cat c/b/f && test ! -e c/old",
    prints: /^x\n$/,
  },
  {
    name: "vim -es writes a file",
    needs: ["vim"],
    script: "printf 'one\\n' > f && vim -u NONE -es -c '%s/one/two/' -c wq f && cat f",
    prints: /^two\n$/,
  },
  // Its buffer is a file of tmpfile(3), which knows no TMPDIR.
  {
    name: "ed",
    needs: ["ed"],
    rests: "private_tmp",
    script: "printf 'a\\nx\\n.\\nw f\\nq\\n' | ed -s && cat f",
    prints: /^x\n$/,
  },
  {
    name: "sqlite3 with a write-ahead log",
    needs: ["sqlite3"],
    script:
      "sqlite3 db 'PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (6*7);' && sqlite3 db 'SELECT x FROM t' && sqlite3 db VACUUM",
    prints: /^wal\n42\n$/,
  },
  {
    name: "strace of a child",
    needs: ["strace"],
    script: "strace -f -o log sh -c 'cat /dev/null' && grep -c execve log",
    prints: /^[1-9]/,
  },
  {
    name: "gdb of a child",
    needs: ["gdb"],
    refusals: "harmless",
    script: "gdb -nx -batch -ex run -ex 'print 6*7' true 2>&1",
    prints: /= 42/,
  },
  {
    name: "make -j with a jobserver",
    needs: ["make"],
    files: { Makefile: "all: a b c\na b c:\n\t@sleep 0.1; echo $@ > $@\n" },
    script: "make -s -j3 && cat a b c && make -q",
    prints: /^a\nb\nc\n$/,
  },
  {
    name: "flock between two processes",
    needs: ["flock"],
    script: "flock lock -c 'flock -n lock true || echo held'",
    prints: /^held\n$/,
  },
  {
    name: "setsid, nohup and waiting for background jobs",
    needs: ["setsid", "nohup"],
    script:
      "setsid sh -c 'echo session' | cat; nohup sh -c 'echo hup' 2>/dev/null | cat; (sleep 0.1; echo late) & wait; echo done",
    prints: /^session\nhup\nlate\ndone\n$/,
  },
  {
    name: "a Unix socket of its own",
    needs: ["python3"],
    script: `python3 - <<'END'
import os, socket, threading
s = socket.socket(socket.AF_UNIX); s.bind("own.sock"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect("own.sock"); d, _ = s.accept(); d.send(b"met"); print(c.recv(9)); os.unlink("own.sock")
END`,
    prints: /^b'met'\n$/,
  },
  {
    name: "a tmux session on a socket of its own",
    needs: ["tmux"],
    script: `export TERM=xterm SHELL=/bin/sh; tmux -f /dev/null -S "$TMPDIR/t" new-session -d -x 80 -y 24 'echo in-tmux > out; tmux -S "$TMPDIR/t" wait-for -S ready; sleep 60'
tmux -S "$TMPDIR/t" wait-for ready && cat out && tmux -S "$TMPDIR/t" kill-server`,
    prints: /^in-tmux\n$/,
  },
];
