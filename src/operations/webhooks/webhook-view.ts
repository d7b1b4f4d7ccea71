import type { Webhook } from "../../domain/webhook.ts";

/** A webhook as it is configured, without its secret. */
export interface WebhookView extends Omit<Webhook, "secret"> {
  /** Is there such a group now? Calls are refused while there is none. */
  readonly hasGroup: boolean;
  /** Where it can be called from this machine; undefined: the gateway does not listen. */
  readonly url: string | undefined;
}

/** What came of a call that the host has sent to itself. */
export interface WebhookTest {
  readonly hook: string;
  readonly status: number;
  /** Of the work. */
  readonly id: string | undefined;
  readonly duplicate: boolean | undefined;
  /** Why it was refused. */
  readonly error: string | undefined;
}

/** What the operator does with webhooks. */
export interface WebhookOperations {
  /** By name. */
  listWebhooks(): Promise<readonly WebhookView[]>;
  /** Calls a webhook with this body, signed, as a program outside does. Rejects with `not_found`, or `conflict` where the gateway does not listen. */
  testWebhook(name: string, body: string): Promise<WebhookTest>;
}
