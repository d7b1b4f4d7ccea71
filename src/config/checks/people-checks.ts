import { parseMemberKey } from "../../domain/people/person.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { type Adapters, canonicalKey, senderFault } from "../adapters.ts";
import { type ConfigFault, formatPath } from "../faults.ts";
import type { Config } from "../schema/config.ts";
import { missing } from "./missing.ts";

type Path = readonly (string | number)[];

/** Finds impossible ids, and ids that belong to two people. */
export function checkPeople({ people, members, access, groups }: Config, adapters: Adapters): ConfigFault[] {
  const ids = Object.entries(people).flatMap(([name, person]) =>
    person.ids.map((key, index) => ({ key, path: ["people", name, "ids", index] as Path, name })),
  );
  const inMembers = [
    { path: ["members"], byKey: members },
    ...Object.entries(groups).map(([name, group]) => ({ path: ["groups", name, "members"], byKey: group.members })),
  ];
  const inDeny = [
    { path: ["access", "deny"], keys: access.deny },
    ...Object.entries(groups).map(([name, group]) => ({
      path: ["groups", name, "access", "deny"],
      keys: group.access?.deny ?? [],
    })),
  ];
  return [
    ...ids.flatMap(({ key, path }) => checkKey(adapters, path, key)),
    ...checkTwice(adapters, ids),
    ...inMembers.flatMap(({ path, byKey = {} }) => checkMembers(adapters, path, Object.keys(byKey))),
    ...inDeny.flatMap(({ path, keys }) => keys.flatMap((key, index) => checkKey(adapters, [...path, index], key))),
  ];
}

/** Finds ids listed twice, whose rights would be ambiguous. */
function checkTwice(
  adapters: Adapters,
  ids: readonly { readonly key: string; readonly path: Path; readonly name: string }[],
): ConfigFault[] {
  return ids.flatMap(({ key, path, name }, index) => {
    const own = canonicalKey(adapters, key);
    const first = ids.slice(0, index).find((earlier) => canonicalKey(adapters, earlier.key) === own);
    if (!first) return [];
    const owner = first.name === name ? "is there twice" : `already belongs to ${first.name}`;
    return [{ path: formatPath(path), detail: `"${key}" ${owner}` }];
  });
}

/** Finds two spellings of one id, whose role would be ambiguous. */
function checkMembers(adapters: Adapters, path: Path, keys: readonly string[]): ConfigFault[] {
  const named = keys.filter((key) => key !== "default");
  return named.flatMap((key, index) => {
    const own = canonicalKey(adapters, key);
    const first = named.slice(0, index).find((earlier) => canonicalKey(adapters, earlier) === own);
    if (first === undefined) return checkMember(adapters, [...path, key], key);
    return [{ path: formatPath([...path, key]), detail: `"${key}" is the same as "${first}"` }];
  });
}

function checkMember(adapters: Adapters, path: Path, key: string): ConfigFault[] {
  const isMeant = !key.includes(":") && nearest(key, ["default"]) !== undefined;
  if (isMeant) return [{ path: formatPath(path), detail: "unknown key; did you mean default?" }];
  return checkKey(adapters, path, key);
}

function checkKey(adapters: Adapters, path: Path, key: string): ConfigFault[] {
  const who = parseMemberKey(key);
  const fault = (detail: string): ConfigFault[] => [{ path: formatPath(path), detail }];
  if (!who) return fault(`"${key}" is no id; write "<channel>:<id>", as /whoami says it`);
  const channels = adapters.channels.map(({ name }) => name);
  if (!channels.includes(who.channel)) return [missing(path, "channel", who.channel, channels)];
  const isFaulty = senderFault(adapters, who);
  return isFaulty === undefined ? [] : fault(`"${who.id}" ${isFaulty}`);
}
