import type { Sender } from "../../domain/chats/message.ts";
import { withoutLeadingMention } from "../../intake/addressing/mention.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import type { SetAside } from "../../stores/contract/store.ts";

/** Messages that are named; the others are counted. */
const mostNamed = 3;

/** Reason of a turn stopped by this member. */
export function stoppedBy({ name }: Pick<Sender, "name">): string {
  return `Stopped by ${quotedName(name)}.`;
}

/** Describes what a member stopped and dropped, and whose messages these were; empty when nothing. */
export function describeSetAside(found: SetAside, by: Sender, assistantName: string): string {
  const { turns, waiting, work } = found;
  if (turns.length + waiting.length + work.length === 0) return "";
  const dropped = [
    ...(waiting.length > 0 ? [describeDropped(waiting, assistantName)] : []),
    ...(work.length > 0 ? ["Other due work was dropped."] : []),
  ];
  return [stoppedBy(by), ...dropped].join(" ");
}

/** Describes whose waiting messages were dropped. */
export function describeDropped(waiting: SetAside["waiting"], assistantName: string): string {
  const named = waiting.slice(0, mostNamed).map(({ sender, text }) => {
    const said = quotedName(withoutLeadingMention(text, assistantName), "without words");
    return `${said} of ${quotedName(sender.name)}`;
  });
  if (waiting.length === 1) return `The waiting message ${named.join("")} was dropped.`;
  const more = waiting.length > mostNamed ? [`${waiting.length - mostNamed} more`] : [];
  return `${waiting.length} waiting messages were dropped: ${[...named, ...more].join(", ")}.`;
}
