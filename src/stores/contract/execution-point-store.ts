import type { ExecutionPointChange } from "../../domain/sandbox/mount.ts";

/** What became of execution points in a group's mounts, by the turn after which it was found. */
export interface ExecutionPointStore {
  add(turn: string, changes: readonly ExecutionPointChange[], at: number): Promise<void>;
  /** In the order in which they were found. */
  ofTurn(turn: string): Promise<(ExecutionPointChange & { readonly at: number })[]>;
}
