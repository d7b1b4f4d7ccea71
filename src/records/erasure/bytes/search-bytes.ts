import { fork } from "node:child_process";
import { once } from "node:events";

import { AppError } from "../../../lib/app-error.ts";
import { ownModule } from "../../../lib/process/own-module.ts";

/** Search: texts and place. */
export interface BytesSearch {
  readonly root: string;
  /** Paths that are left out. */
  readonly except: readonly string[];
  readonly texts: readonly string[];
}

/** Answer of the process. */
export interface BytesAnswer {
  readonly files: readonly string[];
}

const longestMs = 600_000;

/**
 * Files below `root` that hold one of these texts as bytes. A separate process opens them: closing a database file here
 * would lose all this process's locks on it, so that SQLite would take the databases for unused and remove their logs.
 */
export async function searchBytes(search: BytesSearch): Promise<readonly string[]> {
  if (search.texts.length === 0) return [];
  const child = fork(ownModule("bytes-worker", import.meta), [], {
    env: {},
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    timeout: longestMs,
    killSignal: "SIGKILL",
  });
  let answer: BytesAnswer | undefined;
  child.once("message", (message) => (answer = message as BytesAnswer));
  const exited = once(child, "exit");
  child.send(search, () => undefined);
  const [code, signal] = (await exited) as [number | null, string | null];
  if (answer) return answer.files;
  throw new AppError(
    "store_failed",
    `The search of ${search.root} for words that are left has ended by ${signal ?? code}.`,
    {
      fix: "erase once more: what was erased stays so",
      passing: true,
    },
  );
}
