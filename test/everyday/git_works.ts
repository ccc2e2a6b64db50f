import type { Work } from "./works.ts";

const repository = "committed" as const;
const needs = ["git"];

/** What people do with git in a repository. */
export const GIT_WORKS: readonly Work[] = [
  {
    name: "git status is clean",
    needs,
    repository,
    script: "git status --porcelain && echo clean",
    prints: /^clean\n$/,
  },
  {
    name: "git add and commit",
    needs,
    repository,
    script: "echo new > new.txt && git add . && git commit -q -m 'Add new' && git log --format=%s",
    prints: /^Add new\nStart\n$/,
  },
  {
    name: "git commit --amend, revert, reset",
    needs,
    repository,
    script: `echo a > a && git add a && git commit -q -m A && git commit -q --amend -m B && git revert --no-edit HEAD > /dev/null
git reset -q --hard HEAD~1 && git log -1 --format=%s && git status --porcelain`,
    prints: /^B\n$/,
  },
  {
    name: "git stash",
    needs,
    repository,
    script: `echo more >> README.md && echo untracked > u && git stash -q -u && git status --porcelain && git stash pop -q
git status --porcelain`,
    prints: /^ M README\.md\n\?\? u\n$/,
  },
  {
    name: "git branch, merge and rebase",
    needs,
    repository,
    script: `git checkout -q -b topic && echo t > t && git add t && git commit -q -m Topic && git checkout -q main
echo m > m && git add m && git commit -q -m Main && git rebase -q main topic && git checkout -q main
git merge -q --no-ff -m Merge topic && git tag v1 && git branch -d topic -q && git log --topo-order --format=%s`,
    prints: /^Merge\nTopic\nMain\nStart\n$/,
  },
  {
    name: "git worktree add",
    needs,
    repository,
    script: `git worktree add -q -b side trees/side && cd trees/side && echo s > s && git add s && git commit -q -m Side
cd ../.. && git log -1 --format=%s side && git worktree remove trees/side && git worktree list | wc -l`,
    prints: /^Side\n1\n$/,
  },
  {
    name: "git init of a new repository",
    needs,
    repository,
    script: `git init -q -b main fresh && cd fresh && echo x > x && git add x
git -c user.name=A -c user.email=a@example.org commit -q -m First && git log --format=%s`,
    prints: /^First\n$/,
  },
  {
    name: "git clone of a local path",
    needs,
    repository,
    script: "git clone -q . copies/one && git -C copies/one log --format=%s && git -C copies/one status --porcelain",
    prints: /^Start\n$/,
  },
  {
    name: "git clone, commit, fetch",
    needs,
    repository,
    script: `git clone -q --no-local . copy && echo z > z && git add z && git commit -q -m Next
git -C copy fetch -q && git -C copy merge -q --ff-only origin/main && git -C copy log -1 --format=%s`,
    prints: /^Next\n$/,
  },
  { name: "git gc", needs, repository, script: "git gc -q && git fsck && echo ok", prints: /ok\n$/ },
  {
    name: "git apply and format-patch",
    needs,
    repository,
    script: `echo more >> README.md && git diff > change.patch && git checkout -q README.md && git apply change.patch
git commit -q -a -m Change && git format-patch -1 -o out && git reset -q --hard HEAD~1 && git am -q out/*.patch
git log -1 --format=%s`,
    prints: /Change\n$/,
  },
  {
    name: "git bisect run",
    needs,
    repository,
    script: `for n in 1 2 3 4; do echo $n > n; git add n; git commit -q -m n$n; done
git bisect start HEAD HEAD~4 > /dev/null && git bisect run sh -c 'test $(cat n 2>/dev/null || echo 0) -lt 3' > log
grep -c 'is the first bad commit' log && git bisect reset -q && git status --porcelain | grep -v log || true`,
    prints: /^1\n/,
  },
];
