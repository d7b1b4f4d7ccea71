import type { AcceptMessage, IntakeState, Receipt } from "../channels/channel.ts";
import { memberActor } from "../domain/people/actor.ts";
import type { Publish } from "../domain/events/event.ts";
import type { Group } from "../domain/chats/group.ts";
import type {
  FetchedAttachment,
  IncomingAttachment,
  IncomingMessage,
  MessageState,
  OutgoingDraft,
  StoredAttachment,
  StoredQuote,
} from "../domain/chats/message.ts";
import { agentsOf } from "../domain/turns/session.ts";
import type { Hearing, JudgeHearing } from "../rights/people/hearing.ts";
import type { Clock } from "../lib/time/clock.ts";
import { utcDay } from "../lib/time/utc-day.ts";
import type { Store } from "../stores/contract/store.ts";
import type { Role } from "../domain/people/role.ts";
import { type AddressOptions, addressRule } from "./addressing/address.ts";
import { agentsMeant, type AgentsMeantOptions } from "./addressing/agents-meant.ts";
import { cleanMessage } from "./clean-message.ts";
import { type CommandForm, parseCommand, type SaidCommand } from "./addressing/command.ts";
import { type QuoteStore, verifyQuote } from "./addressing/verify-quote.ts";
import type { GroupRegistry } from "./chats/group-registry.ts";
import type { MessageReservation } from "./limits/day-budgets.ts";
import { createInOrder } from "./in-order.ts";
import { IntakeLimits } from "./limits/intake-limits.ts";
import type { RouterLimits } from "./limits/limits.ts";
import { restingNotice } from "./limits/resting-notice.ts";
import { hasRecording, withTranscripts } from "./transcripts.ts";
import { StrangerNotes } from "./stranger-notes.ts";
import type { PaceVerdict, Rest, TurnPace } from "./limits/turn-pace.ts";

/** Told about messages that will be answered. Must not throw. */
export interface MessageListener {
  /** The message is being stored. It may turn out to be a duplicate. */
  coming(group: Group, message: IncomingMessage, agents: readonly string[] | undefined): void;
  /** The message is stored. */
  received(group: Group, message: IncomingMessage): void;
}

export interface RouterOptions {
  readonly registry: Pick<GroupRegistry, "find">;
  readonly store: {
    readonly messages: QuoteStore["messages"] &
      Pick<Store["messages"], "insert" | "isKnown" | "waitingCount" | "waitingTotal">;
    readonly intake: Pick<Store["intake"], "ofDay" | "tell">;
    readonly chats: Pick<Store["chats"], "seen" | "memberSeen">;
    readonly outbox: QuoteStore["outbox"] & Pick<Store["outbox"], "sessionOf">;
    readonly origins: QuoteStore["origins"];
  };
  readonly assistantName: string;
  /** Name of the group's agent, or of the one with this id; the assistant's by default. */
  readonly agentNameOf?: ((group: Group, agent?: string) => string) | undefined;
  readonly intake: () => IntakeState;
  /** Registers a chat as a group if configured, or returns why not. */
  readonly autoRegister?: ((message: IncomingMessage) => Promise<Group | Receipt | undefined>) | undefined;
  /** Called for a message in an unknown chat; its text is not kept. */
  readonly onStranger?: ((message: IncomingMessage) => Promise<void>) | undefined;
  /** Fetches members' files into the group's folder. A rejection means that the message is not accepted yet. */
  readonly fetchAll?:
    | ((
        group: string,
        attachments: readonly IncomingAttachment[],
        roomBytes: number,
      ) => Promise<readonly FetchedAttachment[]>)
    | undefined;
  /** True when recordings are transcribed once fetched. */
  readonly hears?: (() => boolean) | undefined;
  /**
   * Wakes the group's agent, or these agents; `late`: it waited elsewhere for long, and more may follow. Must not
   * throw.
   */
  readonly wake: (group: string, late: boolean, agents?: readonly string[]) => void;
  readonly listener?: MessageListener | undefined;
  /** Age above which a message counts as late in this group. */
  readonly lateMs?: ((group: string) => number) | undefined;
  /** Commands available in this group. */
  readonly commandsOf: (group: Group) => readonly CommandForm[];
  /** Command that a reply to a question of the host stands for. */
  readonly answerInReply?: ((message: IncomingMessage) => Promise<SaidCommand | undefined>) | undefined;
  /** A command was stored in this group: carries out what has not been carried out there. Must not reject. */
  readonly runCommands: (group: Group) => Promise<void>;
  /** Judges how far somebody is heard. */
  readonly access: JudgeHearing;
  /** Keeps programs from running the agent in a loop. */
  readonly pace?: Pick<TurnPace, "judge" | "settle"> | undefined;
  /** Sends a notice of the host. */
  readonly notify: (draft: OutgoingDraft) => Promise<void>;
  readonly limits: RouterLimits;
  readonly clock: Clock;
  /** A rejection reaches the channel as "not received". */
  readonly publish: Publish<"message.received" | "limit.reached">;
}

