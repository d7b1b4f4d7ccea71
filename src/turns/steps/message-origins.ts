import type { Group } from "../../domain/chats/group.ts";
import type { StoredMessage } from "../../domain/chats/message.ts";
import type { Exposure, Origin } from "../../domain/people/origin.ts";
import type { RoleOf } from "../../rights/people/roles.ts";

/**
 * Exposure of a model by these messages: words of senders, of quoted and forwarded people, and pictures. The first
 * author of forwarded words is unknown.
 */
export function exposureToMessages(
  roleOf: RoleOf,
  group: Pick<Group, "name" | "main">,
  shown: { readonly messages: readonly StoredMessage[]; readonly hasImages: boolean },
): Exposure {
  const origins = new Set<Origin>(shown.hasImages ? ["file"] : []);
  for (const { channel, sender, quote, forwarded } of shown.messages) {
    origins.add(roleOf(group, { channel, id: sender.id }));
    if (forwarded === true) origins.add("guest");
    if (quote?.text !== undefined && quote.toAgent !== true)
      origins.add(quote.author === undefined ? "guest" : roleOf(group, { channel, id: quote.author }));
  }
  return { origins: [...origins], readsFolder: false, writesFolder: false };
}
