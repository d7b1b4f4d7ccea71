import { type Actor, memberActor } from "../../domain/people/actor.ts";
import {
  type ChatRequest,
  type Group,
  type GroupChat,
  type RequestSettlement,
  groupNameFault,
  isExpired,
  isGroupName,
  unknownRequest,
} from "../../domain/chats/group.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import { memberKey } from "../../domain/people/person.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import { plainSentence, quotedName } from "../../lib/text/plain-words.ts";
import type { PendingCommand, Store } from "../../stores/contract/store.ts";
import { type CodeTries, lockedText } from "../../rights/people/code-tries.ts";
import type { ChatBook } from "./chat-book.ts";
import type { GroupRegistry } from "./group-registry.ts";
import { greetingFor } from "./greeting.ts";
import { createInOrder } from "../in-order.ts";

export interface AdmissionOptions {
  readonly store: { readonly requests: Pick<Store["requests"], "get"> };
  readonly registry: Pick<GroupRegistry, "find" | "add">;
  /** Nothing is left of another chat under this name: no folder, no messages. */
  readonly isNameFree: (group: GroupChat) => Promise<boolean>;
  readonly assistantName: string;
  /** True when an agent of a group with default settings may use this tool. */
  readonly isOffered: (tool: string) => boolean;
  readonly tries: Pick<CodeTries, "isLocked" | "wrong" | "right">;
  /** For codes that are over some day: must never go back. */
  readonly now: () => number;
  readonly chats: Pick<ChatBook, "registered">;
  readonly publish: Publish<"group.added" | "person.paired">;
}

/** Outcome of an answer: a reply, other notices, and the request's new state. */
export interface AnswerOutcome {
  readonly text: string;
  readonly outgoing: readonly OutgoingDraft[];
  readonly settles?: RequestSettlement | undefined;
}

/** A decision, to be written in one transaction. */
export interface Decision extends AnswerOutcome {
  readonly settles: RequestSettlement;
}

/** The admitting person, and the group's wished name; undefined: like the chat. */
interface Wish {
  readonly name: string | undefined;
  readonly actor: Actor;
}

/**
 * Answers chats that ask to become groups, one at a time. May be called again for the same answer as long as the
 * outcome was not written: a group that is there already is not added twice.
 */
export interface Admissions {
  /** Carries out `/approve` and `/deny`. Rejects only for what may work later. */
  answer(pending: PendingCommand): Promise<AnswerOutcome>;
  /**
   * Makes a group. Rejects with AppErrors: `not_found` for an unknown code, `bad_input` and `conflict` for a name that
   * cannot be.
   */
  approve(code: string, wish: Wish): Promise<Decision & { readonly group: Group }>;
  /** Rejects with `not_found` for an unknown code. */
  deny(code: string): Promise<Decision>;
  /** Default group name for a chat. Rejects with `conflict` when all candidates are taken. */
  nameFor(chat: Pick<ChatRequest, "channel" | "chat" | "title" | "sender">): Promise<string>;
}

const namesTried = 1_000;

export function createAdmissions(options: AdmissionOptions): Admissions {
  const inOrder = createInOrder();
  return {
    answer: (pending) => inOrder("", () => answer(options, pending)),
    approve: (code, wish) => inOrder("", () => approve(options, code, wish)),
    deny: (code) => inOrder("", () => deny(options, code)),
    nameFor: (chat) => inOrder("", () => freeName(options, chat)),
  };
}

async function answer(options: AdmissionOptions, pending: PendingCommand): Promise<AnswerOutcome> {
  const { command, argument = "", message } = pending;
  const place = memberKey({ channel: message.channel, id: message.chat });
  if (await options.tries.isLocked(place)) return { text: lockedText, outgoing: [] };
  const [said = "", name, ...more] = argument.split(/\s+/);
  const request = await openRequest(options, said);
  if (!request) return { text: await describeWrong(options, place, { said, message: message.seq }), outgoing: [] };
  if (more.length > 0) return { text: `A name must be one word. ${howToAnswer}`, outgoing: [] };
  await options.tries.right(place);
  if (command === "deny") return deny(options, said);
  try {
    return await approve(options, said, { name, actor: memberActor(message.sender.id) });
  } catch (error) {
    if (!(error instanceof AppError) || isPassing(error)) throw error;
    return { text: `${describeChat(request)} is not a group yet: ${plainSentence(error.message)}`, outgoing: [] };
  }
}

