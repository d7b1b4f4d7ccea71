import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { commandLine, type CommandOptions, environmentOf } from "./crabpot.ts";

/** A command line in its own terminal, which can be closed. */
export interface TerminalRun {
  /** Closes the terminal, as a window or a connection is closed. Resolves with the exit code of the command. */
  close(): Promise<number>;
}

/**
 * With `hasLeft`, the command runs in its own session, so that no signal tells it what becomes of its terminal.
 */
export function startInTerminal(
  place: { readonly home: string; readonly variables?: Readonly<Record<string, string>>; readonly hasLeft?: boolean },
  ...args: string[]
): TerminalRun {
  const { home, variables = {}, hasLeft = false } = place;
  const code = join(home, "..", "exit-code");
  const command = `${hasLeft ? "setsid " : ""}'${commandLine}' ${args.join(" ")}`;
  // The shell outlives its terminal, to pass the signal on and to say how the command has ended.
  const line = `${command} </dev/tty & trap ${hasLeft ? "''" : "'kill -HUP $!'"} HUP
    while kill -0 $! 2>/dev/null; do wait $!; code=$?; done; echo $code >'${code}'`;
  const { PATH, DOCKER_HOST } = process.env;
  const engine = DOCKER_HOST === undefined ? {} : { DOCKER_HOST };
  const child = spawn("script", ["--quiet", "--command", line, "/dev/null"], {
    env: { PATH, SHELL: "/bin/sh", HOME: join(home, ".."), CRABPOT_HOME: home, ...engine, ...variables },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const exited = once(child, "exit");
  return {
    close: async () => {
      child.kill("SIGKILL");
      await exited;
      for (const end = performance.now() + 60_000; performance.now() < end;) {
        const text = await readFile(code, "utf8").catch(() => "");
        if (text.endsWith("\n")) return Number(text);
        await new Promise((next) => setTimeout(next, 20));
      }
      throw new Error("the command went on without its terminal");
    },
  };
}

/** Somebody at a terminal, in which a command runs. */
export interface Person extends AsyncDisposable {
  type(text: string): void;
  /** All that was written to the terminal so far, with what steers it. */
  seen(): string;
  /** The exit code, when the command has ended. */
  readonly ended: Promise<number | null>;
}

/** Runs the command line on a pseudo-terminal of this many columns. */
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
