import type { Approval, Decider } from "../../domain/rights/approval.ts";
import { memberActor } from "../../domain/people/actor.ts";
import type { Sender } from "../../domain/chats/message.ts";
import { memberKey } from "../../domain/people/person.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { plainSentence, quotedName } from "../../lib/text/plain-words.ts";
import { chooseChanges, reviewOf } from "../../domain/rights/review.ts";
import { shorten, visible } from "../../lib/text/visible.ts";
import { cutInput } from "./card.ts";
import { isShownWhole } from "./reviews/review-card.ts";

/** An answering person and their role in the chat. */
export interface Answering {
  readonly channel: string;
  readonly sender: Sender;
  readonly role: Role;
  /** Name of the person in the configuration. */
  readonly person: string | undefined;
  /** All keys of theirs. */
  readonly keys: readonly string[];
}

/** The answering person, for counting, records and messages. */
export function deciderOf({ channel, sender, role, person, keys }: Answering): Decider {
  return {
    person: person === undefined ? memberKey({ channel, id: sender.id }) : `person:${person}`,
    alsoAs: keys,
    actor: memberActor(sender.id),
    name: quotedName(sender.name),
    role,
  };
}

/**
 * Returns why somebody may not answer; undefined when they may. A server's question may also be answered by the person
 * that it is for.
 */
export function roleFault(
  { code, about, asker }: Pick<Approval, "code" | "about" | "asker">,
  { role, keys }: Pick<Answering, "role" | "keys">,
  needed: Role,
): string | undefined {
  if (isAtLeast(role, needed)) return undefined;
  if (about === "form") {
    if (keys.includes(asker.id)) return undefined;
    return `Only ${quotedName(asker.name)} or ${needed}s can answer ${code}.`;
  }
  const article = role === "admin" || role === "owner" ? "an" : "a";
  return `${code} is for ${needed}s to answer, and you are ${article} ${role} here. /whoami explains why.`;
}

/** Refuses a bare yes to a form. */
export function formFault({ code, about }: Pick<Approval, "code" | "about">): string | undefined {
  return about === "form"
    ? `${code} asks for values: reply to it, write /answer ${code} name=value … there, or: ${ownCommand(`approvals answer ${code} name=value …`)}`
    : undefined;
}

/** Refuses paths that are none of a review's, and paths for anything else. */
export function pathFault(
  { code, about, input }: Pick<Approval, "code" | "about" | "input">,
  paths: readonly string[] | undefined,
): string | undefined {
  if (paths === undefined || paths.length === 0) return undefined;
  if (about !== "review") return `${code} is not about files: it is answered as a whole.`;
  const { unknown } = chooseChanges(reviewOf({ input }).changes, paths);
  if (unknown.length === 0) return undefined;
  const named = unknown.slice(0, 5).map((path) => shorten(plainSentence(visible(path)), 100));
  return `Nothing that waits in ${code} has the path ${named.join(", ")}. Paths are those of the card.`;
}

/** Refuses approval of input that was not fully shown. */
export function lengthFault(approval: Approval): string | undefined {
  if (approval.about === "review") {
    if (isShownWhole(approval)) return undefined;
    const { code, group } = approval;
    const whole = ownCommand(`mounts diff ${group} ${reviewOf(approval).target}`);
    return `Not all of ${code} was shown here: ${whole} shows it. To apply it all the same: /apply ${code}`;
  }
  if (cutInput(approval).isWhole) return undefined;
  return `${approval.code} is too long to be shown here, so it is not allowed here: ${ownCommand(`approvals show ${approval.code}`)}`;
}
