import type { Group } from "../../../domain/chats/group.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { PaidSound, SoundCall, SoundCalls } from "../../../models/sound-calls.ts";
import { MediaError } from "../media-error.ts";

/** Groups with their budgets. */
export interface GroupBudgets {
  byName(name: string): Pick<Group, "budget"> | undefined;
}

/**
 * Reserves what a call costs at most; one of a group that is gone has no limits. Rejects with a MediaError that says
 * why it cannot.
 */
export async function reserveSound(
  calls: SoundCalls,
  groups: GroupBudgets,
  call: Omit<SoundCall, "groupBudget">,
): Promise<PaidSound> {
  const none = { tokensPerDay: undefined, usdPerDay: undefined };
  try {
    return await calls.reserve({ ...call, groupBudget: groups.byName(call.group)?.budget ?? none });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const words = error.message.replace(/\.$/, "").replace(/^[TI]/, (first) => first.toLowerCase());
    throw new MediaError("refused", words, { cause: error });
  }
}

/**
 * Settles what `ask` is paid with, however it ends: what a provider has begun may be paid for, whatever comes of it.
 * `secondsOf`: of what it gives.
 */
export async function paidBy<Result>(
  payment: PaidSound | undefined,
  ask: () => Promise<Result>,
  secondsOf: (result: Result) => number | undefined,
): Promise<Result> {
  let isUnpaid = false;
  let seconds: number | undefined;
  try {
    const result = await ask();
    seconds = secondsOf(result);
    return result;
  } catch (error) {
    isUnpaid = error instanceof MediaError && error.isUnpaid;
    throw error;
  } finally {
    await (isUnpaid ? payment?.giveBack() : payment?.settle(seconds));
  }
}
