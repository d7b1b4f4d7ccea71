import { expect } from "vitest";

import { jsonLines } from "./crabpot.ts";
import type { Reply, TestHost } from "./host.ts";
import type { ModelScript } from "./model-servers/model-server.ts";

/** People are asked about each command. */
export const asks = { policy: { tools: { shell: "ask" } } };

/** Who may answer. */
export const bob = { sender: { id: "bob", name: "Bob" } };
export const withBob = { groups: { family: { members: { "http:bob": "admin" } }, other: {} }, config: asks };

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
export async function card(host: TestHost, after = 0): Promise<Reply & { readonly code: string }> {
  await expect
    .poll(async () => (await host.replies(after)).some(({ text }) => code.test(text)), { timeout: 60_000 })
    .toBe(true);
  const found = (await host.replies(after)).find(({ text }) => code.test(text));
  if (!found) throw new Error("there is no card");
  return { ...found, code: code.exec(found.text)?.[1] ?? "" };
}

/** What the operator sees of them, decided ones included. */
export async function approvals(host: TestHost, ...args: string[]): Promise<Record<string, unknown>[]> {
  return jsonLines((await host.cli("approvals", "list", "--all", ...args, "--json")).stdout);
}
