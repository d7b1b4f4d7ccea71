import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";

/** Signals with which operators and services stop a process. */
const requests = ["SIGTERM", "SIGINT"] as const;
/** Nobody asks for an end in this way, but what they would end at once can as well end in good order. */
const accidents = ["SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** Stop requests of a long-running process. Disposing restores Node's own handling. */
export interface StopSignals extends Disposable {
  /**
   * Resolves at the first signal that ends the process, with the exit code of an orderly end: 0 only when it was asked
   * for.
   */
  readonly received: Promise<number>;
  /**
   * Counts as the first signal, if there was none yet: the wish to stop came in another way, such as a Ctrl-C that a
   * prompt reads.
   */
  readonly interrupt: () => void;
}

/**
 * Listens for every signal that would end the process and can be caught. The second one ends it at once, as if it had
 * been killed. With `hungUp`, SIGHUP is none of them and calls that, unless it comes because the terminal has been
 * closed.
 */
export function listenForSignals(hungUp?: () => void): StopSignals {
  const first = Promise.withResolvers<number>();
  const hasLostTerminal = watchTerminal();
  let count = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    count += 1;
    first.resolve(requests.some((request) => request === signal) ? 0 : exitCodeOf(signal));
    if (count > 1) process.exit(exitCodeOf(signal));
  };
  const onHangup = (): void => (hungUp && !hasLostTerminal() ? hungUp() : onSignal("SIGHUP"));
  const names = [...requests, ...accidents];
  for (const name of names) process.on(name, onSignal);
  process.on("SIGHUP", onHangup);
  return {
    received: first.promise,
    interrupt: () => {
      if (count === 0) onSignal("SIGINT");
    },
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
      process.off("SIGHUP", onHangup);
    },
  };
}

/** Exit code that shells use for a process ended by a signal. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/**
 * A process that has left its terminal (`setsid`, `nohup`) goes on when that is closed: it counts only while it is in
 * control.
 */
function watchTerminal(): () => boolean {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  const isControlled = terminals.length > 0 && hasControllingTerminal();
  return () => isControlled && !hasControllingTerminal();
}

function hasControllingTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

/** Ends the process in a moment, even if something that was left in the middle still waits. */
export function endSoon(): void {
  setTimeout(() => process.exit(130), lingerMs).unref();
}

const lingerMs = 2_000;
