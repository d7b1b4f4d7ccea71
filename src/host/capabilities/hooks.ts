import { WebhookIntake } from "../../abilities/webhooks/webhook-intake.ts";
import type { Webhook } from "../../domain/work/webhook.ts";
import type { Config } from "../../config/schema/config.ts";
import type { DueWork } from "../../work/queue/due-work.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { IntakeGuard } from "../../intake/limits/intake-guard.ts";
import type { AppContext } from "../context.ts";

/** What is configured for the webhook of this name. */
function webhookNamed({ hooks }: Pick<Config, "hooks">, name: string): Webhook | undefined {
  const entry = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
  return entry && { prompt: undefined, ...entry, name };
}

/** All webhooks, by name. */
export function webhooksOf(config: Pick<Config, "hooks">): Webhook[] {
  return Object.keys(config.hooks)
    .toSorted()
    .flatMap((name) => webhookNamed(config, name) ?? []);
}

/** Makes work of what other programs send. */
export function createWebhooks(
  { config, store, publish, clock, forwardClock, logger }: AppContext,
  options: {
    readonly groups: Pick<GroupRegistry, "byName">;
    readonly guard: Pick<IntakeGuard, "state" | "failed">;
    readonly dueWork: Pick<DueWork, "changed">;
  },
): WebhookIntake {
  return new WebhookIntake({
    hook: (name) => webhookNamed(config, name),
    groupNamed: (name) => options.groups.byName(name),
    intake: options.guard,
    store,
    workAdded: () => options.dueWork.changed(),
    publish,
    clock,
    forwardClock,
    onFault: (error) => logger.error({ err: error }, "a refused call of a webhook could not be recorded"),
  });
}
