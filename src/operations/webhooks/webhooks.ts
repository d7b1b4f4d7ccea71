import { randomUUID } from "node:crypto";

import { type Webhook, webhookPath } from "../../domain/webhook.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import type { Group } from "../../domain/group.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { WebhookTest, WebhookView } from "../operations.ts";

export interface WebhookOperationOptions {
  readonly groups: { list(): readonly Pick<Group, "name">[] };
  readonly webhooks: {
    readonly list: () => readonly Webhook[];
    /** Where the gateway listens; undefined: it does not. */
    readonly url: () => string | undefined;
    readonly sign: (secret: string, body: Uint8Array) => string;
  };
}

const timeoutMs = 10_000;

export function listWebhooks({ webhooks, groups }: WebhookOperationOptions): WebhookView[] {
  const gateway = webhooks.url();
  const names = new Set(groups.list().map(({ name }) => name));
  return webhooks.list().map(({ name, group, prompt, role, perMinute }) => ({
    name,
    group,
    hasGroup: names.has(group),
    role,
    perMinute,
    prompt,
    url: gateway === undefined ? undefined : `${gateway}${webhookPath(name)}`,
  }));
}

export async function testWebhook(options: WebhookOperationOptions, name: string, body: string): Promise<WebhookTest> {
  const { list, sign } = options.webhooks;
  const secret = list().find((hook) => hook.name === name)?.secret;
  const url = listWebhooks(options).find((hook) => hook.name === name)?.url;
  if (secret === undefined) {
    throw new AppError("not_found", `There is no webhook "${name}".`, { fix: ownCommand("hooks list") });
  }
  if (url === undefined)
    throw new AppError("conflict", `Webhook "${name}" cannot be called: the gateway does not listen.`);
  const bytes = Buffer.from(body);
  const headers = {
    "content-type": "text/plain",
    "x-crabpot-signature": sign(secret, bytes),
    "x-crabpot-delivery": `test-${randomUUID()}`,
  };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, { method: "POST", headers, body: bytes, signal });
    const { id, duplicate, error } = (await answer.json()) as Partial<WebhookTest> & { error?: { message?: string } };
    return { hook: name, status: answer.status, id, duplicate, error: error?.message };
  } catch (error) {
    throw new AppError("conflict", `Webhook "${name}" could not be called at ${url}: ${toError(error).message}.`);
  }
}
