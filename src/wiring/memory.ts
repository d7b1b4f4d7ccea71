import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { agentNameOf } from "../config/agents.ts";
import { embeddingSettings } from "../config/memory.ts";
import { createMessageIds } from "../context/message-ids.ts";
import { LocalTime } from "../context/time-zone.ts";
import { memberKey } from "../domain/person.ts";
import { isAtLeast } from "../domain/role.ts";
import { mainSessionKey } from "../domain/session.ts";
import { originsOf } from "../memory/item.ts";
import { modelFolder } from "../memory/embedding/model-files.ts";
import { Extraction } from "../memory/keeping/extraction.ts";
import { MemoryKeeper } from "../memory/keeping/keeper.ts";
import { Recall } from "../memory/keeping/recall.ts";
import { showMemories } from "../memory/keeping/show-memories.ts";
import { unfit } from "../memory/keeping/unfit.ts";
import { type MemoryAt, MemoryDesk } from "../memory/thread/memory-desk.ts";
import { ownIds } from "../memory/thread/orders.ts";
import type { ProviderSet } from "../models/provider-set.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { ToolError } from "../protocol/tools.ts";
import type { MemoryPort } from "../tools/memory-port.ts";
import type { TurnOptions, TurnScope } from "../turns/turn-options.ts";
import type { AppContext } from "./context.ts";
import { provenanceOf } from "./provenance.ts";
import { createTurnSettings } from "./turn-settings.ts";

/** What groups remember, for turns. */
export interface Memories {
  /** Of this group; undefined where nothing is remembered. */
  readonly memoryOf: (group: string) => MemoryAt | undefined;
  /** Of this group, whether groups remember things or not; undefined where it has no memory yet. */
  readonly existing: (group: string) => MemoryAt | undefined;
  readonly recall: TurnOptions["recall"];
  readonly port: (scope: TurnScope) => MemoryPort | undefined;
  /** Takes in what was said while nobody listened. */
  readonly resume: () => void;
}

interface MemoriesOptions {
  readonly groups: Pick<GroupRegistry, "list">;
  readonly providers: ProviderSet;
}

/** Nothing of it is loaded or asked while `memory.enabled` is not set. */
export function createMemories(context: AppContext, stack: AsyncDisposableStack, options: MemoriesOptions): Memories {
  const { live, store, events, logger, publish } = context;
  const deskNow = openDesk(context, stack);
  const memoryOf = (group: string): MemoryAt | undefined =>
    live.current.memory.enabled ? memoryAt(context, deskNow(), group) : undefined;
  const always = (group: string): MemoryAt => memoryAt(context, deskNow(), group);
  const idOf = createIds(context);
  const extraction = stack.use(createExtraction(context, options, always));
  const keeper = stack.use(
    new MemoryKeeper({
      store,
      groups: () => (live.current.memory.enabled ? options.groups.list() : []),
      memoryOf: always,
      roleOf: context.roles.roleOf,
      agentNameOf: ({ agent }) => agentNameOf(live.current, agent),
      idOf,
      kept: (group, standing) => extraction.stirred(group, standing),
      publish,
      logger,
    }),
  );
  events.subscribe("memory", ({ type, group }) => {
    const isHeard = type === "message.received" || type === "turn.ended";
    if (isHeard && group !== undefined && live.current.memory.enabled) keeper.said(group);
  });
  live.onChange(() => keeper.all());
  const recall = new Recall({
    turns: store.turns,
    memoryOf,
    tokens: () => live.current.memory.recallTokens,
    idOf,
    logger,
  });
  return {
    memoryOf,
    existing: (group) => (existsSync(join(context.home.paths.memory, `${group}.sqlite`)) ? always(group) : undefined),
    recall: (place, messages, at) => recall.of(place, messages, at),
    port: (scope) => {
      const memory = memoryOf(scope.group.name);
      return memory && createPort(context, memory, scope);
    },
    resume: () => keeper.all(),
  };
}

/** The desk that works with the settings of now; one that has others is closed when another one is needed. */
function openDesk({ live, adapters, home }: AppContext, stack: AsyncDisposableStack): () => MemoryDesk {
  let current: { readonly settings: string; readonly desk: MemoryDesk } | undefined;
  return () => {
    const { memory } = live.current;
    const place = embeddingSettings(live.current, adapters);
    const settings = JSON.stringify([place, memory.weights]);
    if (current?.settings === settings) return current.desk;
    const last = current?.desk;
    const embedder = place === "local" ? { folder: modelFolder(home.paths.root) } : place;
    const desk = stack.use(new MemoryDesk({ place: embedder, weights: memory.weights }));
    current = { settings, desk };
    void last?.[Symbol.asyncDispose]();
    return desk;
  };
}

