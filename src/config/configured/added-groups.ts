import type { StoredGroup } from "../../domain/chats/group.ts";
import { checkBudgets } from "../checks/budget-checks.ts";
import { crossCheck } from "../checks/cross-checks.ts";
import type { EnvironmentVariables } from "../environment.ts";
import { type ConfigFault, describeIssues } from "../faults.ts";
import { deepFreeze, type LoadedConfig, parseWithVariables } from "../loading/load.ts";
import { secretsOf, unreplacedSecrets } from "../loading/secrets.ts";
import { substitute } from "../loading/substitute.ts";
import type { Config } from "../schema/config.ts";
import { configSchema } from "../schema/config.ts";
import { configJsonSchema } from "../schema/json-schema.ts";

/** A configuration in which groups that were added at run time stand beside those of config.yaml. */
export interface WithAddedGroups {
  readonly config: Config;
  /** Those that have an entry in it. One that says only who is to be answered needs none. */
  readonly added: ReadonlySet<string>;
  /** Values that must never appear in a log. */
  readonly secrets: readonly string[];
  /** Groups that say what cannot be used with this configuration, and why. They are not in it. */
  readonly refused: ReadonlyMap<string, readonly ConfigFault[]>;
}

type Base = Pick<LoadedConfig, "config" | "adapters">;

/** Adds stored groups' settings to a valid config.yaml, judged by the same schema and checks. */
export function withAddedGroups(
  base: Base,
  stored: readonly StoredGroup[],
  variables: EnvironmentVariables,
): WithAddedGroups {
  const free = stored.filter((group) => saysMore(group) && hasRoom(base.config, group));
  const refused = new Map<string, readonly ConfigFault[]>();
  const together = judge(base, free, variables);
  const first = together.faults.length === 0 ? free : free.filter((group) => !refuse(base, group, variables, refused));
  // What each of them may say alone, two of them may not say together; the ones that came later give way.
  let used = together;
  for (const group of first.toReversed()) {
    if (used.faults.length === 0) break;
    const rest = first.filter(({ name }) => !refused.has(name));
    used = judge(base, rest, variables);
    if (used.faults.length > 0) refused.set(group.name, used.faults);
  }
  if (used.faults.length > 0)
    used = judge(
      base,
      first.filter(({ name }) => !refused.has(name)),
      variables,
    );
  const { config, names } = used;
  return { config, added: names, secrets: secretsOf(config, base.adapters).map(({ value }) => value), refused };
}

function refuse(
  base: Base,
  group: StoredGroup,
  variables: EnvironmentVariables,
  refused: Map<string, readonly ConfigFault[]>,
): boolean {
  const { faults } = judge(base, [group], variables);
  if (faults.length > 0) refused.set(group.name, faults);
  return faults.length > 0;
}

function saysMore({ settings }: StoredGroup): boolean {
  return Object.keys(settings).some((key) => key !== "trigger" && key !== "main");
}

function hasRoom({ groups }: Config, { name, channel, chat }: StoredGroup): boolean {
  return (
    !Object.hasOwn(groups, name) &&
    Object.values(groups).every((other) => other.channel !== channel || other.chat !== chat)
  );
}

interface Judged {
  readonly config: Config;
  readonly names: ReadonlySet<string>;
  readonly faults: readonly ConfigFault[];
}

function judge({ config, adapters }: Base, groups: readonly StoredGroup[], variables: EnvironmentVariables): Judged {
  const none: Judged = { config, names: new Set(), faults: [] };
  if (groups.length === 0) return none;
  const written = Object.fromEntries(
    groups.map(({ name, channel, chat, settings }) => [name, { ...settings, channel, chat }]),
  );
  const { value, faults, fromVariable } = substitute({ groups: written }, variables);
  if (faults.length > 0) return { ...none, faults };
  const parsed = parseWithVariables(configSchema(adapters), value, fromVariable);
  if (!parsed.success)
    return {
      ...none,
      faults: describeIssues(parsed.error.issues, { groups: written }, () => configJsonSchema(adapters)),
    };
  const merged: Config = deepFreeze({ ...config, groups: { ...config.groups, ...parsed.data.groups } });
  const secrets = secretsOf(merged, adapters);
  const crossFaults = [...crossCheck(merged, adapters), ...unreplacedSecrets(secrets, { variables, fromVariable })];
  // Needs routes and providers that there are.
  const all = crossFaults.length > 0 ? crossFaults : checkBudgets(merged, adapters).faults;
  return { config: merged, names: new Set(Object.keys(written)), faults: all };
}
