import { MediaError } from "../operations.ts";

/** What is put aside for a sound before a provider is asked; one of both is called once, when that is over. */
export interface SoundPayment {
  /** `seconds`: how long it is; undefined: nobody knows, so it is paid in full. */
  settle(seconds: number | undefined): Promise<void>;
  /** Nothing came of it, and nothing is paid. */
  giveBack(): Promise<void>;
}

/**
 * Settles what `ask` is paid with, however it ends: what a provider has begun may be paid for, whatever comes of it.
 * `secondsOf`: of what it gives.
 */
export async function paidBy<Result>(
  payment: SoundPayment | undefined,
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
