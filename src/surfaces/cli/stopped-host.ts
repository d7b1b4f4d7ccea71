import { withAddedGroups } from "../../config/configured/added-groups.ts";
import type { Adapters } from "../../config/adapters.ts";
import { budgetOf } from "../../config/configured/budgets.ts";
import { LiveConfig } from "../../config/changes/live-config.ts";
import { configuredGroups, storedGroup } from "../../config/configured/groups.ts";
import type { HomePaths } from "../../config/home/home.ts";
import { checkConfig, type ConfigCheck, type LoadedConfig } from "../../config/loading/load.ts";
import type { EnvironmentVariables } from "../../config/environment.ts";
import type { Group, GroupChat, StoredGroup } from "../../domain/chats/group.ts";
import { isLost } from "../../intake/chats/group-folders.ts";
import { sorted, withStored } from "../../intake/chats/group-registry.ts";
import { roomByConfig, viewContext } from "../../turns/conversation/view-context.ts";
import { createPeopleView, createRolesOf, halfKnownKeys, loadAliases } from "../../config/serving/people.ts";
import { AppError } from "../../lib/app-error.ts";
import { costOfReference, knownModels } from "../../models/knowledge/capabilities.ts";
import type { OfflineNeeds } from "../operations.ts";
import { openStoreReader } from "../../stores/catalog.ts";
import type { StoreReader } from "../../stores/define-store.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

/** Opens a stopped host's data read-only. Throws `store_failed`. */
export async function readStoppedHost(
  paths: HomePaths,
  variables: EnvironmentVariables,
  adapters: Adapters,
): Promise<OfflineNeeds & AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const store = opening.use(await openStoreReader({ path: paths.database }));
  const check = await checkConfig(paths.config, variables, adapters);
  const groups = await readGroups(store, paths.config, { check, variables });
  const roomOf = (route: string | undefined) =>
    check.ok ? roomByConfig(check.loaded.config.models, route) : undefined;
  const owned = opening.move();
  return {
    store,
    groups,
    people: await peopleOf(paths.config, check, store),
    pool: { list: () => [] },
    clock: systemClock,
    budgetOf: (name) => {
      if (!check.ok) return { usdPerDay: undefined, tokensPerDay: undefined };
      const group = name === undefined ? undefined : groups.settings().find((each) => each.name === name);
      return budgetOf(check.loaded.config, group);
    },
    viewContext: (session, how) => viewContext({ store, roomOf }, session, how),
    models: knownModels(() => (check.ok ? check.loaded.config.models : undefined)),
    costOf: (model, usage) => (check.ok ? costOfReference(check.loaded.config.models, model, usage) : undefined),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Configured people of whom only this id is known, by the store. */
export async function readHalfKnownKeys(paths: HomePaths, loaded: LoadedConfig): Promise<string[]> {
  await using store = await openStoreReader({ path: paths.database });
  return await halfKnownKeys(store.channelState, loaded);
}

async function peopleOf(
  file: string,
  check: ConfigCheck,
  { channelState }: Pick<StoreReader, "channelState">,
): Promise<OfflineNeeds["people"]> {
  if (check.ok) {
    const aliases = await loadAliases(channelState, check.loaded);
    const known = { live: new LiveConfig(check.loaded.config), adapters: check.loaded.adapters };
    return createPeopleView(known, createRolesOf(known, aliases));
  }
  const unknown = (): never => unusable(file);
  return { aliasesOf: unknown, standingOf: unknown, named: unknown, triggerRole: unknown, members: unknown };
}

function unusable(file: string): never {
  throw new AppError("config_invalid", `${file} cannot be used, so it is not known which groups there are.`, {
    fix: `\`${ownCommand("config check")}\` says what is wrong`,
  });
}

/**
 * A configuration that cannot be used, for want of a variable say, hides what groups are like, but not which there are.
 */
async function readGroups(
  store: StoreReader,
  file: string,
  { check, variables }: { readonly check: ConfigCheck; readonly variables: EnvironmentVariables },
): Promise<OfflineNeeds["groups"]> {
  const folders = (): ReturnType<StoreReader["groups"]["folders"]> => store.groups.folders();
  if (!check.ok) {
    const known: readonly GroupChat[] = await folders();
    const settings = (): never => unusable(file);
    return { folders, list: () => known, settings };
  }
  const stored = await store.groups.list();
  const { config, refused } = withAddedGroups(check.loaded, stored, variables);
  const serving = {
    resolve: (group: StoredGroup) => storedGroup(config, group),
    isLost: async (group: StoredGroup) => refused.has(group.name) || isLost(store.groups, group),
  };
  const { groups } = await withStored(serving, configuredGroups(check.loaded.config), stored);
  const list = (): readonly Group[] => sorted(groups);
  return { folders, list, settings: list };
}
