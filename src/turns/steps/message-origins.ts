import type { Group } from "../../domain/chats/group.ts";
import type { StoredMessage, StoredQuote } from "../../domain/chats/message.ts";
import type { Origin } from "../../domain/people/origin.ts";
import { memberKey } from "../../domain/people/person.ts";
import { type Lineage, lineageOfPeople } from "../../domain/rights/lineage.ts";
import { type SourcedPiece, sourcedPiece } from "../../domain/rights/sourced.ts";
import { renderMessages } from "../context/render-messages.ts";
import type { RoleOf } from "../../rights/people/roles.ts";

/**
 * Messages as the model sees them, with the origins of senders, of quoted and forwarded people, and of pictures, also
 * where only captions are shown. The first author of forwarded words, and of a quote that nobody is known to have said,
 * is unknown.
 */
export function sayMessages(
  roleOf: RoleOf,
  group: Pick<Group, "name" | "main">,
  shown: Parameters<typeof renderMessages>[0],
): readonly SourcedPiece[] {
  // A string says why nothing is shown of a picture.
  const areSeen = shown.images?.values().some((image) => typeof image !== "string") === true;
  const origins = new Set<Origin>(areSeen ? ["file"] : []);
  for (const { channel, sender, quote, forwarded } of shown.messages) {
    origins.add(roleOf(group, { channel, id: sender.id }));
    if (forwarded === true) origins.add("guest");
    for (const origin of originsOfQuote(quote, (id) => roleOf(group, { channel, id }))) origins.add(origin);
  }
  return renderMessages(shown).map((part) => sourcedPiece(part, { origins: [...origins], folders: [] }));
}

function originsOfQuote(quote: StoredQuote | undefined, roleOf: (sender: string) => Origin): readonly Origin[] {
  if (quote?.text === undefined) return [];
  if (quote.author === "agent") return quote.origins ?? [];
  return [quote.author === undefined ? "guest" : roleOf(quote.author.id)];
}

/** Lineage of a turn that answers these messages: everybody who sent one, with the role that they have now. */
export function lineageOfMessages(
  roleOf: RoleOf,
  group: Pick<Group, "name" | "main">,
  answered: readonly Pick<StoredMessage, "channel" | "sender">[],
): Lineage {
  const senders = answered.map(({ channel, sender }) => memberKey({ channel, id: sender.id }));
  return lineageOfPeople([...new Set(senders)], (who) => roleOf(group, who));
}
