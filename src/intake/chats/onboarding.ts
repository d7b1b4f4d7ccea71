import { memberActor } from "../../domain/actor.ts";
import { newCode } from "../../domain/code.ts";
import type { Publish } from "../../events/event.ts";
import type { Group, RequestLimits } from "../../domain/group.ts";
import type { IncomingMessage, OutgoingDraft } from "../../domain/message.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import type { Store } from "../../stores/store.ts";
import { isMentioned } from "../addressing/mention.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

export interface OnboardingOptions {
  readonly store: { readonly requests: Pick<Store["requests"], "open"> };
  /** Do chats of this channel ask to become groups? */
  readonly onboards: (channel: string) => boolean;
  /** Where requests are told. None: there is nobody to ask. */
  readonly mainGroups: () => readonly Group[];
  /** Can somebody read what is said on this channel? */
  readonly isConnected: (channel: string) => boolean;
  readonly assistantName: string;
  /** A number below the one that is given, not to be guessed. */
  readonly randomBelow: (limit: number) => number;
  readonly deliver: () => void;
  readonly clock: Pick<Clock, "now">;
  readonly publish: Publish<"admission.requested">;
  readonly limits?: RequestLimits;
}

const requestLimits: RequestLimits = { open: 10, openOfSender: 3, perHour: 6, lifetimeMs: 7 * 24 * 3_600_000 };

const codeLength = 5;

/**
 * Who addresses the agent in a chat that is no group makes one request for it in the main groups, in the host's words.
 * Nothing of what was said is kept, and strangers can neither flood a main group nor speak in it.
 */
export function createOnboarding(options: OnboardingOptions): (message: IncomingMessage) => Promise<void> {
  return async (message) => {
    if (!options.onboards(message.channel) || !isForAgent(message, options.assistantName)) return;
    const mainGroups = options.mainGroups();
    if (mainGroups.length === 0) return;
    const code = newCode(codeLength, options.randomBelow);
    const { channel, chat, sender, chatTitle: title } = message;
    const text = wording(message, code);
    const outgoing = mainGroups.map((group): OutgoingDraft => ({
      group: group.name,
      channel: group.channel,
      chat: group.chat,
      kind: "notice",
      text: options.isConnected(group.channel)
        ? text
        : `${text}, or on the host: ${ownCommand(`chats approve ${code}`)}`,
      inReplyTo: [],
      turn: undefined,
    }));
    const request = { code, channel, chat, title, sender, at: options.clock.now() };
    if (!(await options.store.requests.open(request, { limits: options.limits ?? requestLimits, outgoing }))) return;
    options.deliver();
    await options.publish({
      type: "admission.requested",
      actor: memberActor(sender.id),
      data: { channel, chat, code },
    });
  };
}

function isForAgent({ direct, forwarded, mention, quote, text }: IncomingMessage, assistantName: string): boolean {
  if (direct === true || forwarded === true) return direct === true;
  return mention || quote?.toAgent === true || isMentioned(text, assistantName);
}

function wording({ channel, chat, sender, direct, chatTitle = "" }: IncomingMessage, code: string): string {
  const who = `Somebody called ${quotedName(sender.name, "nothing readable")}`;
  const where = direct === true ? "wrote to me" : `mentioned me in ${quotedName(chatTitle, "a chat without a title")}`;
  const id = chat
    .slice(0, 80)
    .replaceAll("@", " at ")
    .replaceAll(/[^A-Za-z0-9 .:+-]/g, " ");
  return `${who} ${where} (${channel}, ${id}). Answer: /approve ${code} [name] or /deny ${code}`;
}
