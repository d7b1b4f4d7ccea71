import { memberActor } from "../../domain/people/actor.ts";
import { newCode } from "../../domain/rights/code.ts";
import type { Publish } from "../../domain/events/event.ts";
import { type Group, pairingLifetimeMs, type RequestKind, type RequestLimits } from "../../domain/chats/group.ts";
import type { IncomingMessage, OutgoingDraft } from "../../domain/chats/message.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import type { Store } from "../../stores/contract/store.ts";
import { namesMentioned } from "../addressing/mention.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

export interface OnboardingOptions {
  readonly store: { readonly requests: Pick<Store["requests"], "open"> };
  /** True when chats of this channel can ask to become groups. */
  readonly onboards: (channel: string) => boolean;
  /** True when people who write directly get a code. */
  readonly pairs: boolean;
  /** Groups that are told about requests. */
  readonly mainGroups: () => readonly Group[];
  /** True when somebody can read messages on this channel. */
  readonly isConnected: (channel: string) => boolean;
  readonly assistantName: string;
  /** A number below the one that is given, not to be guessed. */
  readonly randomBelow: (limit: number) => number;
  readonly deliver: () => void;
  /** Must never go back. */
  readonly clock: Pick<Clock, "now">;
  readonly publish: Publish<"admission.requested" | "pairing.requested">;
  readonly limits?: Readonly<Record<RequestKind, RequestLimits>>;
}

const requestLimits: Readonly<Record<RequestKind, RequestLimits>> = {
  admission: { open: 10, openOfSender: 3, perHour: 6, lifetimeMs: 7 * 24 * 3_600_000 },
  pairing: { open: 3, openOfSender: 1, perHour: 6, lifetimeMs: pairingLifetimeMs },
};

/** Whoever knows the code of a pairing is who asked: it must not be guessed. */
const codeLengths: Readonly<Record<RequestKind, number>> = { admission: 5, pairing: 8 };

/**
 * Turns a mention in an unknown chat into one request in the main groups, in the host's words; a direct chat gets its
 * code to give to the operator. Nothing of the message is kept, and strangers can neither flood a main group nor speak
 * in it.
 */
export function createOnboarding(options: OnboardingOptions): (message: IncomingMessage) => Promise<void> {
  return async (message) => {
    if (!options.onboards(message.channel)) return;
    const kind = wish(options, message);
    if (kind === undefined) return;
    const { channel, chat, sender, chatTitle: title } = message;
    const code = newCode(codeLengths[kind], options.randomBelow);
    const outgoing = [
      ...tellMainGroups(options, message, { kind, code }),
      ...(kind === "pairing" ? [tellCode(message, code)] : []),
    ];
    const request = { kind, code, channel, chat, title, sender, at: options.clock.now() };
    const limits = (options.limits ?? requestLimits)[kind];
    if (!(await options.store.requests.open(request, { limits, outgoing }))) return;
    options.deliver();
    const actor = memberActor(sender.id);
    // The code of a pairing is for whoever asked: it stays out of what others read.
    if (kind === "pairing") await options.publish({ type: "pairing.requested", actor, data: { channel, chat } });
    else await options.publish({ type: "admission.requested", actor, data: { channel, chat, code } });
  };
}

function wish(options: OnboardingOptions, message: IncomingMessage): RequestKind | undefined {
  const { direct, forwarded, mention, quote, text } = message;
  if (direct === true) return options.pairs ? "pairing" : undefined;
  if (forwarded === true || options.mainGroups().length === 0) return undefined;
  const isAsked = mention || quote?.toAgent === true || namesMentioned(text, [options.assistantName]).length > 0;
  return isAsked ? "admission" : undefined;
}

interface Asked {
  readonly kind: RequestKind;
  readonly code: string;
}

function tellMainGroups(options: OnboardingOptions, message: IncomingMessage, { kind, code }: Asked): OutgoingDraft[] {
  const text = wording(message, { kind, code });
  const command = ownCommand(`${kind === "pairing" ? "pairing" : "chats"} approve ${code}`);
  return options.mainGroups().map((group) => ({
    group: group.name,
    channel: group.channel,
    chat: group.chat,
    kind: "notice",
    text: options.isConnected(group.channel) ? text : `${text}, or on the host: ${command}`,
    inReplyTo: [],
    turn: undefined,
  }));
}

/** The chat is no group, so the notice belongs to none. */
function tellCode({ channel, chat, id }: IncomingMessage, code: string): OutgoingDraft {
  const text = `I do not know you yet. Tell whoever runs me this code: ${code}. It is valid for an hour. Nothing of what you wrote is kept.`;
  return { group: "", channel, chat, kind: "notice", text, inReplyTo: [id], turn: undefined };
}

function wording({ channel, chat, sender, direct, chatTitle = "" }: IncomingMessage, { kind, code }: Asked): string {
  const who = `Somebody called ${quotedName(sender.name, "nothing readable")}`;
  const where = direct === true ? "wrote to me" : `mentioned me in ${quotedName(chatTitle, "a chat without a title")}`;
  const id = chat
    .slice(0, 80)
    .replaceAll("@", " at ")
    .replaceAll(/[^A-Za-z0-9 .:+-]/g, " ");
  const when = kind === "pairing" ? "If this is the code that the person tells you, answer within an hour" : "Answer";
  return `${who} ${where} (${channel}, ${id}). ${when}: /approve ${code} [name] or /deny ${code}`;
}
