import type { Role } from "./role.ts";

/** A member by the channel's stable id. The same id on another channel is another person. */
export interface MemberId {
  readonly channel: string;
  readonly id: string;
}

/** Somebody whom the operator knows. `ids` are all of theirs, as `memberKey` writes them. */
export interface Person {
  /** In the configuration; not what others see. */
  readonly name: string;
  readonly ids: readonly string[];
  readonly role: Role | undefined;
}

/** Roles in a group by `memberKey`; `default` for those who are not named. */
export interface Members {
  /** Setting that names the member: `groups.family.members`. */
  readonly place: string;
  readonly default: Role | undefined;
  readonly byKey: Readonly<Record<string, Role>>;
}

/** `{ channel: "http", id: "ann" }` → `http:ann`. No two ids give the same: names of channels have no colon. */
export function memberKey({ channel, id }: MemberId): string {
  return `${channel}:${id}`;
}

/** The other way round; undefined for a text that is no such key. */
export function parseMemberKey(key: string): MemberId | undefined {
  const colon = key.indexOf(":");
  const [channel, id] = [key.slice(0, colon), key.slice(colon + 1)];
  return colon > 0 && id !== "" ? { channel, id } : undefined;
}
