import { MediaError } from "../operations.ts";

/** Reservation for a sound, before a provider is asked; one of its functions is called once afterwards. */
export interface SoundPayment {
  /** Pays. `seconds`: length; undefined when unknown, then all of it is paid. */
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
