import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import SQLite from "better-sqlite3";

/**
 * Opens a private SQLite file, creating it with its folder if missing. Only SQLite opens it: closing a file descriptor
 * would lose all this process's locks on it.
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
