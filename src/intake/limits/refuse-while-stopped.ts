import type { IntakeState, Receipt } from "../../channels/channel.ts";
import { AppError, isPassing } from "../../lib/app-error.ts";
import type { IntakeGuard } from "./intake-guard.ts";
import { routerLimits } from "./limits.ts";

const whileStopping: IntakeState = { open: false, code: "stopping", reason: "the host is stopping" };
/** The trouble was over before it could be told. */
const whileOpen = { code: "store-failed", reason: "the store cannot be written" } as const;

/** Takes in a message or reaction. Trouble of the machine refuses it and closes the intake. */
export async function refuseWhileStopped(
  guard: Pick<IntakeGuard, "state" | "failed">,
  take: () => Promise<Receipt>,
): Promise<Receipt> {
  try {
    return await take();
  } catch (error) {
    if (!isPassing(error)) throw error;
    const isStopping = error instanceof AppError && error.code === "intake_stopped";
    if (!isStopping) guard.failed(error);
    const state = isStopping ? whileStopping : guard.state();
    const { code, reason } = state.open ? whileOpen : state;
    return { outcome: "refused", code, reason, retryAfterS: routerLimits.retryAfterS, stopped: true };
  }
}
