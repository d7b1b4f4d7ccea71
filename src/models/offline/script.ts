import type { ToolCall } from "../../domain/turns/model.ts";
import type { UserContent } from "../../domain/chats/part.ts";
import { partsOf } from "../../domain/chats/part.ts";
import type { ModelMessage } from "../../domain/turns/model.ts";
import { elementsIn, replaceElements, type TextElement } from "../../lib/text/elements.ts";
import { unescapeText } from "../../lib/text/markup.ts";

/** A message to the agent, as the scripted model reads it. */
export interface HeardMessage {
  /** The message's own number, which makes the ids of its tool calls. */
  readonly id: string;
  readonly text: string;
  /** Position in the conversation: results that answer it come later. */
  readonly position: number;
}

/** A tool call that a message asks for, and how it is headed in an answer that shows several. */
export interface ScriptedCall extends ToolCall {
  readonly header: string;
}

/**
 * The messages that wait for an answer: those to the agent since the last finished answer, in order. One that is shown
 * again, because its turn failed and is retried, counts where it was shown last.
 */
export function newMessages(messages: readonly ModelMessage[]): HeardMessage[] {
  const answered = messages.findLastIndex((message) => message.role === "assistant" && message.toolCalls.length === 0);
  const heard = new Map<string, HeardMessage>();
  for (const [position, message] of messages.entries()) {
    if (position <= answered || message.role !== "user") continue;
    for (const { id, text } of readMessages(textOf(message), position)) {
      heard.delete(id);
      heard.set(id, { id, text, position });
    }
  }
  return [...heard.values()];
}

/** Images are nothing to it. */
function textOf(message: UserContent): string {
  return partsOf(message)
    .map((part) => (part.kind === "text" ? part.text : ""))
    .join("");
}

/** Reads the form in which messages are shown to models; any other text is taken as one message. */
function readMessages(shown: string, position: number): { id: string; text: string }[] {
  const blocks = elementsIn(shown, "messages");
  if (blocks.length === 0) {
    const text = replaceElements(shown, "host-note", () => "").trim();
    return text === "" ? [] : [{ id: `text_${position}`, text }];
  }
  return blocks.flatMap((block) => {
    const agentName = unescapeText(attributeOf(block, "for") ?? "");
    return elementsIn(block.inner, "message")
      .filter((message) => attributeOf(message, "for-you") === "yes")
      .map((message) => ({
        id: attributeOf(message, "id") ?? "",
        text: withoutMention(readBody(message.inner), agentName),
      }));
  });
}

function attributeOf({ attributes }: TextElement, name: string): string | undefined {
  return new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
}

function readBody(body: string): string {
  return unescapeText(body.replace(/^<quote[^>]*>[\s\S]*?<\/quote>/, "").replaceAll(/<cut [^<>]*\/>/g, ""));
}

/**
 * Takes `@name` away from the beginnings of lines and from the end, where it is an address and not a part of a command.
 */
function withoutMention(text: string, agentName: string): string {
  const name = `@${RegExp.escape(agentName)}`;
  return text
    .replaceAll(new RegExp(String.raw`^[^\S\n]*${name}(?![\p{L}\p{N}_-])[,:]?[^\S\n]*`, "gimu"), "")
    .replace(new RegExp(String.raw`\s${name}[.!?]?\s*$`, "iu"), "")
    .trim();
}

/** The tool calls that a message asks for, line by line; `run` takes the rest of the message. None: it is only talk. */
export function callsOf(message: HeardMessage): ScriptedCall[] {
  const calls: ScriptedCall[] = [];
  const lines = message.text.split("\n");
  for (const [index, line] of lines.entries()) {
    const id = `offline_${message.id}_${index + 1}`;
    const command = /^\s*run\s+(.*)$/is.exec(lines.slice(index).join("\n"))?.[1]?.trim();
    if (/^\s*run\s/i.test(line) && command)
      return [...calls, { id, name: "shell", input: { command }, header: `$ ${command}` }];
    const call = fileCall(line);
    if (call) calls.push({ id, ...call });
  }
  return calls;
}

function fileCall(line: string): Omit<ScriptedCall, "id"> | undefined {
  const [, verb = "", path = "", content = ""] = /^\s*(read|write)\s+(\S+)(?:\s(.*))?$/i.exec(line) ?? [];
  const isRead = verb.toLowerCase() === "read";
  // "read the mail" is talk: a path stands alone on its line.
  if (isRead && content.trim() === "") return { name: "read_file", input: { path }, header: `read ${path}` };
  if (verb !== "" && !isRead) return { name: "write_file", input: { path, content }, header: `write ${path}` };
  return undefined;
}
