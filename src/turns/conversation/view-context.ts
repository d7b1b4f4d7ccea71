import { type ContextContents, tokensBySection } from "../context/compaction/context-sections.ts";
import { withCleared } from "../context/clear-results.ts";
import { coverStep } from "../context/compaction/show-cover.ts";
import { estimatePromptTokens } from "../context/tokens.ts";
import { shortenedToFit } from "../context/window.ts";
import type { ContextView } from "../../domain/turns/context-view.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { Step } from "../../domain/turns/turn.ts";
import type { LogEntry } from "../../domain/turns/summary.ts";
import { type ModelSettings, promptTokensOf, windowTokensOf } from "../../models/knowledge/capabilities.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { FirstCall } from "./first-prompt.ts";

/** Source of a view: a running host's store, or a stopped one's. */
export interface ContextViewOptions {
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "prompt" | "offered">;
    readonly turns: Pick<Store["turns"], "history">;
    readonly summaries: Pick<Store["summaries"], "cover" | "entries" | "entryCount">;
  };
  /** Room in a prompt of the route's smallest model; undefined when unknown. */
  readonly roomOf: (
    route: string | undefined,
  ) => { readonly windowTokens: number; readonly promptTokens: number } | undefined;
  /** The first prompt of a new conversation; undefined when unknown. */
  readonly firstPrompt?: FirstPrompt | undefined;
}

/** Returns the first call of a session's conversation, if it began now; undefined when its group is gone. */
export type FirstPrompt = (session: Session) => Promise<FirstCall | undefined>;

/** Entries read at once when listing a log. */
const entriesAtOnce = 1_000;

const nothingYet = { system: [], sections: {} };

/** Contents of a session's prompts, by the store. */
export async function viewContext(
  { store, roomOf, firstPrompt }: ContextViewOptions,
  session: Session,
  { route, listsEntries }: { readonly route: string | undefined; readonly listsEntries: boolean },
): Promise<ContextView> {
  const { id, conversation, windowStart, group } = session;
  const [prompt, offered = [], cover, steps, last] = await Promise.all([
    store.sessions.prompt(id),
    store.sessions.offered(id, conversation),
    windowStart === 0 ? [] : store.summaries.cover(id, conversation, windowStart),
    store.turns.history(id, conversation, windowStart),
    store.summaries.entryCount(id, conversation),
  ]);
  const begun = prompt?.conversation === conversation ? { ...prompt, tools: offered } : undefined;
  const { system, sections, tools } = begun ?? (await firstPrompt?.(session)) ?? { ...nothingYet, tools: offered };
  const first = coverStep(cover, { session: id, tools: offered.map(({ name }) => name) });
  const room = roomOf(route);
  const shown = shownSteps(withCleared(steps, session.clearedBefore), { system, tools, first }, room);
  const bySection = tokensBySection({ system, sections, tools, first, steps: shown });
  // Those of its parent are no entries of a sub-agent's own log.
  const own = cover.filter(({ fromEntry, toEntry }) => fromEntry <= toEntry);
  return {
    group,
    session: id,
    first: 1,
    last,
    summaries: own.map(({ fromEntry: from, toEntry: to, tokens, kind }) => ({ from, to, tokens, kind })),
    raw: { from: last - steps.length + 1, to: last },
    tokens: {
      window: room?.windowTokens ?? null,
      total: Object.values(bySection).reduce((sum, tokens) => sum + tokens, 0),
      bySection,
    },
    ...(listsEntries && { entries: await allEntries(store.summaries, session) }),
  };
}

/** Steps as shown to the model when not all fit; what still does not fit is handled by the next turn. */
function shownSteps(
  steps: readonly Step[],
  { first, ...fixed }: Pick<ContextContents, "system" | "tools" | "first">,
  room: ReturnType<ContextViewOptions["roomOf"]>,
): readonly Step[] {
  if (!room) return steps;
  const fixedTokens = estimatePromptTokens({ ...fixed, messages: [] });
  return shortenedToFit(steps, room.promptTokens - fixedTokens - (first?.tokens ?? 0)) ?? steps;
}

/** Returns the room in prompts of a route, by the configuration. */
export function roomByConfig(
  models: ModelSettings,
  route: string | undefined,
): ReturnType<ContextViewOptions["roomOf"]> {
  return { windowTokens: windowTokensOf(models, route), promptTokens: promptTokensOf(models, route) };
}

async function allEntries(
  summaries: Pick<Store["summaries"], "entries">,
  { id, conversation }: Session,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; before > 1;) {
    const some = await summaries.entries(id, conversation, { before, limit: entriesAtOnce });
    entries.unshift(...some.map(({ body: _body, ...entry }) => entry));
    before = some.length < entriesAtOnce ? 1 : (some[0]?.entry ?? 1);
  }
  return entries;
}
