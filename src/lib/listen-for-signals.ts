import { closeSync, openSync } from "node:fs";

/** Signals that tell the process to stop. */
export interface StopSignals extends Disposable {
  readonly received: Promise<void>;
  /** Counts as the first signal, if there was none yet: the wish to stop came in another way, such as a Ctrl-C that a prompt reads. */
  readonly interrupt: () => void;
}

/**
 * The first signal resolves `received`; the second one ends the process at once, as if it had been killed. With `hungUp`,
 * SIGHUP is none of them and calls that, unless it comes because the terminal of this process has been closed.
 */
export function listenForSignals(hungUp?: () => void): StopSignals {
  const first = Promise.withResolvers<void>();
  let count = 0;
  const onSignal = (): void => {
    count += 1;
    first.resolve();
    if (count > 1) process.exit(130);
  };
  const names = ["SIGTERM", "SIGINT"] as const;
  for (const name of names) process.on(name, onSignal);
  const onHangup = (): void => (hungUp && !hasLostTerminal() ? hungUp() : onSignal());
  process.on("SIGHUP", onHangup);
  return {
    received: first.promise,
    interrupt: () => {
      if (count === 0) onSignal();
    },
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
      process.off("SIGHUP", onHangup);
    },
  };
}

function hasLostTerminal(): boolean {
  const { stdin, stdout, stderr } = process;
  if (![stdin, stdout, stderr].some(({ isTTY }) => isTTY)) return false;
  try {
    closeSync(openSync("/dev/tty", "r"));
    return false;
  } catch {
    return true;
  }
}

/** Ends the process in a moment, even if something that was left in the middle still waits. */
export function endSoon(): void {
  setTimeout(() => process.exit(130), lingerMs).unref();
}

const lingerMs = 2_000;
