import type { Publish } from "../../domain/events/event.ts";
import type { IncomingMessage } from "../../domain/chats/message.ts";
import { memberActor } from "../../domain/people/actor.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { DirectAccess } from "./automatic-names.ts";
import { createOnboarding, type OnboardingOptions } from "./onboarding.ts";

export interface StrangerOptions extends Omit<OnboardingOptions, "limits" | "pairs"> {
  readonly store: OnboardingOptions["store"] & { readonly intake: Pick<Store["intake"], "tell"> };
  /** The setting `access.dm`. */
  readonly dm: () => DirectAccess;
  /** For days, as they are on the calendar now. */
  readonly calendar: Pick<Clock, "now">;
  readonly publish: OnboardingOptions["publish"] & Publish<"access.refused">;
}

/** Lets chats that are no group ask, in the main groups, to become one. */
export function createStrangers(options: StrangerOptions): (message: IncomingMessage) => Promise<void> {
  const { dm, store, onboards, mainGroups, isConnected, randomBelow, deliver, clock, publish } = options;
  const onboard = createOnboarding({
    store,
    onboards,
    get pairs() {
      return dm() === "pairing";
    },
    mainGroups,
    isConnected,
    get assistantName() {
      return options.assistantName;
    },
    randomBelow,
    deliver,
    clock,
    publish,
  });
  return async (message) => {
    if (message.direct === true) await noteRefused(options, message);
    await onboard(message);
  };
}

/** Records refused direct messages once a day (UTC) and channel: strangers must not fill the log. */
async function noteRefused(
  { dm: setting, store, calendar, publish }: StrangerOptions,
  { channel, chat, sender }: IncomingMessage,
): Promise<void> {
  const dm = setting();
  const account = { kind: "member", name: `${channel} access.dm` } as const;
  if (dm === "pairing" || !(await store.intake.tell(utcDay(calendar.now()), account, "messages"))) return;
  const data = { rule: `access.dm: ${dm}`, channel, chat };
  await publish({ type: "access.refused", actor: memberActor(sender.id), data });
}
