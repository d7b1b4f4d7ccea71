import { spawn } from "node:child_process";
import { once } from "node:events";

import { commandLine, type CommandOptions, environmentOf } from "./crabpot.ts";

/** Somebody at a terminal, in which a command runs. */
export interface Person extends AsyncDisposable {
  type(text: string): void;
  /** All that was written to the terminal so far, with what steers it. */
  seen(): string;
  /** The exit code, when the command has ended. */
  readonly ended: Promise<number | null>;
}

/** Runs the command line on a pseudo-terminal of so many columns. */
export function atTerminal(options: CommandOptions, columns: number, ...args: string[]): Person {
  const command = `stty cols ${columns} rows 24; exec ${[commandLine, ...args].join(" ")}`;
  // It gives the command a terminal whatever it has itself, and ends with its exit code.
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
    env: { ...environmentOf(options), SHELL: "/bin/sh", TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  let seen = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (seen += chunk));
  return {
    type: (text) => void child.stdin.write(text),
    seen: () => seen,
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
}
