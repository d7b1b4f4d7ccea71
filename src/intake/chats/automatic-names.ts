import { isGroupName } from "../../domain/chats/group.ts";
import type { MemberId } from "../../domain/people/person.ts";
import type { Admissions } from "./admissions.ts";
import type { AutoRegisterOptions } from "./auto-register.ts";

/** Direct chats of people without a group: let in those in `people`, none, all, or by a code. */
export type DirectAccess = "allowlist" | "off" | "open" | "pairing";

export interface AutomaticNameOptions {
  /** True when all chats of this channel become groups, named by their ids. */
  readonly registersChats: (channel: string) => boolean;
  /** True when chats of this channel can ask to become groups. */
  readonly onboards: (channel: string) => boolean;
  /** The setting `access.dm`. */
  readonly dm: () => DirectAccess;
  /** True when the configuration names this person. */
  readonly isKnown: (who: MemberId) => boolean;
  readonly admissions: Pick<Admissions, "nameFor">;
}

/** Names the groups of chats that become groups automatically, by their channel or by `access.dm`. */
export function createAutomaticNames(options: AutomaticNameOptions): AutoRegisterOptions["nameOf"] {
  const { registersChats, onboards, dm, isKnown, admissions } = options;
  return async ({ channel, chat, chatTitle: title, sender, direct }) => {
    if (registersChats(channel)) return isGroupName(chat) ? chat : undefined;
    if (direct !== true || !onboards(channel)) return undefined;
    const isWelcome = dm() === "open" || (dm() !== "off" && isKnown({ channel, id: sender.id }));
    return isWelcome ? admissions.nameFor({ channel, chat, title, sender }) : undefined;
  };
}