/** Decision about a message before it is stored. */
interface Decision {
  readonly state: MessageState;
  readonly rule: string;
  readonly command: string | undefined;
  readonly argument?: string | undefined;
  /** Ids of the addressed agents, in a group with several. */
  readonly agents?: readonly string[] | undefined;
  /** Set when a message for the agent or the host is from somebody without the right. */
  readonly refused?: Exclude<Hearing, { readonly may: "trigger" }> | undefined;
}

const unknownChat: Receipt = { outcome: "unknown-chat" };

/**
 * Decides whose a message is and whether it is for the agent, and stores it, before it answers `stored`. Messages of a
 * group are stored in the order of the calls. One that comes again (same channel, chat, sender id and id) has no second
 * effect. `refused` with `retryAfterS` 0 is for good: the message will not be taken later either.
 */
export function createRouter(options: RouterOptions): AcceptMessage {
  const inOrder = createInOrder();
  const limits = new IntakeLimits(options);
  const strangers = new StrangerNotes(options.store.chats, options.clock);

  return async (incoming) => {
    const intake = options.intake();
    if (!intake.open) {
      const { code, reason } = intake;
      return { outcome: "refused", code, reason, retryAfterS: options.limits.retryAfterS, stopped: true };
    }
    if (incoming.text.length > options.limits.textChars) return tooLong(options.limits);
    const message = cleanMessage(incoming);
    const group = await groupOf(options, message);
    if (group && "outcome" in group) return group;
    if (!group) {
      if (isDenied(options, message)) return unknownChat;
      await strangers.note(message);
      await options.onStranger?.(message);
      return unknownChat;
    }
    // A group may be found by its name too; under one chat a message is the same one whichever way it came.
    const placed = { ...message, chat: group.chat };
    return inOrder(group.name, () => takeIn(options, limits, group, placed));
  };
}

/** Finds the message's group; nobody without the right creates one. */
async function groupOf(options: RouterOptions, message: IncomingMessage): Promise<Group | Receipt | undefined> {
  const known = options.registry.find(message.channel, message.chat);
  return known ?? (isDenied(options, message) ? undefined : options.autoRegister?.(message));
}

function isDenied({ access }: RouterOptions, { channel, sender }: IncomingMessage): boolean {
  return access(undefined, { channel, id: sender.id }).may === "nothing";
}

async function takeIn(
  options: RouterOptions,
  limits: IntakeLimits,
  group: Group,
  message: IncomingMessage,
): Promise<Receipt> {
  const decision = await decide(options, group, message);
  const isHeard = decision.refused?.may !== "nothing";
  const heard = isHeard ? message : withoutWords(message);
  const quote = await verifyQuote(options.store, group, heard);
  // What it says decides: until it is known, it counts as one that is for the agent.
  const isOpen = decision.rule === "unaddressed" && hasRecording(message) && options.hears?.() === true;
  // Only commands have room above the limits.
  const sized = { ...message, quote: quote && { id: quote.id, text: quote.text } };
  const reservation = await limits.reserve(group, sized, isOpen ? "waiting" : isHeard ? decision.state : "context");
  if (!reservation.granted) return reservation.receipt;
  let isTaken = false;
  try {
    const taken = await storeMessage(options, group, { message: heard, quote, decision, reservation });
    if (taken === "duplicate") return { outcome: "stored", duplicate: true };
    isTaken = true;
    limits.taken(group, message, taken.state);
    await follow(options, group, message, taken);
    return { outcome: "stored", duplicate: false };
  } finally {
    if (!isTaken) reservation.giveBack();
  }
}

/** That there was something, and nothing of it. */
function withoutWords(message: IncomingMessage): IncomingMessage {
  return { ...message, text: "", quote: undefined, attachments: undefined };
}

/** A message that is stored, and what was decided about it. */
interface Taken extends Decision {
  readonly seq: number;
  readonly at: number;
  readonly late: boolean;
  readonly pace: PaceVerdict | undefined;
}

