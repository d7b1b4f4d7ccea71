import { parentPort, workerData } from "node:worker_threads";

import SQLite from "better-sqlite3";

import { AppError } from "../../../lib/app-error.ts";
import { rewriteFile } from "./rewrite-file.ts";
import type { Rewritten } from "./rewrite-in-thread.ts";

/* The thread that writes a store's file anew while the host goes on. */

/** Another program that only looks into the file is soon done. */
const busyTimeoutMs = 5_000;

function rewrite(path: string): Rewritten {
  try {
    using closing = new DisposableStack();
    const connection = new SQLite(path, { fileMustExist: true, timeout: busyTimeoutMs });
    closing.defer(() => connection.close());
    rewriteFile(connection, path);
    return { done: true };
  } catch (error) {
    if (error instanceof SQLite.SqliteError) return { sqlite: { code: error.code, message: error.message } };
    if (!(error instanceof AppError)) throw error;
    return { error: { code: error.code, message: error.message, fix: error.fix } };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(rewrite(workerData as string));
