import type { HeardSound, StoredAttachment, StoredMessage, StoredQuote } from "../../domain/chats/message.ts";
import type { Part } from "../../domain/chats/part.ts";
import { cutMiddle } from "../../lib/text/cut-middle.ts";
import { formatBytes } from "../../lib/text/bytes.ts";
import { escapeAttribute, escapeText } from "../../lib/text/markup.ts";
import type { MessageIds } from "./message-ids.ts";
import type { ZoneClock } from "../../lib/time/zone-clock.ts";

const maxTextChars = 16_000;
const maxQuoteChars = 1_000;
const maxAttributeChars = 256;
const maxRemarkChars = 8_000;

/**
 * Messages as the model sees them, as one text, but that each picture which the model is shown is behind its
 * element:
 *
 *     <messages for="crab" timezone="America/New_York"> <omitted count="3"/> <message id="12" from="Ann" sender="4917…"
 *     time="2026-01-15 13:30" for-you="yes" reply-to="A1"><quote from="Bo" sender="49…">old text</quote>new text</message>
 *     </messages>
 *
 * Files that came with a message stand in front of its text, as `<attachment kind="image">/workspace/group/inbox/… (123
 * kB, image/jpeg, called "…")</attachment>`. `id` (see `MessageIds`) and `time` are the host's, `from` is the name that
 * the member chose, `sender` the channel's stable id, `for-you` stands only on messages to the agent, `thread` only
 * where not all are of the same one. All that comes from members is escaped, so that it can neither forge an element,
 * an attribute or another sender, nor hide anything. Long texts are cut in the middle, where `<cut characters="…"/>`
 * says so.
 */
export function renderMessages(input: {
  readonly messages: readonly StoredMessage[];
  /** Number of earlier messages left out. */
  readonly omitted: number;
  readonly agentName: string;
  readonly timeZone: ZoneClock;
  readonly idOf: MessageIds;
  /** Those that are shown, or their captions as they stand in a prompt; of the others, a remark in their place. */
  readonly images?: ReadonlyMap<StoredAttachment, Part | string> | undefined;
}): readonly Part[] {
  const head = `<messages${attribute("for", input.agentName)}${attribute("timezone", input.timeZone.zone)}>`;
  const omitted = input.omitted > 0 ? [`<omitted count="${input.omitted}"/>`] : [];
  const namesThreads = new Set(input.messages.map(({ thread }) => thread)).size > 1;
  const messages = input.messages.flatMap((message) => [
    ...renderMessage(message, { ...input, namesThreads }),
    textPart("\n"),
  ]);
  return [textPart(`${[head, ...omitted].join("\n")}\n`), ...messages, textPart("</messages>")];
}

function renderMessage(
  message: StoredMessage,
  {
    agentName,
    timeZone,
    idOf,
    images,
    namesThreads,
  }: Omit<Parameters<typeof renderMessages>[0], "messages" | "omitted"> & { readonly namesThreads: boolean },
): readonly Part[] {
  const { quote, sender } = message;
  const attributes = [
    attribute("id", idOf(message.seq)),
    attribute("from", sender.name),
    attribute("sender", sender.id),
    attribute("time", timeZone.minuteAt(message.sentAt ?? message.receivedAt)),
    message.state === "context" ? "" : attribute("for-you", "yes"),
    quote ? attribute("reply-to", quote.id) : "",
    message.forwarded === true ? attribute("forwarded", "yes") : "",
    namesThreads && message.thread !== undefined ? attribute("thread", message.thread) : "",
  ];
  const attachments = (message.attachments ?? []).flatMap((attachment) => {
    const image = images?.get(attachment);
    const shown = typeof image === "string" ? textPart(`[${renderText(image, maxRemarkChars)}]`) : image;
    return [textPart(renderAttachment(attachment)), ...(shown ? [shown] : [])];
  });
  return [
    textPart(`<message${attributes.join("")}>${quote ? renderQuote(quote, sender.name, agentName) : ""}`),
    ...attachments,
    textPart(`${renderText(message.text, maxTextChars)}</message>`),
  ];
}

function textPart(text: string): Part {
  return { kind: "text", text };
}

/** The path stands between `>` and a blank, for programs that look for it too. */
function renderAttachment({ kind, name, file, failure, heard }: StoredAttachment): string {
  const called = name === undefined ? "" : `, called "${renderText(name, maxAttributeChars)}"`;
  const what = file
    ? `${escapeText(file.path)} (${formatBytes(file.bytes)}, ${escapeText(file.mimeType)}${called})`
    : `could not be fetched: ${renderText(failure ?? "unknown", maxAttributeChars)}${called}`;
  return `<attachment kind="${kind}"${heard ? renderHeard(heard) : ""}>${what}</attachment>`;
}

/** ` seconds="12.3" transcribed="yes"`; instead of what was not heard, why. */
function renderHeard({ seconds, transcribed, failure }: HeardSound): string {
  const length = seconds === undefined ? "" : ` seconds="${seconds}"`;
  if (transcribed === true) return `${length} transcribed="yes"`;
  return `${length} transcribed="no"${failure === undefined ? "" : attribute("because", failure)}`;
}

/** A quote of which only the id is known is told by the message's `reply-to` alone. */
function renderQuote({ text, author }: StoredQuote, quoter: string, agentName: string): string {
  if (text === undefined) return "";
  const from =
    author === undefined
      ? `${attribute("quoted-by", quoter)} unverified="yes"`
      : author === "agent"
        ? `${attribute("from", agentName)} yours="yes"`
        : `${attribute("from", author.name)}${attribute("sender", author.id)}`;
  return `<quote${from}>${renderText(text, maxQuoteChars)}</quote>`;
}

function renderText(text: string, maxChars: number): string {
  const { head, tail, omitted } = cutMiddle(text, maxChars);
  const cut = omitted > 0 ? `<cut characters="${omitted}"/>` : "";
  return escapeText(head) + cut + escapeText(tail);
}

function attribute(name: string, value: string): string {
  const { head, tail, omitted } = cutMiddle(value, maxAttributeChars);
  return ` ${name}="${escapeAttribute(omitted > 0 ? `${head}…${tail}` : head)}"`;
}
