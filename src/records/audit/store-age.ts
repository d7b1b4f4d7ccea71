/** A store's knowledge of the log. */
export interface StoreMemory {
  /** Last record that the store knows; 0: none. */
  readonly seq: number;
  /** Undefined for a store that no host has used that tells it before it signs. */
  readonly signed: number | undefined;
}

/** Maximum records unknown to the store after a crash of an older host, which signed first. */
const untoldOnce = 1_024;

/**
 * True when the store is older than the log: restored or lost. `covered`: the last signed record. A host signs only
 * what the store has on disk, so crashes and power loss cannot cause this.
 */
export function isStoreOlder({ seq, signed }: StoreMemory, covered: number): boolean {
  const mayLack = seq > 0 && signed === undefined ? untoldOnce : 0;
  return seq + mayLack < covered;
}
