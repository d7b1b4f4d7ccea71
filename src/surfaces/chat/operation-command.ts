import type { z } from "zod";

import { memberActor } from "../../domain/people/actor.ts";
import { memberKey } from "../../domain/people/person.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import { plainSentence } from "../../lib/text/plain-words.ts";
import type { AnyChatForm, ChatView } from "../../operations/definition/chat-form.ts";
import type { AnyOperation } from "../../operations/definition/define-operation.ts";
import { invoke } from "../../operations/invoke.ts";
import { agentsNamed } from "./agents-addressed.ts";
import type { ChatCommand, CommandServices, GivenCommand } from "./command.ts";

/** A command whose forms are operations. */
export interface OperationCommand extends Omit<ChatCommand, "run"> {
  readonly load: () => Promise<readonly AnyOperation[]>;
  /** Lines before and after the answer to the command alone. */
  readonly around?: (
    given: GivenCommand,
    services: CommandServices,
  ) => { readonly before?: string; readonly after?: string };
}

/** A command that does what its operations do: in its sender's name, and for the group of the chat. */
export function operationCommand({ load, around, ...command }: OperationCommand): ChatCommand {
  return {
    ...command,
    isOperation: true,
    run: async (given, services) => {
      const said = (given.pending.argument ?? "").trim();
      const forms = (await load()).flatMap((operation) => formsOf(operation, command.name));
      const found = forms.flatMap((form) => wordsOf(form, said) ?? [])[0];
      if (!found) return { text: `Use ${forms.map(({ chat }) => chat.form.replace("…", "")).join(", or ")}.` };
      try {
        const text = await answerOf(found, given, services);
        const { before, after } = (said === "" && around?.(given, services)) || {};
        return { text: [before, text, after].filter((line) => line !== undefined).join("\n") };
      } catch (error) {
        if (!(error instanceof AppError) || isPassing(error)) throw error;
        const fix = found.chat.tellsFix ? [error.fix ?? []].flat() : [];
        return { text: [plainSentence(error.message), ...fix].join(" ") };
      }
    },
  };
}

interface Form {
  readonly operation: AnyOperation;
  readonly chat: AnyChatForm;
}

interface Found extends Form {
  readonly words: Readonly<Record<string, string>>;
}

function formsOf(operation: AnyOperation, command: string): Form[] {
  const forms: readonly AnyChatForm[] = [operation.chat ?? []].flat();
  return forms.filter(({ form }) => form.split(" ")[0] === `/${command}`).map((chat) => ({ operation, chat }));
}

/** Undefined: the words are not of this form. */
function wordsOf(form: Form, said: string): Found | undefined {
  const [, ...parts] = form.chat.form.split(" ");
  const names = parts.filter(isParameter).map((part) => part.replaceAll(/[^A-Z]/g, "").toLowerCase());
  const match = new RegExp(`^${parts.map(patternOf).join("")}$`, "i").exec(said);
  if (!match) return undefined;
  const typed = names.map((name, index) => [name, match[index + 1]] as const);
  return { ...form, words: Object.fromEntries(typed.filter(([, word]) => word !== undefined)) as Found["words"] };
}

function isParameter(part: string): boolean {
  return part === part.toUpperCase();
}

function patternOf(part: string, index: number): string {
  const gap = index === 0 ? "" : "\\s+";
  if (!isParameter(part)) return `${gap}${part}`;
  const word = part.includes("…") ? "([^]+)" : "(\\S+)";
  return part.startsWith("[") ? `(?:${gap}${word})?` : `${gap}${word}`;
}

async function answerOf(
  { operation, chat, words }: Found,
  given: GivenCommand,
  services: CommandServices,
): Promise<string> {
  const { group } = given;
  const own = "group" in shapeOf(operation.input) ? { group: group.name } : {};
  const view = viewOf(given, services);
  const ask = async (input: object): Promise<never> =>
    (await invoke(operation, services.operations(), { ...own, ...input }, callerOf(given, services))) as never;
  if (chat.compose) return chat.compose(ask as never, view, words);
  const input = { ...own, ...(chat.input?.(words, view) ?? words) };
  return chat.say?.(await ask(input), view, input as never) ?? "";
}

function callerOf({ group, pending: { message }, asker }: GivenCommand, { publish, roles }: CommandServices) {
  const id = { channel: message.channel, id: message.sender.id };
  const own = memberKey(id);
  const keys = [own, ...roles.keysOf(id).filter((key) => key !== own)];
  return {
    actor: memberActor(message.sender.id),
    member: { group: group.name, isMain: group.main, role: asker.role, keys },
    requestedAt: message.receivedAt,
    scopes: new Set<never>(),
    publish,
    isAnnounced: true,
    signal: new AbortController().signal,
  };
}

function viewOf({ group, pending: { message }, asker, commands }: GivenCommand, services: CommandServices): ChatView {
  const key = memberKey({ channel: message.channel, id: message.sender.id });
  return {
    now: services.now(),
    showTime: (time) => services.showTime(time, group),
    group,
    agentsCalled: (said) => agentsNamed(group, services, said),
    asker: { key, name: message.sender.name, role: asker.role },
    commands: commands.map(({ name }) => name),
  };
}

function shapeOf(input: z.ZodType): object {
  return (input as Partial<z.ZodObject>).shape ?? {};
}
