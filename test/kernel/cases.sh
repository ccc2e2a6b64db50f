# The core cases, as TAP on the console: each with and without user namespaces, as root and as an ordinary user.
count=0
failed=0

# say TITLE WORKED NOTE: one line of TAP.
say() {
  count=$((count + 1))
  if [ "$2" = yes ]; then
    echo "ok $count - $cell: $1"
  else
    failed=$((failed + 1))
    echo "not ok $count - $cell: $1"
    echo "$3" | head -n 12 | sed 's/^/# /'
  fi
}

# run ARGS: cordon as the cell's user, in the workspace; its output in $out, its exit code in $code.
run() {
  out=$(cd "$top/work" && HOME=$top/home CORDON_STATE_DIR=$top/state LANG=C.UTF-8 $as /bin/cordon "$@" 2>&1 </dev/null)
  code=$?
}

allowed() {
  title=$1
  shift
  run run -- "$@"
  [ $code = 0 ] && say "$title works" yes || say "$title works" no "exit code $code: $out"
}

refused() {
  title=$1
  shift
  run run -- "$@"
  case $code in
    0 | 120 | 121) say "$title is refused" no "exit code $code: $out" ;;
    *) say "$title is refused" yes ;;
  esac
}

# unchanged TITLE FILE TEXT
unchanged() {
  [ "$(cat "$2")" = "$3" ] && say "$1 is unchanged" yes || say "$1 is unchanged" no "$(cat "$2")"
}

prepare() {
  top=/home/user$((cells = cells + 1))
  mkdir -p "$top/home/.ssh" "$top/state" "$top/work/.git/hooks" "$top/work/.git/objects" "$top/work/.git/refs" "$top/outside"
  echo secret >"$top/home/.ssh/id_ed25519"
  echo kept >"$top/home/.bashrc"
  echo kept >"$top/outside/file"
  echo inside >"$top/work/file"
  echo 'ref: refs/heads/main' >"$top/work/.git/HEAD"
  echo '[core]' >"$top/work/.git/config"
  [ "$1" = 0 ] || chown -R "$1:$1" "$top"
  chmod 755 /home "$top"
}

files() {
  allowed "a write in the workspace" sh -c 'echo new > made && mkdir -p a/b && mv made a/b/c && ln -s c a/b/d && rm -r a'
  allowed "a new file in TMPDIR" sh -c 'f=$(mktemp) && echo text > "$f" && rm "$f"'
  allowed "/dev/null" sh -c 'echo gone > /dev/null'
  allowed "truncate(2) in the workspace" calls truncate file
  allowed "O_TRUNC without a right to write, in the workspace," calls empty file
  allowed "an unnamed file in the workspace" calls tmpfile .
  refused "a write outside" sh -c "echo x > $top/outside/file"
  refused "truncate(2) outside" calls truncate "$top/outside/file"
  refused "truncate(2) of a readable file of the system" calls truncate /etc/passwd
  refused "O_TRUNC without a right to write, of a readable file of the system," calls empty /etc/passwd
  [ -s /etc/passwd ] && say "the file of the system is unchanged" yes || say "the file of the system is unchanged" no "it is empty"
  refused "a hard link to a file outside" calls link "$top/outside/file" linked
  refused "a rename of a file outside" calls rename "$top/outside/file" moved
  refused "a write through a symlink to the outside" sh -c "ln -s $top/outside out && echo x > out/file"
  unchanged "the file outside" "$top/outside/file" kept
  refused "a write to ~/.bashrc" sh -c "echo x >> $top/home/.bashrc"
  unchanged "~/.bashrc" "$top/home/.bashrc" kept
  refused "a read of a private key" cat "$top/home/.ssh/id_ed25519"
  refused "a new git hook" sh -c 'echo x > .git/hooks/pre-commit'
  refused "a write to git's settings" sh -c 'echo x >> .git/config'
  refused "a write to git's settings below another name" sh -c 'mv .git g && echo x >> g/config; s=$?; mv g .git; exit $s'
  unchanged "the repository's settings" "$top/work/.git/config" '[core]'
}

network_and_processes() {
  refused "a connection to the host's loopback" calls tcp 7
  refused "an abstract socket of the host" calls connect @of-the-host
  refused "a socket of the host by its name" calls connect /tmp/of-the-host
  allowed "a socket pair" calls socketpair
  allowed "a loopback" calls tcp_pair
  case "$cell" in
    # Landlock scopes signals from ABI 6 on; until then it must be said that nothing does.
    "root, without"*) grep -q 'lets the user.s own be signalled' /tmp/doctor && say "doctor says that signals leave" yes || say "doctor says that signals leave" no "$(cat /tmp/doctor)" ;;
    *) refused "a signal to a process of the host" calls kill "$host" ;;
  esac
  allowed "a signal to its own process" sh -c 'kill -0 $$'
  refused "the keyring" calls keyctl
  refused "io_uring" calls io_uring x
  refused "a user namespace" calls unshare
  run run -- sh -c 'exit 42'
  [ $code = 42 ] && say "an exit code is passed on" yes || say "an exit code is passed on" no "$code $out"
  run run -- no-such-program
  [ $code = 127 ] && say "a missing program is 127" yes || say "a missing program is 127" no "$code $out"
  run run --timeout 1s -- sleep 1000
  [ $code = 124 ] && say "a time limit ends it" yes || say "a time limit ends it" no "$code $out"
  run run -- grep -c '^CapEff:.0000000000000000$' /proc/self/status
  [ "$out" = 1 ] && say "no capability is left" yes || say "no capability is left" no "$code $out"
}