function memoryAt({ home }: AppContext, desk: MemoryDesk, group: string): MemoryAt {
  return desk.at(join(home.paths.memory, `${group}.sqlite`));
}

function createIds({ fingerprint }: AppContext): (row: string) => string {
  const hidden = createMessageIds((text) => fingerprint(text));
  // Numbers of messages are called as the model knows them.
  return (row) => {
    const [kind, seq] = row.split(" ");
    return kind === "message" ? hidden(Number(seq)) : fingerprint(row).sha256.slice(0, 12);
  };
}

function createExtraction(
  context: AppContext,
  { providers }: MemoriesOptions,
  memoryOf: (group: string) => MemoryAt,
): Extraction {
  const { live, store, publish, logger } = context;
  const settingsOf = createTurnSettings(context, providers);
  return new Extraction({
    everyMessages: () => (live.current.memory.enabled ? live.current.memory.extract.everyMessages : 0),
    memoryOf,
    isIdle: async (group) => {
      if ((await store.messages.waitingCount(group)) > 0) return false;
      const session = await store.sessions.find(mainSessionKey(group));
      return !session || (await store.turns.runningIn(session.id)) === undefined;
    },
    ask: async (group, { system, text }, signal) => {
      using settings = settingsOf(group);
      const route = live.current.memory.extract.route ?? group.model;
      const call = { group: group.name, route, groupBudget: group.budget, system, tools: [], signal };
      return (await settings.models.complete({ ...call, messages: [{ role: "user", text }] })).text;
    },
    at: (time) => new LocalTime(live.current.timezone).at(time),
    publish,
    logger,
  });
}

/** For the call of a tool in this turn. */
function createPort(context: AppContext, memory: MemoryAt, { group, session, turn, settings }: TurnScope): MemoryPort {
  const { store, publish, clock, roles } = context;
  const place = { group: group.name, session: session.id, turn: turn.id, actor: "agent" } as const;
  return {
    search: async (query, how) => {
      const found = (await memory.search(query, how)).map((one) => one.memory);
      if (found.length === 0) return undefined;
      // Noted before the model sees it: what it does then is judged by it.
      await store.origins.note(turn.id, found.flatMap(originsOf));
      return showMemories(found, (time) => settings.timeZone.at(time));
    },
    store: async ({ text, category, about }) => {
      refuseUnfit(text, category);
      const { origins, senders } = await store.origins.provenance(turn.id);
      const id = `${ownIds.note}${randomBytes(6).toString("hex")}`;
      await publish({ type: "memory.stored", ...place, data: { id, category, chars: text.length } });
      const made = { id, category, text, time: clock.now(), sender: about ?? "", sources: [] };
      await memory.advance([{ ...made, origin: "agent", origins, people: senders.map(memberKey) }], { progress: {} });
      return id;
    },
    forget: async (id) => {
      const known = await memory.get(id);
      if (!known) throw new ToolError(`There is no memory "${id}".`);
      const { senders } = await store.origins.provenance(turn.id);
      const { role } = await provenanceOf({ origins: store.origins, roleOf: roles.roleOf }, group, turn);
      const asking = senders.map(memberKey);
      const isOwn = known.people !== undefined && known.people.every((person) => asking.includes(person));
      if (!isAtLeast(role, "admin") && !isOwn)
        throw new ToolError("Only an admin, or the member whose words it holds, can have this forgotten.");
      await publish({ type: "memory.forgotten", ...place, data: { ids: [id], why: "tool" } });
      await memory.forget([id]);
    },
  };
}

function refuseUnfit(text: string, category: string): void {
  if (category === "conversation")
    throw new ToolError("The category conversation is for what is said; take daily, core or another name.");
  const reason = unfit(text);
  if (reason === "secret")
    throw new ToolError("This looks like a password, a key or a token; such things are not remembered. Leave it out.");
  if (reason === "instruction")
    throw new ToolError(
      "This tells you what to do; only how things are is remembered. Rules for you belong into AGENTS.md: propose_instructions.",
    );
}