/** A message that is about to be stored. */
interface ChannelIntake {
  readonly message: IncomingMessage;
  readonly quote: StoredQuote | undefined;
  readonly decision: Decision;
  readonly reservation: MessageReservation;
}

async function storeMessage(options: RouterOptions, group: Group, taking: ChannelIntake): Promise<Taken | "duplicate"> {
  const { message, decision, attachments } = await fetchAndHear(options, group, taking);
  const { command, argument } = decision;
  const at = options.clock.now();
  const late = decision.state === "waiting" && isLate(options, group, { sentAt: message.sentAt, at });
  const pace = decision.state === "waiting" && !late ? await options.pace?.judge(group, message.sender.id) : undefined;
  const state = pace?.held === undefined ? decision.state : "context";
  // What is said for nobody is there once.
  const agents = state === "waiting" ? decision.agents : undefined;
  const charge = taking.reservation.charge(attachments.reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0));
  const { quote } = taking;
  const placed = { group: group.name, state, at, command, argument, agents, late, attachments, quote, charge };
  tellComing(options, group, message, { state, late, agents });
  const { seq, duplicate } = await options.store.messages.insert(message, placed);
  if (duplicate) return "duplicate";
  if (pace) options.pace?.settle(group, pace);
  return { ...decision, state, seq, at, late, pace };
}

/** The files of the message; what is said in them may be what makes it one for the agent. */
async function fetchAndHear(
  options: RouterOptions,
  group: Group,
  { message: written, decision: first, reservation }: ChannelIntake,
): Promise<Pick<ChannelIntake, "message" | "decision"> & { readonly attachments: readonly StoredAttachment[] }> {
  if (first.command !== undefined) return { message: written, decision: first, attachments: [] };
  const fetched = await fetchNew(options, group, { message: written, roomBytes: reservation.fileRoom });
  const { message, attachments, spoken } = withTranscripts(written, fetched, options.limits.textChars);
  const isOpen = first.rule === "unaddressed" && spoken !== "";
  const decision = isOpen ? await decide(options, group, written, spoken) : first;
  return { message, decision, attachments };
}

function tellComing(
  { listener }: Pick<RouterOptions, "listener">,
  group: Group,
  message: IncomingMessage,
  { state, late, agents }: Pick<Taken, "state" | "late" | "agents">,
): void {
  if (state === "waiting" && !late) listener?.coming(group, message, agents);
}

/** Follows up a stored message. */
async function follow(options: RouterOptions, group: Group, message: IncomingMessage, taken: Taken): Promise<void> {
  try {
    const noted = note(options, group, message, taken);
    if (taken.state === "waiting") options.wake(group.name, taken.late, taken.agents);
    if (taken.state === "waiting" && !taken.late) options.listener?.received(group, message);
    await noted;
    if (taken.pace?.rest) await tellRest(options, group, message, taken.pace.rest);
    if (taken.refused?.may === "speak") await tellRefused(options, group, message, taken.refused.needed);
  } finally {
    if (taken.command) await options.runCommands(group);
  }
}

async function tellRest(options: RouterOptions, group: Group, message: IncomingMessage, rest: Rest): Promise<void> {
  const { name, channel, chat } = group;
  const { limit, allowed, ms } = rest;
  const data = { limit, allowed, channel, chat, restSeconds: Math.round(ms / 1000) };
  await options.publish({ type: "limit.reached", group: name, actor: memberActor(message.sender.id), data });
  const text = restingNotice(rest);
  const { id, thread } = message;
  await options.notify({ group: name, channel, chat, kind: "notice", text, inReplyTo: [id], thread, turn: undefined });
}

/** Tells a refused sender, at most once a day (UTC) per group, so that strangers cannot make the host talk. */
async function tellRefused(
  options: RouterOptions,
  group: Group,
  message: IncomingMessage,
  needed: Role,
): Promise<void> {
  const { name, channel, chat } = group;
  // No group has a name with a space.
  const account = { kind: "group", name: `${name} access` } as const;
  if (!(await options.store.intake.tell(utcDay(options.clock.now()), account, "messages"))) return;
  const text = `Only ${needed}s can ask me here. I read other messages as context.`;
  await options.notify({ group: name, channel, chat, kind: "notice", text, inReplyTo: [message.id], turn: undefined });
}

function isLate(
  { lateMs }: RouterOptions,
  group: Group,
  { sentAt, at }: { readonly sentAt: number | undefined; readonly at: number },
): boolean {
  return sentAt !== undefined && lateMs !== undefined && sentAt < at - lateMs(group.name);
}