const howToAnswer = "Use /approve CODE [name] or /deny CODE";

/** Counts the wrong code; none at all is no try. */
async function describeWrong(
  { tries }: AdmissionOptions,
  place: string,
  { said, message }: { readonly said: string; readonly message: number },
): Promise<string> {
  const isLocked = said !== "" && (await tries.wrong(place, message));
  return `There is no request with this code. ${isLocked ? lockedText : howToAnswer}`;
}

async function approve(
  options: AdmissionOptions,
  said: string,
  wish: Wish,
): Promise<Decision & { readonly group: Group }> {
  const request = await requestWith(options, said);
  const group = await makeGroup(options, request, wish);
  return {
    group,
    text: `${describeChat(request)} is now the group "${group.name}". I answer there when I am mentioned.`,
    outgoing: [greeting(options, group)],
    settles: { code: request.code, as: "approved" },
  };
}

async function deny(options: AdmissionOptions, said: string): Promise<Decision> {
  const request = await requestWith(options, said);
  const { code } = request;
  const text = `Denied ${describeChat(request)} without replying. To admit the chat after all, use /approve ${code}.`;
  return { text, outgoing: [], settles: { code, as: "denied" } };
}

/** Undefined as well for one whose time is over. */
async function openRequest({ store, now }: AdmissionOptions, code: string): Promise<ChatRequest | undefined> {
  const request = await store.requests.get(code.toUpperCase());
  return request && !isExpired(request, now()) ? request : undefined;
}

async function requestWith(options: AdmissionOptions, code: string): Promise<ChatRequest> {
  const request = await openRequest(options, code);
  if (request) return request;
  throw unknownRequest(code);
}

function describeChat({ title, sender, channel }: ChatRequest): string {
  return `${quotedName(title ?? sender.name, "The chat")} on ${channel}`;
}

async function makeGroup(options: AdmissionOptions, request: ChatRequest, wish: Wish): Promise<Group> {
  const { channel, chat, code } = request;
  const known = options.registry.find(channel, chat);
  if (known) return known;
  const name =
    wish.name === undefined
      ? await freeName(options, request)
      : await wishedName(options, { name: wish.name, channel, chat });
  const { publish, registry, chats } = options;
  const { actor } = wish;
  if (request.kind === "pairing")
    await publish({ type: "person.paired", actor, data: { channel, chat, id: request.sender.id } });
  const group = await registry.add({ name, channel, chat });
  await publish({ type: "group.added", group: name, actor, data: { name, channel, chat, code } });
  await chats.registered(group);
  return group;
}

/** An earlier group's folder and messages must not come to a chat by a name alone. */
async function wishedName({ isNameFree }: AdmissionOptions, wished: GroupChat): Promise<string> {
  const { name } = wished;
  const fault = groupNameFault(name);
  if (fault !== undefined) throw new AppError("bad_input", `this name ${fault}.`);
  if (await isNameFree(wished)) return name;
  throw new AppError("conflict", `the name "${name}" is or was used by another group; choose a different one.`);
}

async function freeName(
  { isNameFree }: AdmissionOptions,
  request: Pick<ChatRequest, "channel" | "chat" | "title" | "sender">,
): Promise<string> {
  const { title, sender, channel, chat } = request;
  const wanted = slug(title ?? sender.name) || slug(`${channel}-${chat}`);
  for (let count = 1; count <= namesTried; count += 1) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (isGroupName(name) && (await isNameFree({ name, channel, chat }))) return name;
  }
  throw new AppError("conflict", `all names like "${wanted}" are taken; give it another one.`);
}

/** `Família Müller 🏡` → `familia-muller` */
function slug(text: string): string {
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return plain
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replaceAll(/^-+|(?<!-)-+$/g, "");
}

function greeting({ assistantName, isOffered }: AdmissionOptions, group: Group): OutgoingDraft {
  const text = greetingFor(assistantName, isOffered);
  const { name, channel, chat } = group;
  return { group: name, channel, chat, kind: "notice", text, inReplyTo: [], turn: undefined };
}
