import { expect } from "vitest";

import type { Reply } from "./host.ts";
import type { ModelScript } from "./model-servers/model-server.ts";
import type { TestGroup } from "./shared-host.ts";
import { listApprovals } from "../../src/operations/approvals/operations.ts";

/** Runs what it was told last. */
export const doesAsTold: ModelScript = ({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: `so: ${last.text}` };
  const [, command = ""] = /run ([^<\n]*)/.exec(last?.text ?? "") ?? [];
  return { toolCalls: [{ name: "shell", input: { command } }] };
};

/** People are asked about each command. */
export const asks = { policy: { tools: { shell: "ask" } } };

/** A person who may answer. */
export const bob = { sender: { id: "bob", name: "Bob" } };
export const admins = { members: { "http:bob": "admin" } };

/** The code of a card. */
export const code = /Code ([0-9A-Z]{6})/;

/** Runs this once, then says what it was told about it. */
export function running(command: string): ModelScript {
  return ({ toolOutputs }) => {
    const result = toolOutputs.at(-1);
    return result === undefined ? { toolCalls: [{ name: "shell", input: { command } }] } : { text: `so: ${result}` };
  };
}

/** The card that asks, as soon as it is in the chat. */
export async function card(chat: Pick<TestGroup, "replies">, after = 0): Promise<Reply & { readonly code: string }> {
  const cards = async () => (await chat.replies(after)).filter(({ text }) => code.test(text));
  await expect.poll(async () => (await cards()).length).toBeGreaterThan(0);
  const [found] = await cards();
  if (!found) throw new Error("there is no card");
  return { ...found, code: code.exec(found.text)?.[1] ?? "" };
}

/** A group's approvals for the operator, decided ones included. */
export async function approvals({ host, name }: TestGroup) {
  return host.control.call(listApprovals, { group: name, all: true });
}
