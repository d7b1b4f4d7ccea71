import { type Group, unknownGroup } from "../../domain/chats/group.ts";

/** Throws `not_found` with the known groups. */
export function requireGroup<Known extends Pick<Group, "name">>(groups: readonly Known[], name: string): Known {
  const found = groups.find((group) => group.name === name);
  if (found) return found;
  throw unknownGroup(
    name,
    groups.map((group) => group.name),
  );
}
