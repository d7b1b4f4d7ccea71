/**
 * Who did what an audit record tells of: a part of crabpot by its one word, everybody else by kind and id. No id that
 * somebody may choose can pass for the host or the operator.
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
