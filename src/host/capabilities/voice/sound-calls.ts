import type { Group } from "../../../domain/chats/group.ts";
import { AppError } from "../../../lib/app-error.ts";
import { MediaError } from "../../../abilities/media/operations.ts";
import type { SoundPayment } from "../../../abilities/media/speech/sound-payment.ts";
import { type SoundCall, SoundCalls } from "../../../models/sound-calls.ts";
import type { AppContext } from "../../context.ts";

export type PaidContext = Pick<AppContext, "live" | "store" | "publish" | "clock" | "logger">;

/** Groups with their budgets. */
export interface GroupBudgets {
  byName(name: string): Pick<Group, "name" | "budget"> | undefined;
}

/** Budget of a group; one that is gone has no limits. */
export function withBudget(groups: GroupBudgets, name: string): Pick<Group, "name" | "budget"> {
  return groups.byName(name) ?? { name, budget: { tokensPerDay: undefined, usdPerDay: undefined } };
}

/** Pays providers for what they say and hear, from the budgets as they are configured at the moment. */
export function createSoundCalls({ live, store, publish, clock, logger }: PaidContext): SoundCalls {
  const settings = (): (typeof live)["current"] => live.current;
  return new SoundCalls({ settings, usage: store.usage, now: () => clock.now(), publish, logger });
}

/** Reserves what a call costs at most. Why it cannot is said as the end of a sentence. */
export async function payFor(
  calls: SoundCalls,
  { group, ...call }: Omit<SoundCall, "group" | "groupBudget"> & { readonly group: Pick<Group, "name" | "budget"> },
): Promise<SoundPayment> {
  try {
    return await calls.reserve({ ...call, group: group.name, groupBudget: group.budget });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const words = error.message.replace(/\.$/, "").replace(/^[TI]/, (first) => first.toLowerCase());
    throw new MediaError("refused", words, { cause: error });
  }
}