# By control groups of version 2: of the whole tree, named when they are met, and out of the command's own reach.
limits() {
  grep -q '"memory": "cgroup2"' /tmp/doctor && say "doctor says that control groups (v2) hold memory" yes || say "doctor says that control groups (v2) hold memory" no "$(grep -A5 '"limits"' /tmp/doctor)"
  allowed "less memory than the limit" calls eat 4
  run run --memory 40M -- calls eat 200
  case "$code $out" in
    137*"memory limit of 40 MB was reached"*"--memory"*) say "more memory than the limit is refused, and named" yes ;;
    *) say "more memory than the limit is refused, and named" no "$code $out" ;;
  esac
  # Each of them alone is within it. Which ones the kernel ends is its own choice.
  run run --memory 40M -- sh -c 'for n in 1 2 3 4; do calls eat 25 & done; wait'
  case "$code $out" in
    *"memory limit of 40 MB was reached"*) say "the memory of all processes counts" yes ;;
    *) say "the memory of all processes counts" no "$code $out" ;;
  esac
  run run --pids 20 -- calls forks 10
  [ $code = 0 ] && say "fewer processes than the limit can be had" yes || say "fewer processes than the limit can be had" no "$code $out"
  run run --pids 20 -- calls forks 60
  case "$out" in
    *"limit of 20 processes was reached"*"--pids"*) say "more processes than the limit are refused, and it is named" yes ;;
    *) say "more processes than the limit are refused, and it is named" no "$code $out" ;;
  esac
  run run --cpu 20% -- sh -c 'cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/cpu.max'
  [ "$out" = "20000 100000" ] && say "a share of the processor is set" yes || say "a share of the processor is set" no "$code $out"
  run run --file-size 1M -- sh -c 'head -c 3000000 /dev/zero > large'
  case "$code $out" in
    0*) say "a file that grows too large is stopped, and it is named" no "$code $out" ;;
    *"file size limit of 1 MB"*) say "a file that grows too large is stopped, and it is named" yes ;;
    *) say "a file that grows too large is stopped, and it is named" no "$code $out" ;;
  esac
  rm -f "$top/work/large"
  for file in memory.max cgroup.procs; do
    run run --allow-write --memory 40M -- sh -c "echo max > /sys/fs/cgroup\$(cut -d: -f3 /proc/self/cgroup)/$file"
    case "$code $out" in
      [1-9]*) say "writing its own $file is refused, even with --allow-write" yes ;;
      *) say "writing its own $file is refused, even with --allow-write" no "$code $out" ;;
    esac
  done
  left=$(find /sys/fs/cgroup -name 'cordon-*')
  [ -z "$left" ] && say "no control group is left" yes || say "no control group is left" no "$left"
}

# doctor's tier, and that a demand is carried out or refused by name just as doctor says.
report() {
  run doctor --json
  echo "$out" >/tmp/doctor
  tier=$(sed -n 's/^  "tier": "\(.*\)",$/\1/p' /tmp/doctor)
  abi=$(sed -n 's/^ *"landlockAbi": \([0-9]*\),*$/\1/p' /tmp/doctor)
  echo "# $cell: tier $tier, Landlock ABI $abi"
  wanted=$([ "$namespaces" = with ] && echo namespaces || echo landlock)
  [ "$tier" = "$wanted" ] && say "doctor names the tier $wanted" yes || say "doctor names the tier $wanted" no "$out"
  properties=$(sed -n 's/^ *"property": "\(.*\)",$/\1/p' /tmp/doctor)
  for property in $properties; do
    state=$(grep -A1 "\"property\": \"$property\"" /tmp/doctor | sed -n 's/^ *"state": "\([a-z]*\)",*$/\1/p')
    # A limit must be asked for to be held.
    some=$([ "$property" = limits ] && echo --memory=1G)
    run run $some --require "$property" -- true
    case "$state $code" in
      "enforced 0") say "$property is enforced, as doctor says" yes ;;
      "missing 120" | "partial 120") say "$property is refused, as doctor says" yes ;;
      *) say "$property is $state, as doctor says" no "exit code $code: $out" ;;
    esac
  done
}

# An ordinary user, as a session of its own.
cat >/bin/in_session <<'END'
#!/bin/sh
echo 0 >/sys/fs/cgroup/user/session/cgroup.procs
exec calls as 1000 "$@"
END
chmod 755 /bin/in_session

sleep 100000 &
host=$!
calls listen @of-the-host >/dev/null &
calls listen /tmp/of-the-host >/dev/null &
nc -l -p 7 -e true &
sleep 1
chmod 777 /tmp/of-the-host
cells=0
for namespaces in with without; do
  [ "$namespaces" = with ] || echo 0 >/proc/sys/user/max_user_namespaces
  for user in root ordinary; do
    cell="$user, $namespaces user namespaces"
    case "$user $namespaces" in
      "root with") id=0 as="" ;;
      "root without") id=0 as="calls bare" ;;
      *) id=1000 as="in_session" ;;
    esac
    prepare "$id"
    report
    files
    network_and_processes
    limits
  done
done
echo "1..$count"
echo "# $failed failed"
