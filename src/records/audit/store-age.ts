/** What a store knows of the log that lies beside it. */
export interface StoreMemory {
  /** Last record that it was told of; 0: none. */
  readonly seq: number;
  /** Undefined for a store that no host has used that tells it before it signs. */
  readonly signed: number | undefined;
}

/** Hosts of before signed first and told a moment later: a crash in between left so many records untold at the most. */
const untoldOnce = 1_024;

/**
 * Is the store older than the log, because it was put back or lost? `covered`: the last record that a checkpoint signs.
 * A host signs a record only when the store has it on the disk, so no crash and no loss of power leaves a store that
 * remembers less than what is signed.
 */
export function isStoreOlder({ seq, signed }: StoreMemory, covered: number): boolean {
  const mayLack = seq > 0 && signed === undefined ? untoldOnce : 0;
  return seq + mayLack < covered;
}
