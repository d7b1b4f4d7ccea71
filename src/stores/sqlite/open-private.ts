import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import SQLite from "better-sqlite3";

/**
 * A SQLite file, made with its folder where it is not there yet, that only its owner may read. SQLite alone opens it: a
 * process that closes a file loses all its locks on it, also those of other connections.
 */
export function openPrivate(path: string, timeout: number): SQLite.Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const connection = new SQLite(path, { timeout });
  try {
    // SQLite gives its log and shared-memory files the mode of the main file, so the mode is right before it makes
    // them.
    chmodSync(path, 0o600);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
