// E8: a person at a shell on a real terminal: stopping, resuming and ending a run, and what the command sees of the terminal.
import { expect, test } from "bun:test";
import { describeEachTier, type TierPlace } from "../support/each_tier.ts";
import { missingPrograms } from "../support/run_cordon.ts";
import { shellAtTerminal } from "../support/shell_terminal.ts";

const able = missingPrograms(["python3", "bash"]).length === 0;
if (!able) console.log("skipped: tests at a terminal, because python3 or bash is missing");

/** With nobody above the launcher, and with cordon above it. */
const WAYS: [string, string][] = [
  ["", ""],
  [" with a time limit", "--timeout 5m "],
];

describeEachTier((place) => {
  for (const [what, flags] of WAYS) {
    describeJobs(place, what, flags);
    describeStopFromAside(place, what, flags);
  }
  describeOwnStop(place);
  describeSight(place);
});

function describeJobs({ around }: TierPlace, what: string, flags: string): void {
  test.skipIf(!able)(`E8 Ctrl-Z gives the shell its prompt, fg resumes, Ctrl-C ends with 130${what}`, () => {
    const { shown, finished } = shellAtTerminal(around, [
      // The quotes keep the words that are waited for out of what the shell repeats.
      { after: "READY> ", type: `$CORDON run ${flags}-- sh -c 'echo be""gun; sleep 86400'\n` },
      { after: "begun", type: "\x1a" },
      { after: "Stopped", type: "" },
      { after: "READY> ", type: "fg\n" },
      { after: "sleep 86400", type: "\x03" },
      { after: "READY> ", type: "echo code=$?; exit\n" },
      { after: "code=130", type: "" },
    ]);
    expect({ finished, shown }).toMatchObject({ finished: true });
  });
  test.skipIf(!able)(`E8 a run goes on where it was after Ctrl-Z and bg, and ends by itself${what}`, () => {
    const script = 'echo be""gun; read line < fifo; echo got $line; exit 7';
    const { shown, finished } = shellAtTerminal(around, [
      { after: "READY> ", type: `rm -f fifo; mkfifo fifo; $CORDON run ${flags}-- sh -c '${script}'\n` },
      { after: "begun", type: "\x1a" },
      { after: "Stopped", type: "" },
      { after: "READY> ", type: "bg\n" },
      { after: "READY> ", type: "echo wo''rd > fifo\n" },
      { after: "got word", type: "wait %1; echo code=$?; rm fifo; exit\n" },
      { after: "code=7", type: "" },
    ]);
    expect({ finished, shown }).toMatchObject({ finished: true });
  });
}

function describeOwnStop({ around }: TierPlace): void {
  for (const signal of ["STOP", "TSTP"]) {
    test.skipIf(!able)(
      `E8 a command that stops itself by SIG${signal} gives the shell its prompt, and fg resumes it`,
      () => {
        const { shown, finished } = shellAtTerminal(around, [
          {
            after: "READY> ",
            type: `$CORDON run -- sh -c 'echo be""gun; kill -${signal} $$; echo resu""med; exit 5'\n`,
          },
          { after: "begun", type: "" },
          { after: "Stopped", type: "" },
          { after: "READY> ", type: "fg\n" },
          { after: "resumed", type: "" },
          { after: "READY> ", type: "echo code=$?; exit\n" },
          { after: "code=5", type: "" },
        ]);
        expect({ finished, shown }).toMatchObject({ finished: true });
      },
    );
  }
}

function describeStopFromAside({ around }: TierPlace, what: string, flags: string): void {
  test.skipIf(!able)(`E8 kill -TSTP stops the command too, and kill -CONT lets it go on${what}`, () => {
    const script = "while :; do echo tick >> ticks; sleep 0.05; done";
    const { shown, finished } = shellAtTerminal(around, [
      { after: "READY> ", type: `rm -f ticks; $CORDON run ${flags}-- sh -c '${script}' &\n` },
      {
        after: "READY> ",
        type: "until [ -s ticks ]; do sleep 0.1; done; kill -TSTP $!; sleep 0.5; a=$(wc -l < ticks)\n",
      },
      { after: "READY> ", type: 'sleep 0.6; b=$(wc -l < ticks); test $a = $b && echo sta""nds\n' },
      { after: "stands", type: "" },
      { after: "READY> ", type: 'kill -CONT $!; sleep 0.6; test $(wc -l < ticks) -gt $b && echo go""es on\n' },
      { after: "goes on", type: "kill %1; wait %1; echo code=$?; rm ticks; exit\n" },
      { after: "code=143", type: "" },
    ]);
    expect({ finished, shown }).toMatchObject({ finished: true });
  });
}

function describeSight({ around }: TierPlace): void {
  test.skipIf(!able)("E8 the command has the terminal: isatty, /dev/tty, its size, and word when that changes", () => {
    // Each word is broken where the shell repeats it.
    const script = [
      'test -t 0 && test -t 1 && test -t 2 && echo is""atty',
      'echo thr""ough > /dev/tty',
      "stty size",
      'trap "stty size; exit 4" WINCH',
      'echo wai""ting; while :; do sleep 0.05; done',
    ].join("; ");
    const { shown, finished } = shellAtTerminal(around, [
      { after: "READY> ", type: `$CORDON run -- bash -c '${script}'\n` },
      { after: "isatty", type: "" },
      { after: "through", type: "" },
      { after: "24 80", type: "" },
      { after: "waiting", type: "", resize: [33, 99] },
      { after: "33 99", type: "" },
      { after: "READY> ", type: "echo code=$?; exit\n" },
      { after: "code=4", type: "" },
    ]);
    expect({ finished, shown }).toMatchObject({ finished: true });
  });
}
