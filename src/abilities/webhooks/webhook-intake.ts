import { createHash, randomUUID } from "node:crypto";

import { addressActor } from "../../domain/people/actor.ts";
import type { Group } from "../../domain/chats/group.ts";
import { sortOrigins } from "../../domain/people/origin.ts";
import { mainSessionKey } from "../../domain/turns/session.ts";
import type { Webhook, WebhookAnswer, WebhookCall, WebhookRefusal } from "../../domain/work/webhook.ts";
import type { NewWork } from "../../domain/work/work.ts";
import type { IntakeState } from "../../channels/channel.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { RateLimiter } from "../../lib/time/rate-limiter.ts";
import type { Store } from "../../stores/contract/store.ts";
import { readPayload } from "./payload.ts";
import { isSigned } from "./signature.ts";

export interface WebhookIntakeOptions {
  /** Current webhook of this name. */
  readonly hook: (name: string) => Webhook | undefined;
  readonly groupNamed: (name: string) => Group | undefined;
  readonly intake: { state(): IntakeState; failed(error: unknown): void };
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "open">;
    readonly work: Pick<Store["work"], "add" | "dueCount">;
  };
  readonly workAdded: () => void;
  readonly publish: Publish<"webhook.received" | "webhook.refused">;
  readonly clock: Pick<Clock, "monotonic">;
  /** For what must be over some day: never goes back. */
  readonly forwardClock: Pick<Clock, "now">;
  readonly onFault: (error: Error) => void;
}

/** Headers in which programs number what they send. */
const deliveryHeaders = ["x-crabpot-delivery", "x-github-delivery"] as const;
/** One body without a number is one call for so long. */
const sameBodyMs = 5 * 60_000;
/** Maximum calls waiting for a group's agent. */
const mostWaiting = 100;
const waitingRetryS = 60;
const minuteMs = 60_000;
/** Refusals of one hook, for one reason, that are told in a minute. */
const toldPerMinute = 10;

/**
 * Makes work of calls that are signed, each once: by the number that its sender gave it or, without one, by its body
 * within five minutes. Whoever cannot sign learns nothing, not even which hooks there are.
 */
export class WebhookIntake {
  readonly #options: WebhookIntakeOptions;
  readonly #told = new RateLimiter({ count: toldPerMinute, periodMs: minuteMs });
  /** By hook, with the limit that it was made for. */
  readonly #rates = new Map<string, { readonly perMinute: number; readonly limiter: RateLimiter }>();

  constructor(options: WebhookIntakeOptions) {
    this.#options = options;
  }

  async receive(call: WebhookCall): Promise<WebhookAnswer> {
    const hook = this.#options.hook(call.hook);
    const answer = await this.#judge(hook, call);
    if (hook && answer.outcome === "refused") this.#tellRefusal(hook, call, answer.reason);
    return answer;
  }

