import { renderWork } from "../context/render-work.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { StoredMessage } from "../../domain/chats/message.ts";
import { errorCode } from "../../lib/app-error.ts";
import { ofHost, sourced } from "../../domain/rights/sourced.ts";
import { isAddressee } from "../../domain/turns/session.ts";
import type { LookUpForeword } from "../../domain/turns/foreword.ts";
import type { Work } from "../../domain/work/work.ts";
import type { MessageStore } from "../../stores/contract/store.ts";
import { lineageNow } from "../../domain/rights/lineage.ts";
import { lineageOfMessages, sayMessages } from "./message-origins.ts";
import { type SourcedStep, userStep } from "./sourced-step.ts";
import { localClock } from "../../lib/time/zone-clock.ts";
import type { Conversation, TurnInput, OpenSession, TurnPictures } from "../collaborators.ts";
import type { TurnScope } from "../turn-scope.ts";
import { createMessageIds } from "../context/message-ids.ts";
import type { Fingerprint } from "../../domain/fingerprint.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { JudgeHearing } from "../../rights/people/hearing.ts";
import { mayTrigger, refusedWork } from "../../rights/people/may-begin.ts";
import type { RoleOf } from "../../rights/people/roles.ts";

/** Maximum messages per step; further ones come with the next. */
export const messagesPerStep = 200;

/** Sources of what is new for an agent. */
export interface MessageSources {
  readonly messages: Pick<MessageStore, "waiting" | "after" | "countAfter">;
  readonly pictures: Pick<TurnPictures, "imagesOf">;
  readonly foreword?: LookUpForeword | undefined;
  readonly roleOf: RoleOf;
  readonly hearingOf: JudgeHearing;
  readonly fingerprint: (text: string) => Fingerprint;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Collects what waits for the agent in a group, together with what was said since it last looked. Undefined when
 * nothing waits: chatter alone does not make a turn. The session is opened only when something does.
 */
export async function collectMessages(
  sources: MessageSources,
  { group, settings, hears, begins }: Parameters<Conversation["collect"]>[0],
  openSession: OpenSession,
): Promise<TurnInput | undefined> {
  if (!hears) return undefined;
  const due = await sources.messages.waiting(group, messagesPerStep, hears);
  // Since they wrote, somebody may have been denied or have lost a role.
  const waiting = due.filter(({ channel, sender: { id } }) => mayTrigger(sources.hearingOf, group, { channel, id }));
  if (begins && waiting.length < due.length)
    return refusedMessages(sources, group, { messages: due.filter((message) => !waiting.includes(message)) });
  const last = waiting.at(-1);
  if (!last) return undefined;
  const session = await openSession();
  const { contextCursor } = session;
  const since = await sources.messages.after(group, contextCursor, messagesPerStep);
  const answered = new Set(waiting.map(({ copyOf }) => copyOf));
  const isChatter = ({ seq, state, agent }: StoredMessage): boolean =>
    state === "context" || (!isAddressee(hears, agent) && !answered.has(seq));
  const isSilenced = ({ channel, sender: { id } }: StoredMessage): boolean =>
    sources.hearingOf(group, { channel, id }).may === "nothing";
  const chatter = since.filter((one) => one.seq <= last.seq && isChatter(one) && !isSilenced(one));
  const shown = [...chatter, ...waiting].toSorted((a, b) => a.seq - b.seq);
  // It looks these up in its own thread; all else is done meanwhile.
  const at = (time: number): string => localClock(settings.timeZone).minuteAt(time);
  const looking = sources.foreword?.({ group, session, messages: shown, at });
  const unseen = await sources.messages.countAfter(group, contextCursor);
  const images = await sources.pictures.imagesOf(group, shown);
  const rendered = sayMessages(sources.roleOf, group, {
    messages: shown,
    omitted: Math.max(0, unseen - since.length),
    images,
    agentName: settings.agent.name,
    timeZone: localClock(settings.timeZone),
    idOf: createMessageIds(sources.fingerprint),
  });
  const before = await looking;
  const foreword = before && (before.text === "" ? before : ofHost`${before}\n`);
  const takes = {
    messages: waiting.map((message) => message.seq),
    cursor: Math.max(last.seq, contextCursor),
    lineage: lineageOfMessages(sources.roleOf, group, waiting),
  };
  const step = userStep([...(foreword ? [foreword] : []), ...rendered], { at: sources.clock.now(), takes });
  return { waiting, step };
}

/** A turn that only says that these messages are not answered. What was said before them is for the next turn. */
function refusedMessages(
  { clock, roleOf }: MessageSources,
  group: Group,
  { messages }: { readonly messages: readonly StoredMessage[] },
): TurnInput {
  const said = ofHost`<host-note>${sourced(notDone(refusedWork), [])}</host-note>`;
  const lineage = lineageOfMessages(roleOf, group, messages);
  const takes = { messages: messages.map(({ seq }) => seq), cursor: 0, lineage };
  return { waiting: messages, step: userStep([said], { at: clock.now(), takes }) };
}

/** Stands in place of words that do not get into a conversation. */
export function notDone(refusal: string): string {
  return `Not done: ${refusal}`;
}

/** Waits for a step that takes something due; undefined when that is gone: somebody took or dropped it meanwhile. */
export async function unlessGone<Taken>(taking: Promise<Taken>): Promise<Taken | undefined> {
  try {
    return await taking;
  } catch (error) {
    if (errorCode(error) === "gone") return undefined;
    throw error;
  }
}

/** A step for work other than messages, at a turn's beginning or during it. */
export function workStep(
  work: Work,
  { group, settings }: Pick<TurnScope, "group" | "settings">,
  { clock, roleOf }: { readonly clock: Pick<Clock, "now">; readonly roleOf: RoleOf },
): SourcedStep {
  const { text, origins } = renderWork(work);
  // What a program prints may be what it has read there.
  const folders = work.cause === "job-ended" ? [group.name, ...settings.writersOfShared] : [];
  const takesWork = { seq: work.seq, lineage: lineageNow(work.lineage, (who) => roleOf(group, who)) };
  return userStep([sourced(text, origins, folders)], { at: clock.now(), takesWork });
}
