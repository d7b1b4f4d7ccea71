import { existsSync } from "node:fs";

import { type Group, workFolder } from "../../domain/chats/group.ts";
import { type ZoneClock, zoneClock } from "../../lib/time/zone-clock.ts";
import { DayNotes } from "../../abilities/memory/keeping/day-notes.ts";
import { Extraction, type ExtractionOptions } from "../../abilities/memory/keeping/extraction.ts";
import { globalNotes } from "../../abilities/memory/item.ts";
import { memoryPath } from "../../abilities/memory/memory-path.ts";
import { Hygiene, type HygieneSettings } from "../../abilities/memory/keeping/hygiene.ts";
import type { MemoryAt } from "../../abilities/memory/thread/memory-client.ts";
import type { ReaderStanding } from "../../abilities/memory/thread/open-memories.ts";
import type { ProviderSet } from "../../models/routes/provider-set.ts";
import type { AppContext } from "../context.ts";
import { isAtWork } from "../../stores/is-at-work.ts";
import { createConfiguredModels } from "../models.ts";

/** `2026-01-15 13:30` */
const minutesChars = 16;

interface UpkeepOptions {
  readonly providers: ProviderSet;
  readonly memoryOf: (folder: string) => MemoryAt;
}

/** `extract` draws facts at once, and never rejects. */
export interface Upkeep {
  readonly kept: (group: Group, standing: ReaderStanding) => void;
  readonly extract: (group: Group, signal: AbortSignal) => Promise<void>;
}

/** Maintains a group's memory while the group is quiet. Call it after changes, with the memory's state. */
export function createUpkeep(
  context: AppContext,
  stack: AsyncDisposableStack,
  { providers, memoryOf }: UpkeepOptions,
): Upkeep {
  const { live, clock, publish, logger } = context;
  const everyMessages = (): number => (live.current.memory.enabled ? live.current.memory.extract.everyMessages : 0);
  const at = (time: number): string => zoneClock(live.current.timezone).at(time).slice(0, minutesChars);
  const shared = { memoryOf, isIdle: async (group: Group) => !(await isAtWork(context.store, group)), logger };
  const asking = { ...shared, ask: createAsking(context, providers), at, publish };
  const extraction = stack.use(new Extraction({ ...asking, everyMessages }));
  const zoneOf = ({ name }: Group): ZoneClock => zoneClock(live.groupOf({ name }).timeZone);
  const dayNotes = stack.use(new DayNotes({ ...asking, isOn: () => everyMessages() > 0, zoneOf, clock }));
  const settings = (): HygieneSettings => hygieneOf(live.current.memory);
  const hygiene = stack.use(new Hygiene({ ...shared, settings, clock, publish }));
  const hasNotes = (): boolean => existsSync(memoryPath(context.home.paths.memory, globalNotes));
  const kept = (group: Group, standing: ReaderStanding): void => {
    extraction.stirred(group, standing);
    dayNotes.stirred(group, standing);
    hygiene.stirred(group, standing);
    // When they were cleaned themselves is seen then.
    if (group.main && workFolder(group) === group.name && hasNotes())
      hygiene.stirred({ ...group, name: globalNotes }, { cleaned: 0 });
  };
  return { kept, extract: (group, signal) => extraction.now(group, signal) };
}

/** Nothing is removed where nothing is kept. */
function hygieneOf({ enabled, hygiene }: AppContext["live"]["current"]["memory"]): HygieneSettings {
  return enabled ? hygiene : { ...hygiene, everyHours: 0 };
}

/** The model that draws from what was said. */
function createAsking(context: AppContext, providers: ProviderSet): ExtractionOptions["ask"] {
  const models = createConfiguredModels(context, providers);
  return async (group, { system, text }, signal) => {
    const route = context.live.current.memory.extract.route ?? group.model;
    const call = { group: group.name, route, groupBudget: group.budget, system, tools: [], signal };
    return (await models.complete({ ...call, messages: [{ role: "user", text }] })).text;
  };
}
