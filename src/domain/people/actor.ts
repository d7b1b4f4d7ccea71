/**
 * The author of an audited act: a part of crabpot by one word, anyone else by kind and id. No freely chosen id can pass
 * for the host or the operator.
 */
export type Actor = "host" | "operator" | "model" | "agent" | `member:${string}` | `address:${string}`;

/** A member of a chat, by the channel's stable id. */
export function memberActor(id: string): Actor {
  return `member:${id}`;
}

/** Whoever sent a request from this network address. */
export function addressActor(address: string): Actor {
  return `address:${address}`;
}
