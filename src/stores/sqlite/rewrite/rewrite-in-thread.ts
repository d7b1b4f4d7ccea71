import { once } from "node:events";
import { Worker } from "node:worker_threads";

import SQLite from "better-sqlite3";

import { AppError, type ErrorCode } from "../../../lib/app-error.ts";
import { ownModule } from "../../../lib/process/own-module.ts";

/** Result of the thread. `sqlite`: SQLite's error code. */
export type Rewritten =
  | { readonly done: true }
  | { readonly sqlite: { readonly code: string; readonly message: string } }
  | { readonly error: { readonly code: ErrorCode; readonly message: string; readonly fix: string | undefined } };

/** Like `rewriteFile`, in a thread with a separate connection: a large file takes seconds. */
export async function rewriteInThread(path: string): Promise<void> {
  const worker = new Worker(ownModule("rewrite-thread", import.meta), { workerData: path, env: {}, name: "rewrite" });
  const exited = Promise.withResolvers<void>();
  worker.once("exit", () => exited.resolve());
  const [said] = (await once(worker, "message")) as [Rewritten];
  await exited.promise;
  if ("sqlite" in said) throw new SQLite.SqliteError(said.sqlite.message, said.sqlite.code);
  if ("error" in said) {
    const { code, message, fix } = said.error;
    throw new AppError(code, message, { ...(fix !== undefined && { fix }), passing: true });
  }
}