  async #judge(hook: Webhook | undefined, call: WebhookCall): Promise<WebhookAnswer> {
    if (!isSigned(hook?.secret, call.body, call.headers) || !hook) return refused("signature", unsigned());
    const waitMs = this.#waitMs(hook);
    if (waitMs > 0) {
      const error = new AppError("rate_limited", `More than ${hook.perMinute} calls in a minute; try again later.`);
      return { ...refused("rate", error), retryAfterS: Math.ceil(waitMs / 1000) };
    }
    const intake = this.#options.intake.state();
    if (!intake.open) return refused("intake", new AppError("intake_stopped", `Not now: ${intake.reason}.`));
    const group = this.#options.groupNamed(hook.group);
    if (!group)
      return refused("group", new AppError("not_found", "There is nobody here for calls of this hook anymore."));
    const delivery = deliveryOf(call.headers);
    if (delivery === "unusable") return refused("delivery", unusableDelivery());
    const payload = attempt(() => readPayload(call.body));
    if (payload instanceof AppError) return refused("payload", payload);
    return this.#store({ hook, group, payload, delivery }, call);
  }

  async #store(
    accepted: {
      readonly hook: Webhook;
      readonly group: Group;
      readonly payload: string;
      readonly delivery: string | undefined;
    },
    call: WebhookCall,
  ): Promise<WebhookAnswer> {
    const { hook, group, payload, delivery } = accepted;
    const { store, forwardClock, intake, workAdded, publish } = this.#options;
    try {
      if ((await store.work.dueCount(group.name, "webhook")) >= mostWaiting) {
        const error = new AppError("rate_limited", `${mostWaiting} calls wait for the agent; try again later.`);
        return { ...refused("waiting", error), retryAfterS: waitingRetryS };
      }
      const at = forwardClock.now();
      const session = await store.sessions.open(mainSessionKey(group), group.name);
      const made = workOf({ hook, group, payload }, { session: session.id, at });
      const added =
        delivery === undefined
          ? await store.work.add({ ...made, dedupe: nameOfBody(hook, call.body) }, at, { uniqueForMs: sameBodyMs })
          : await store.work.add({ ...made, dedupe: `hook:${hook.name}:${delivery}` }, at);
      const { id, duplicate } = added;
      const data = { hook: hook.name, work: id, delivery, bytes: call.body.length, duplicate };
      const actor = addressActor(call.address);
      await publish({ type: "webhook.received", group: group.name, actor, data });
      if (!duplicate) workAdded();
      return { outcome: "stored", id, duplicate };
    } catch (error) {
      intake.failed(error);
      throw error;
    }
  }

  #waitMs({ name, perMinute }: Webhook): number {
    let rate = this.#rates.get(name);
    if (rate?.perMinute !== perMinute) {
      rate = { perMinute, limiter: new RateLimiter({ count: perMinute, periodMs: minuteMs }) };
      this.#rates.set(name, rate);
    }
    return rate.limiter.take(this.#options.clock.monotonic()).waitMs;
  }

  #tellRefusal({ name, group }: Webhook, { address }: WebhookCall, reason: WebhookRefusal): void {
    const { publish, clock, onFault } = this.#options;
    const { waitMs, refused: untold } = this.#told.take(clock.monotonic(), `${reason} ${name}`);
    if (waitMs > 0) return;
    const data = { hook: name, reason, untold };
    publish({ type: "webhook.refused", group, actor: addressActor(address), data }).catch((error: unknown) =>
      onFault(toError(error)),
    );
  }
}

function workOf(
  { hook, group, payload }: { readonly hook: Webhook; readonly group: Group; readonly payload: string },
  { session, at }: { readonly session: string; readonly at: number },
): NewWork {
  return {
    id: randomUUID(),
    group: group.name,
    session,
    cause: "webhook",
    dueAt: at,
    replyTo: { kind: "chat", channel: group.channel, chat: group.chat },
    origin: "web",
    // What such a call brings counts as words of somebody with its role.
    lineage: { role: hook.role, origins: sortOrigins(["web", hook.role]), people: [], narrowed: [] },
    text: hook.prompt ?? `The webhook "${hook.name}" was called.`,
    payload: payload === "" ? undefined : payload,
  };
}

function nameOfBody({ name }: Webhook, body: Uint8Array): string {
  return `hook-body:${name}:${createHash("sha256").update(body).digest("hex")}`;
}

function deliveryOf(headers: WebhookCall["headers"]): string | undefined {
  const name = deliveryHeaders.find((header) => headers[header] !== undefined);
  if (name === undefined) return undefined;
  const given = headers[name];
  return typeof given === "string" && /^[\x21-\x7e]{1,200}$/.test(given) ? given : "unusable";
}

function refused(reason: WebhookRefusal, error: AppError): Extract<WebhookAnswer, { outcome: "refused" }> {
  return { outcome: "refused", reason, error };
}

function unsigned(): AppError {
  return new AppError("unauthorized", "The signature of this call is missing or wrong.");
}

function unusableDelivery(): AppError {
  return new AppError("bad_input", "The number of a delivery is 1 to 200 visible ASCII characters.");
}

function attempt<T>(action: () => T): T | AppError {
  try {
    return action();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
