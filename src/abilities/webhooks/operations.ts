import { randomUUID } from "node:crypto";

import * as z from "zod";

import { AppError, toError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { defineOperation } from "../../operations/definition/define-operation.ts";
import { viewWebhooks, type WebhookNeeds, webhookView } from "../../operations/host/webhook-view.ts";
import { list, name, nothing } from "../../operations/definition/schemas.ts";

const timeoutMs = 10_000;
const bodyChars = 256 * 1024;
const testBody = '{"test":true}';
const accepted = 202;

/** The outcome of a call that the host has sent to itself. */
const webhookTest = z.strictObject({
  hook: z.string(),
  status: z.number(),
  id: z.string().optional().describe("Of the work"),
  duplicate: z.boolean().optional(),
  error: z.string().optional().describe("Why it was refused"),
});

export type WebhookTest = z.infer<typeof webhookTest>;

export const listWebhooks = defineOperation<WebhookNeeds>()({
  name: "hooks.list",
  summary: "list webhooks by name",
  input: nothing,
  output: list(webhookView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /hooks",
  listAs: "hooks",
  cli: {
    table: [
      "name",
      { title: "group", of: ({ group, hasGroup }) => (hasGroup ? group : `${group} (missing)`) },
      "role",
      { field: "perMinute", title: "per minute" },
      { title: "url", of: ({ url }) => url ?? "the gateway does not listen" },
      { field: "prompt", short: true },
    ],
    none: () => "config.yaml has no hooks.",
  },
  run: async (needs) => viewWebhooks(needs),
});

/** Rejects with `not_found`, or `conflict` where the gateway does not listen. */
export const testWebhook = defineOperation<WebhookNeeds>()({
  name: "hooks.test",
  summary: "call a webhook, signed, as a program outside does",
  input: z.strictObject({ name, body: z.string().max(bodyChars).default(testBody).describe("body of the call") }),
  output: webhookTest,
  may: { scope: "admin" },
  effect: "change",
  record: ({ name: hook }) => ({ name: hook }),
  cli: {
    args: ["name"],
    say: ({ status, id = "", error = "" }) =>
      status === accepted ? `The agent has it: work ${id}.` : `The call was refused with ${status}: ${error}`,
    fails: ({ status }) => status !== accepted,
  },
  run: async (needs, { name: hook, body }) => callWebhook(needs, hook, body),
});

async function callWebhook(needs: WebhookNeeds, hook: string, body: string): Promise<WebhookTest> {
  const { webhooks } = needs;
  const secret = webhooks.list().find((each) => each.name === hook)?.secret;
  const url = viewWebhooks(needs).find((each) => each.name === hook)?.url;
  if (secret === undefined) {
    throw new AppError("not_found", `There is no webhook "${hook}".`, { fix: ownCommand("hooks list") });
  }
  if (url === undefined)
    throw new AppError("conflict", `Webhook "${hook}" cannot be called: the gateway does not listen.`);
  const bytes = Buffer.from(body);
  const headers = {
    "content-type": "text/plain",
    "x-crabpot-signature": webhooks.sign(secret, bytes),
    "x-crabpot-delivery": `test-${randomUUID()}`,
  };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, { method: "POST", headers, body: bytes, signal });
    const { id, duplicate, error } = (await answer.json()) as Partial<WebhookTest> & { error?: { message?: string } };
    return { hook, status: answer.status, id, duplicate, error: error?.message };
  } catch (error) {
    throw new AppError("conflict", `Webhook "${hook}" could not be called at ${url}: ${toError(error).message}.`);
  }
}

/** Operations on webhooks. */
export const webhookOperations = [listWebhooks, testWebhook] as const;