/** Messages of the group that came later wait meanwhile, so that they stay behind this one. */
async function fetchNew(
  { store, fetchAll }: RouterOptions,
  group: Group,
  { message, roomBytes }: { readonly message: IncomingMessage; readonly roomBytes: number },
): Promise<readonly FetchedAttachment[]> {
  const { attachments = [] } = message;
  if (!fetchAll || attachments.length === 0 || (await store.messages.isKnown(message))) return [];
  return fetchAll(group.name, attachments, roomBytes);
}

async function decide(
  options: RouterOptions,
  group: Group,
  message: IncomingMessage,
  spoken?: string,
): Promise<Decision> {
  const access = options.access(group, { channel: message.channel, id: message.sender.id });
  if (access.may === "nothing") return { state: "handled", rule: "access-deny", command: undefined, refused: access };
  const wanted = await readWish(options, group, message, spoken);
  if (access.may === "trigger" || wanted.state === "context") return wanted;
  return { state: "context", rule: "access-trigger", command: undefined, refused: access };
}

/** Reads the message's intent as if everybody had all rights. */
async function readWish(
  options: RouterOptions,
  group: Group,
  message: IncomingMessage,
  spoken: string | undefined,
): Promise<Decision> {
  const said = commandOf(options, group, message) ?? (await options.answerInReply?.(message));
  if (said) return { state: "handled", rule: "command", ...said };
  const { outbox } = options.store;
  const isOwn: AddressOptions["isOwn"] = async (...reference) => (await outbox.own(...reference)) !== undefined;
  const names = agentsOf(group).map((id) => ({ id, name: nameIn(options, group, id) }));
  const rule = await addressRule({ names: names.map(({ name }) => name), isOwn, spoken }, group, message);
  if (rule === "unaddressed") return { state: "context", rule, command: undefined };
  const sessionOf: AgentsMeantOptions["sessionOf"] = (...reference) => outbox.sessionOf(...reference);
  const agents = group.agents && (await agentsMeant({ names, sessionOf }, message, spoken));
  return { state: "waiting", rule, command: undefined, agents };
}

/** Returns the command; a forwarded one is somebody else's. */
function commandOf(
  options: RouterOptions,
  group: Group,
  { text, forwarded }: IncomingMessage,
): SaidCommand | undefined {
  if (forwarded === true) return undefined;
  const commands = options.commandsOf(group);
  const [first, ...others] = agentsOf(group);
  const said = parseCommand(text, nameIn(options, group, first), commands);
  if (said || others.length === 0) return said;
  const names = others.map((id) => nameIn(options, group, id));
  return names.map((name) => commandFor(text, name, commands)).find((each) => each !== undefined);
}

/** Behind a mention of one of several agents a command is for that one. */
function commandFor(text: string, name: string, commands: readonly CommandForm[]): SaidCommand | undefined {
  const said = parseCommand(text, name, commands);
  return said?.argument === "" && isPerAgent(said, commands) ? { ...said, argument: name } : said;
}

function isPerAgent({ command }: SaidCommand, commands: readonly CommandForm[]): boolean {
  return commands.find(({ name }) => name === command)?.perAgent === true;
}

function nameIn({ assistantName, agentNameOf }: RouterOptions, group: Group, agent?: string): string {
  return agentNameOf?.(group, agent) ?? assistantName;
}

/** Puts the decision, the chat and the member on record, all at once. */
async function note(options: RouterOptions, group: Group, message: IncomingMessage, taken: Taken): Promise<void> {
  const { channel, chat, id, sender } = message;
  const { seq, at, rule, state, pace, agents } = taken;
  const attachments = message.attachments?.length ?? 0;
  const said = { channel, chat, id, seq, rule, state, chars: message.text.length, attachments };
  const facts = agents && state === "waiting" ? { ...said, agents } : said;
  const data = pace?.held === undefined ? facts : { ...facts, held: pace.held };
  await Promise.all([
    options.publish({ type: "message.received", group: group.name, actor: memberActor(sender.id), data }),
    options.store.chats.seen({ channel, chat, group: group.name, at, title: message.chatTitle }),
    taken.refused?.may === "nothing" ? undefined : options.store.chats.memberSeen(group.name, sender, at),
  ]);
}

function tooLong(limits: RouterLimits): Receipt {
  const reason = `longer than ${limits.textChars} characters`;
  return { outcome: "refused", code: "too-long", reason, retryAfterS: 0, stopped: false };
}
