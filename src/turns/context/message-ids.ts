/** Returns a message's number for the model. */
export type MessageIds = (seq: number) => string;

/**
 * Numbers for messages that say nothing about the messages of other groups: the store counts all groups' together, so
 * its own numbers would tell a group how much is said in the others. Up to 15 digits of a keyed hash, the same each
 * time.
 */
export function createMessageIds(fingerprint: (text: string) => { readonly sha256: string }): MessageIds {
  return (seq) => String(Number.parseInt(fingerprint(`message ${seq}`).sha256.slice(0, 12), 16));
}
