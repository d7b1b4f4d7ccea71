import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import type { Webhook, WebhookAnswer, WebhookCall } from "../../domain/work/webhook.ts";
import type { AbilityService, ValuesOf } from "../define-ability.ts";
import type { webhookConfig } from "./config.ts";
import { signatureOf } from "./signature.ts";
import { WebhookIntake, type WebhookIntakeOptions } from "./webhook-intake.ts";

/** The parts of the host that webhooks need. */
export interface WebhookNeeds extends Pick<
  WebhookIntakeOptions,
  "intake" | "store" | "workAdded" | "publish" | "clock" | "forwardClock"
> {
  readonly groups: { byName(name: string): Group | undefined };
  /** The address of the gateway on this machine; undefined while it does not listen. */
  readonly gatewayUrl: () => string | undefined;
  readonly logger: Logger;
}

/** Makes work of what other programs send. */
export class WebhookService implements AbilityService {
  readonly url: () => string | undefined;
  readonly #settings: () => ValuesOf<typeof webhookConfig.top>;
  readonly #intake: WebhookIntake;

  constructor(
    { groups, gatewayUrl, logger, ...needs }: WebhookNeeds,
    settings: () => ValuesOf<typeof webhookConfig.top>,
  ) {
    this.url = gatewayUrl;
    this.#settings = settings;
    this.#intake = new WebhookIntake({
      ...needs,
      hook: (name) => this.#named(name),
      groupNamed: (name) => groups.byName(name),
      onFault: (error) => logger.error({ err: error }, "a refused call of a webhook could not be recorded"),
    });
  }

  receive(call: WebhookCall): Promise<WebhookAnswer> {
    return this.#intake.receive(call);
  }

  /** All webhooks, by name. */
  list(): Webhook[] {
    return Object.keys(this.#settings().hooks)
      .toSorted()
      .flatMap((name) => this.#named(name) ?? []);
  }

  /** The signature of a body, as its sender makes it. */
  sign(secret: string, body: Uint8Array): string {
    return signatureOf(secret, body);
  }

  /** The gateway takes no more calls when this is called. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #named(name: string): Webhook | undefined {
    const { hooks } = this.#settings();
    const entry = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
    return entry && { prompt: undefined, ...entry, name };
  }
}
