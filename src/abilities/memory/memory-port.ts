import { randomBytes } from "node:crypto";

import { agentNamedBy, workFolder } from "../../domain/chats/group.ts";
import { type ActingParty, mayAct } from "../../domain/rights/may-act.ts";
import { sourced, type Sourced } from "../../domain/rights/sourced.ts";
import { isAtLeast } from "../../domain/people/role.ts";
import { localClock } from "../../lib/time/zone-clock.ts";
import type { SearchOptions } from "../../processes/memory-schemas.ts";
import { ToolError } from "../../protocol/tools.ts";
import { turnAsAsker } from "../../rights/people/asker.ts";
import { lineageOfTurn } from "../../rights/people/lineage-of-turn.ts";
import type { CallingTurn } from "../define-ability.ts";
import { globalNotes, originsOf, ownIds } from "./item.ts";
import { showMemories, type ShownMemory } from "./keeping/show-memories.ts";
import { unfit } from "./keeping/unfit.ts";
import type { MemoryServiceNeeds } from "./memory-needs.ts";
import type { MemoryAt } from "./thread/memory-client.ts";

/** The group's memory for tools. Rejects with ToolError only, or a bug. */
export interface MemoryPort {
  /** Best matching memories as shown to the model; undefined: none. */
  readonly search: (query: string, how: SearchOptions) => Promise<Sourced | undefined>;
  /** Gives the id under which it is kept. */
  readonly store: (memory: NewNote) => Promise<string>;
  /** Removes one for good. */
  readonly forget: (id: string) => Promise<void>;
}

interface NewNote {
  readonly text: string;
  readonly category: string;
  readonly about: string | undefined;
}

/** Memories that a turn's group may use. */
interface UsableMemories {
  /** Its own. */
  readonly memory: MemoryAt;
  /** Global notes, where it may read them and there are some. */
  readonly notes: () => MemoryAt | undefined;
  /** Global notes, where it may write them. */
  readonly ownNotes: (() => MemoryAt) | undefined;
}

type Needs = Pick<MemoryServiceNeeds, "store" | "roleOf" | "publish" | "clock">;

const forgetRights = { role: "admin", own: true } as const;

/** Memories for a call of a tool in this turn. */
export function memoryPort(needs: Needs, usable: UsableMemories, scope: CallingTurn): MemoryPort {
  const { settings } = scope;
  return {
    search: async (query, how) => {
      const found = await search(usable, query, how);
      if (found.length === 0) return undefined;
      const shown = showMemories(found, (time) => localClock(settings.timeZone).minuteAt(time));
      return sourced(shown, found.flatMap(originsOf));
    },
    store: (memory) => keep(needs, usable, scope, memory),
    forget: (id) => forget(needs, usable, scope, id),
  };
}

/** Scores of two memories are not of one kind; a global note has to be better than the group's own to come first. */
async function search({ memory, notes }: UsableMemories, query: string, how: SearchOptions): Promise<ShownMemory[]> {
  const global = notes();
  const own = await memory.search(query, how);
  if (!global) return own.map((one) => one.memory);
  const others = (await global.search(query, how)).map(({ memory: note, score }) => ({
    memory: { ...note, isGlobal: true },
    score,
  }));
  const best = [...own, ...others].toSorted((one, other) => other.score - one.score);
  return best.slice(0, how.limit).map((one) => one.memory);
}

async function keep(
  needs: Needs,
  { memory, ownNotes }: UsableMemories,
  scope: CallingTurn,
  { text, category, about }: NewNote,
): Promise<string> {
  const { store, publish, clock } = needs;
  refuseUnfit(text, category);
  const place = category === globalNotes ? await globalFor(needs, ownNotes, scope) : memory;
  const { origins, people } = await store.origins.lineage(scope.turn.id);
  const id = `${ownIds.note}${randomBytes(6).toString("hex")}`;
  await publish({
    type: "memory.stored",
    ...idsOf(scope),
    actor: "agent",
    data: { id, category, chars: text.length, ...(place === memory && agentNamedBy(workFolder(scope.group))) },
  });
  const made = { id, category, text, time: clock.now(), sender: about ?? "", sources: [] };
  await place.advance([{ ...made, origin: "agent", origins, people }], { progress: {} });
  return id;
}

async function globalFor(needs: Needs, ownNotes: UsableMemories["ownNotes"], scope: CallingTurn): Promise<MemoryAt> {
  if (!ownNotes) throw new ToolError("Only a main group keeps global notes; take daily, core or another name.");
  if (await isAdmin(needs, scope)) return ownNotes();
  throw new ToolError("Global notes are shown to other groups too: only an admin can have one kept.");
}

async function forget(
  needs: Needs,
  { memory, notes, ownNotes }: UsableMemories,
  scope: CallingTurn,
  id: string,
): Promise<void> {
  const own = await memory.get(id);
  const known = own ?? (await notes()?.get(id));
  if (!known) throw new ToolError(`There is no memory "${id}".`);
  const place = own ? memory : ownNotes?.();
  if (!place) throw new ToolError("This is a global note; only a main group can have it forgotten.");
  const asker = await turnAsAsker({ origins: needs.store.origins, roleOf: needs.roleOf }, scope.group, scope.turn);
  if (mayAct(asker, forgetRights, { group: scope.group.name, lineage: lineageIfOf(asker, known) }) !== "allowed")
    throw new ToolError("Only an admin, or the member whose words it holds, can have this forgotten.");
  await needs.publish({
    type: "memory.forgotten",
    ...idsOf(scope),
    actor: "agent",
    data: { ids: [id], why: "tool", ...(own && agentNamedBy(workFolder(scope.group))) },
  });
  await place.forget([id]);
}

/** Lineage of a memory that holds nobody else's words than the asker's; undefined for all others. */
function lineageIfOf(
  { people }: ActingParty,
  { people: holders = [] }: { readonly people?: readonly string[] | undefined },
) {
  const asking = people.flat();
  const isTheirs = holders.length > 0 && holders.every((person) => asking.includes(person));
  return isTheirs ? ({ role: "guest", people: holders } as const) : undefined;
}

/** True when the least role among the turn's askers is admin. */
async function isAdmin({ store, roleOf }: Needs, { group, turn }: CallingTurn): Promise<boolean> {
  const { role } = await lineageOfTurn({ origins: store.origins, roleOf }, group, turn);
  return isAtLeast(role, "admin");
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

function idsOf({ group, session, turn }: CallingTurn): { readonly [Name in "group" | "session" | "turn"]: string } {
  return { group: group.name, session: session.id, turn: turn.id };
}
