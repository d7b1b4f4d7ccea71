import { isatty } from "node:tty";

import { describeWarning, type LoadedConfig } from "../../config/loading/load.ts";
import { exitCodeOf, type StopSignals } from "../../lib/process/listen-for-signals.ts";
import { visible } from "../../lib/text/visible.ts";

/** Time for running turns to end after a stop request. */
const drainMs = 10_000;

/** A host that runs in this process. */
export interface HostInProcess {
  /** Resolves when the input of all channels that have an end has ended. */
  readonly inputEnded: Promise<void>;
  /** Resolves when the operator requests a stop. */
  readonly stopAsked: Promise<void>;
  /** Resolves when nothing waits, runs or has to be sent. */
  settled(): Promise<void>;
  /** Groups in which a turn runs. */
  atWork(): readonly string[];
  /** Lets running turns end until the signal aborts, then closes everything. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Says on the error stream what reading the configuration has found. */
export function announce({ announcements, warnings }: LoadedConfig): void {
  for (const line of [...announcements, ...warnings.map((warning) => visible(describeWarning(warning)))]) {
    process.stderr.write(`crabpot: ${line}\n`);
  }
}

/** Tells a program that writes lines, also by the exit code returned, that some were refused. */
export function tellRefused(lines: number): number {
  process.stderr.write(`crabpot: ${lines === 1 ? "1 line was" : `${lines} lines were`} refused, see above.\n`);
  return 1;
}

/** Waits until the host is to end, and stops it. Returns the exit code. */
export async function runToTheEnd(host: HostInProcess, interactive: boolean, signals: StopSignals): Promise<number> {
  try {
    return await waitForTheEnd(host, interactive, signals);
  } finally {
    tellRunningTurns(host.atWork());
    await stopWithin(drainMs, host);
  }
}

async function stopWithin(limitMs: number, host: HostInProcess): Promise<void> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), limitMs);
  await host.stop(deadline.signal).finally(() => clearTimeout(timer));
}

async function waitForTheEnd(host: HostInProcess, interactive: boolean, signals: StopSignals): Promise<number> {
  const answered = async (): Promise<number> => {
    await host.inputEnded;
    if (!interactive) await host.settled();
    else if (hasLostTerminal(interactive)) return exitCodeOf("SIGHUP");
    // After Ctrl-D at the prompt one Ctrl-C is enough.
    else signals.interrupt();
    return 0;
  };
  return Promise.race([signals.received, answered(), host.stopAsked.then(() => 0)]);
}

/**
 * True when the terminal is closed. Its signal may come later, or never, when it is not the one that controls this
 * process.
 */
export function hasLostTerminal(hadTerminal: boolean): boolean {
  return hadTerminal && !isatty(process.stdin.fd);
}

/** Tells the person at the console why the host does not end yet. */
function tellRunningTurns(groups: readonly string[]): void {
  if (groups.length === 0 || !process.stderr.isTTY) return;
  const turns = groups.length === 1 ? "the turn in group" : "the turns in groups";
  process.stderr.write(
    `crabpot: waiting for ${turns} ${groups.join(", ")} to end; press Ctrl-C again to end now. Unfinished work resumes at the next start.\n`,
  );
}
