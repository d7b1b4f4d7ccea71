import type { Approval, Decider } from "../../domain/rights/approval.ts";
import { memberActor } from "../../domain/people/actor.ts";
import type { Sender } from "../../domain/chats/message.ts";
import { memberKey } from "../../domain/people/person.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import { cutInput } from "./card.ts";

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

/** Refuses approval of input that was not fully shown. */
export function lengthFault(approval: Approval): string | undefined {
  if (cutInput(approval).isWhole) return undefined;
  return `${approval.code} is too long to be shown here, so it is not allowed here: ${ownCommand(`approvals show ${approval.code}`)}`;
}
