import type { Account } from "../../processes/message-schemas.ts";

/** `4915…:3@s.whatsapp.net` → `4915…` */
export function userOf(jid: string): string {
  return jid.slice(0, jid.search(/[:@]|$/));
}

/** True when this person is the account; devices of one account differ behind a colon. */
export function isSame({ pn, lid }: Account, person: string): boolean {
  const user = userOf(person);
  return user === userOf(pn) || (lid !== undefined && user === userOf(lid));
}

export function isGroupChat(chat: string): boolean {
  return chat.endsWith("@g.us");
}
