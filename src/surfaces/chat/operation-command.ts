import type { z } from "zod";

import { memberActor } from "../../domain/people/actor.ts";
import { memberKey } from "../../domain/people/person.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import { plainSentence } from "../../lib/text/plain-words.ts";
import type { AnyOperation } from "../../operations/definition/define-operation.ts";
import { invoke } from "../../operations/invoke.ts";
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
      const words = (given.pending.argument ?? "").split(/\s+/).filter((word) => word !== "");
      const forms = (await load()).flatMap((operation) => formOf(operation, command.name) ?? []);
      const found = forms.flatMap((form) => parametersIn(form, words) ?? [])[0];
      if (!found) return { text: `Write: ${forms.map(({ form }) => form).join(", or ")}.` };
      try {
        const text = await answerOf(found, given, services);
        const { before, after } = (words.length === 0 && around?.(given, services)) || {};
        return { text: [before, text, after].filter((line) => line !== undefined).join("\n") };
      } catch (error) {
        if (!(error instanceof AppError) || isPassing(error)) throw error;
        return { text: plainSentence(error.message) };
      }
    },
  };
}

interface Form {
  readonly operation: AnyOperation;
  readonly form: string;
  /** Behind the command. */
  readonly words: readonly string[];
}

interface Found {
  readonly operation: AnyOperation;
  readonly input: Readonly<Record<string, string>>;
}

function formOf(operation: AnyOperation, command: string): Form | undefined {
  const { form = "" } = operation.chat ?? {};
  const [name, ...words] = form.split(" ");
  return name === `/${command}` ? { operation, form, words } : undefined;
}

/** Undefined: the words are not of this form. */
function parametersIn({ operation, words }: Form, said: readonly string[]): Found | undefined {
  if (words.length !== said.length) return undefined;
  if (!words.every((word, index) => isParameter(word) || word === said[index]?.toLowerCase())) return undefined;
  const given = words.flatMap((word, index) => (isParameter(word) ? [[word.toLowerCase(), said[index] ?? ""]] : []));
  return { operation, input: Object.fromEntries(given) as Record<string, string> };
}

function isParameter(word: string): boolean {
  return word === word.toUpperCase();
}

async function answerOf(
  { operation, input }: Found,
  { group, pending: { message }, asker }: GivenCommand,
  { operations, publish, roles, now, showTime }: CommandServices,
): Promise<string> {
  const id = { channel: message.channel, id: message.sender.id };
  const own = memberKey(id);
  const keys = [own, ...roles.keysOf(id).filter((key) => key !== own)];
  const given = { ...input, ...("group" in shapeOf(operation.input) && { group: group.name }) };
  const answer = await invoke(operation, operations(), given, {
    actor: memberActor(message.sender.id),
    member: { group: group.name, role: asker.role, keys },
    requestedAt: message.receivedAt,
    scopes: new Set(),
    publish,
    signal: new AbortController().signal,
  });
  const view = { now: now(), showTime: (time: number) => showTime(time, group) };
  return operation.chat?.say(answer as never, view, given as never) ?? "";
}

function shapeOf(input: z.ZodType): object {
  return (input as Partial<z.ZodObject>).shape ?? {};
}
