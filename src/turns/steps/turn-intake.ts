import { renderWork } from "../context/render-work.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { StoredMessage } from "../../domain/chats/message.ts";
import { sortOrigins } from "../../domain/people/origin.ts";
import { errorCode } from "../../lib/app-error.ts";
import { type Part, toUserContent } from "../../domain/chats/part.ts";
import { type Addressee, isAddressee, type Session } from "../../domain/turns/session.ts";
import type { Work } from "../../domain/work/work.ts";
import type { NewStep } from "../../stores/contract/store.ts";
import { exposureToMessages } from "./message-origins.ts";
import type { ResolvedGroup } from "../../domain/settings/resolved-group.ts";
import { localClock } from "../../lib/time/zone-clock.ts";
import type { TurnOptions } from "../turn-options.ts";

/** At most so many messages go into one step; what is beyond comes at the next one. */
export const messagesPerStep = 200;

/** What is new for the agent: a step to store, and the messages it answers to. */
export interface Intake {
  readonly step: NewStep;
  readonly waiting: readonly StoredMessage[];
}

/**
 * Collects what waits for the agent in a group, together with what was said since it last looked. Undefined when
 * nothing waits: chatter alone does not make a turn. The session is asked for only when something does.
 */
export async function collectIntake(
  options: Pick<TurnOptions, "store" | "render" | "imagesOf" | "recall" | "roleOf" | "estimateTokens" | "clock">,
  settings: Pick<ResolvedGroup, "agent" | "timeZone">,
  {
    group,
    hears,
    openSession,
  }: {
    readonly group: Group;
    readonly hears: Addressee;
    readonly openSession: () => Promise<Session> | Session;
  },
): Promise<Intake | undefined> {
  const waiting = await options.store.messages.waiting(group, messagesPerStep, hears);
  const last = waiting.at(-1);
  if (!last) return undefined;
  const session = await openSession();
  const { contextCursor } = session;
  const since = await options.store.messages.after(group, contextCursor, messagesPerStep);
  const answered = new Set(waiting.map(({ copyOf }) => copyOf));
  const isChatter = ({ seq, state, agent }: StoredMessage): boolean =>
    state === "context" || (!isAddressee(hears, agent) && !answered.has(seq));
  const chatter = since.filter((message) => message.seq <= last.seq && isChatter(message));
  const shown = [...chatter, ...waiting].toSorted((a, b) => a.seq - b.seq);
  // It looks these up in a thread of its own; all else is done meanwhile.
  const recalling = options.recall?.({ group, session }, shown, (time) => localClock(settings.timeZone).minuteAt(time));
  const unseen = await options.store.messages.countAfter(group, contextCursor);
  const images = await options.imagesOf(group, shown);
  const rendered = options.render(shown, { settings, omitted: Math.max(0, unseen - since.length), images });
  const recalled = await recalling;
  const memories: Part[] = recalled && recalled.text !== "" ? [{ kind: "text", text: `${recalled.text}\n` }] : [];
  const body = { kind: "user", ...toUserContent([...memories, ...rendered]) } as const;
  const exposure = exposureToMessages(options.roleOf, group, {
    messages: shown,
    hasImages: images.values().some((image) => typeof image !== "string"),
  });
  return {
    waiting,
    step: {
      body,
      tokens: options.estimateTokens(body),
      at: options.clock.now(),
      exposure: recalled ? { ...exposure, origins: sortOrigins([...exposure.origins, ...recalled.origins]) } : exposure,
      takes: { messages: waiting.map((message) => message.seq), cursor: Math.max(last.seq, contextCursor) },
    },
  };
}

/** What takes something that is due: undefined when somebody has dropped that meanwhile. */
export async function unlessGone<Taken>(taking: Promise<Taken>): Promise<Taken | undefined> {
  try {
    return await taking;
  } catch (error) {
    if (errorCode(error) === "conflict") return undefined;
    throw error;
  }
}

/** Work other than messages, as a turn begins with it or is told of it on its way. */
export function workStep(
  options: Pick<TurnOptions, "estimateTokens" | "clock">,
  work: Work,
  writersOfShared: readonly string[],
): NewStep {
  const body = { kind: "user", text: renderWork(work) } as const;
  const origins = [work.origin, ...(work.origins ?? [])];
  return {
    body,
    tokens: options.estimateTokens(body),
    at: options.clock.now(),
    exposure: {
      origins,
      // What a program prints may be what it has read there.
      readsFolder: work.cause === "job-ended",
      writesFolder: false,
      ...(work.cause === "job-ended" && writersOfShared.length > 0 && { alsoReads: writersOfShared }),
    },
    takesWork: work.seq,
  };
}
