import type { Session } from "../../domain/turns/session.ts";
import type { HotContainer } from "./hot-container.ts";
import type { FoundContainer } from "./launch.ts";
import type { Owner } from "./pool-options.ts";

/** The session has had a later container, or has been promised one: a new conversation counts as that. */
export function isOutdated(hot: Pick<HotContainer, "view">, { generation }: Pick<Session, "generation">): boolean {
  return hot.view().generation < generation;
}

/** Returns why a container of an earlier host cannot be taken over, as far as its labels tell. */
export function adoptionFault(
  { running, generation }: Pick<FoundContainer, "running" | "generation">,
  owner: Owner | undefined,
  isFull: boolean,
): string | undefined {
  if (!owner) return "its session or group does not exist anymore";
  if (!running) return "it had ended";
  // A new conversation counts as one, too.
  if (generation !== owner.session.generation) return "a newer one exists";
  if (owner.busy) return "a turn was using it when the host ended";
  return isFull ? "there are enough hot containers" : undefined;
}
