import type { Group } from "../../domain/chats/group.ts";
import type { Place } from "../../domain/sandbox/place.ts";
import { draftFor } from "../../turns/drafts.ts";
import type { AppContext } from "../context.ts";
import type { Images } from "./images.ts";

/**
 * Resolves when a turn of the group may begin, as far as that hangs on its image: false when the signal has aborted. A
 * turn that waits leaves its place to others.
 */
export type UntilImage = (group: Group, signal: AbortSignal, place: Pick<Place, "leave" | "claim">) => Promise<boolean>;

const notice = "The packages of this group are being installed. I answer as soon as that is done.";

/** Lets the first turns of a group wait for its first image, and says so once in its chat. */
export function createUntilImage(
  { store, clock }: Pick<AppContext, "store" | "clock">,
  { images, deliver }: { readonly images: Pick<Images, "ready">; readonly deliver: () => void },
): UntilImage {
  const waiting = new Set<string>();
  const begin = async (group: Group, place: Pick<Place, "leave">): Promise<void> => {
    place.leave();
    if (waiting.has(group.name)) return;
    waiting.add(group.name);
    const said = { kind: "notice", text: notice, inReplyTo: [], turn: undefined } as const;
    await store.outbox.add(draftFor(group, said), clock.now());
    deliver();
  };
  return async (group, signal, place) => {
    const hasWaited = await images.ready(group.name, signal, () => begin(group, place));
    if (!hasWaited || signal.aborted) return !signal.aborted;
    waiting.delete(group.name);
    await place.claim(signal);
    return true;
  };
}
