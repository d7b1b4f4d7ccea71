import { randomUUID } from "node:crypto";

import * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import { type Webhook, webhookPath } from "../../domain/work/webhook.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { defineOperation } from "../define-operation.ts";
import { list, name, nothing } from "../schemas.ts";

/** The parts that know the webhooks. */
export interface WebhookNeeds {
  readonly groups: { list(): readonly Pick<Group, "name">[] };
  readonly webhooks: {
    readonly list: () => readonly Webhook[];
    /** Address of the gateway; undefined when it does not listen. */
    readonly url: () => string | undefined;
    readonly sign: (secret: string, body: Uint8Array) => string;
  };
}

const timeoutMs = 10_000;
const bodyChars = 256 * 1024;
const testBody = '{"test":true}';
const accepted = 202;

/** A webhook as it is configured, without its secret. */
const webhookView = z.strictObject({
  name: z.string(),
  group: z.string(),
  hasGroup: z.boolean().describe("Calls are refused while there is no such group"),
  role: z.enum(["guest", "member"]),
  perMinute: z.number(),
  prompt: z.string().optional(),
  url: z.string().optional().describe("Where it can be called from this machine; absent: the gateway does not listen"),
});

export type WebhookView = z.infer<typeof webhookView>;

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

/** Webhooks by name. */
export function viewWebhooks({ webhooks, groups }: WebhookNeeds): WebhookView[] {
  const gateway = webhooks.url();
  const names = new Set(groups.list().map((group) => group.name));
  return webhooks.list().map(({ name: hook, group, prompt, role, perMinute }) => ({
    name: hook,
    group,
    hasGroup: names.has(group),
    role,
    perMinute,
    prompt,
    url: gateway === undefined ? undefined : `${gateway}${webhookPath(hook)}`,
  }));
}

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
