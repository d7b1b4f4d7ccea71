import { type Erasing, erasedText } from "../../domain/erasure.ts";
import type { ToolResult } from "../../domain/turns/model.ts";
import { type Part, partsOf, toUserContent } from "../../domain/chats/part.ts";
import type { StepBody } from "../../domain/turns/turn.ts";
import { replaceElements, type TextElement } from "../../lib/text/elements.ts";
import { unescapeText } from "../../lib/text/markup.ts";

/** No prompt holds it: what hides is written as a reference. */
const placeholder = (index: number): string => `\u0000${index}\u0000`;
// oxlint-disable-next-line no-control-regex -- the placeholders themselves
const placeholders = /\u0000(\d+)\u0000/;

export interface StepErasing extends Erasing {
  /** Ids of their messages, as the channel has them. */
  readonly messageIds: ReadonlySet<string>;
  /** True when nobody else began the step's turn: everything in it was for them. */
  readonly isTheirs: boolean;
}

/** The step without their words; undefined where it holds none. Messages of others stay as they were shown. */
export function rewriteStep(body: StepBody, erasing: StepErasing): StepBody | undefined {
  const after = rewritten(body, erasing);
  return JSON.stringify(after) === JSON.stringify(body) ? undefined : after;
}

function rewritten(body: StepBody, erasing: StepErasing): StepBody {
  if (body.kind === "user") return { kind: "user", ...toUserContent(rewriteShown(partsOf(body), erasing)) };
  if (body.kind === "tools")
    return { kind: "tools", results: body.results.map((each) => rewriteResult(each, erasing)) };
  const { thoughts, ...answer } = body.answer;
  const { denied } = body;
  const text = rewriteText(answer.text, erasing);
  const toolCalls = answer.toolCalls.map((call) => ({ ...call, input: rewriteValue(call.input, erasing) }));
  // Signed as a whole, and of use only behind what was said: they go with the first word.
  const isSame = JSON.stringify([text, toolCalls]) === JSON.stringify([answer.text, answer.toolCalls]);
  const keepsThoughts =
    thoughts !== undefined && isSame && !erasing.isTheirs && !erasing.holds(JSON.stringify(thoughts));
  return {
    ...body,
    answer: { ...answer, text, toolCalls, ...(keepsThoughts && { thoughts }) },
    denied: denied.map((each) => rewriteResult(each, erasing)),
  };
}

function rewriteText(text: string, { isTheirs, holds }: StepErasing): string {
  return text !== "" && (isTheirs || holds(text)) ? erasedText : text;
}

/** Rewrites every text in a value; names stay, or a call would be invalid. */
function rewriteValue(value: unknown, erasing: StepErasing): unknown {
  if (typeof value === "string") return rewriteText(value, erasing);
  if (Array.isArray(value)) return value.map((item) => rewriteValue(item, erasing));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewriteValue(item, erasing)]));
}

function rewriteResult(result: ToolResult, erasing: StepErasing): ToolResult {
  const parts = partsOf(result);
  const isGone = erasing.isTheirs || parts.some((part) => part.kind === "text" && erasing.holds(part.text));
  return isGone ? { callId: result.callId, output: erasedText, isError: result.isError } : result;
}

/** Rewrites shown parts as one text with pictures: an element may begin before one and end after it. */
function rewriteShown(parts: readonly Part[], erasing: StepErasing): readonly Part[] {
  const joined = parts.map((part, index) => (part.kind === "text" ? part.text : placeholder(index))).join("");
  const rewriters = { message: shownMessage, memory: shownMemory, work: shownWork };
  const text = Object.entries(rewriters).reduce(
    (shown, [name, rewrite]) => replaceElements(shown, name, (element) => rewrite(element, erasing)),
    joined,
  );
  if (text === joined && isOfAgentOnly(joined) && rewriteText(unescapeText(joined), erasing) === erasedText)
    return [{ kind: "text", text: erasedText }];
  const pieces = text.split(placeholders);
  return pieces.flatMap((piece, index): readonly Part[] => {
    if (index % 2 === 1) return parts[Number(piece)] === undefined ? [] : [parts[Number(piece)] as Part];
    return piece === "" ? [] : [{ kind: "text", text: piece }];
  });
}

/** True for text to an agent that is no member's message: news of the host, or another agent's request. */
function isOfAgentOnly(text: string): boolean {
  return !text.includes("<message ") && !/^<work cause="[^"]*" from="(?!agent)/.test(text);
}

function shownMessage({ whole, attributes, inner }: TextElement, erasing: StepErasing): string {
  const sender = valueOf(attributes, "sender");
  if (sender !== undefined && erasing.people.some(({ id }) => id === sender))
    return `<message${kept(attributes)}>${erasedText}</message>`;
  const repliesToThem = erasing.messageIds.has(valueOf(attributes, "reply-to") ?? "");
  const holds = (text: string): boolean => erasing.holds(unescapeText(text.replaceAll(/<[^<>]*>/g, "")));
  const without = replaceElements(inner, "quote", ({ whole: quoted }) =>
    repliesToThem || holds(quoted) ? `<quote>${erasedText}</quote>` : quoted,
  );
  return without === inner ? whole : `<message${attributes}>${without}</message>`;
}

function shownMemory({ whole, attributes, inner }: TextElement, erasing: StepErasing): string {
  const names = [valueOf(attributes, "from"), valueOf(attributes, "about")];
  const senders = (valueOf(attributes, "sender") ?? valueOf(attributes, "asked-by"))?.split(", ") ?? [];
  const isTheirs =
    names.some((name) => name !== undefined && erasing.names.includes(name)) ||
    erasing.people.some(({ id }) => senders.includes(id));
  return isTheirs || erasing.holds(unescapeText(inner)) ? `<memory${kept(attributes)}>${erasedText}</memory>` : whole;
}

function shownWork({ whole, attributes, inner }: TextElement, erasing: StepErasing): string {
  const by = valueOf(attributes, "by");
  const isTheirs = by !== undefined && erasing.people.some(({ channel, id }) => `${channel}:${id}` === by);
  // What a program sent is nobody's, as in the work that it came as.
  const isNobodys = valueOf(attributes, "from") === "agent" || by === undefined;
  if (!isTheirs && !(isNobodys && erasing.holds(unescapeText(inner.replaceAll(/<[^<>]*>/g, " "))))) return whole;
  return `<work${attributes}>${erasedText}</work>`;
}

function valueOf(attributes: string, name: string): string | undefined {
  const found = new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
  return found === undefined ? undefined : unescapeText(found);
}

/** Attributes that do not identify anyone. */
function kept(attributes: string): string {
  return [...attributes.matchAll(/ (?:id|time|for-you|category|origin)="[^"]*"/g)].join("");
}
