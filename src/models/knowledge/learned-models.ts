import type { Logger } from "pino";

import type { LearnedWindow } from "../../domain/turns/usage.ts";
import { toError } from "../../lib/app-error.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import type { TokenCalibration } from "../costs/calibration.ts";
import { type DescribedModels, describeModel, stillHolds } from "./learned.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";

interface LearningContext {
  readonly live: {
    readonly current: { readonly models: DescribedModels };
    onChange(listener: () => void): void;
  };
  readonly store: Pick<Store, "usage">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Pick<Logger, "warn">;
}

/** Keeps learned model facts over restarts, until the configuration changes. */
export function keepLearned(
  { live, store, clock, logger }: LearningContext,
  stack: AsyncDisposableStack,
  calibration: TokenCalibration,
): void {
  const pending = new PendingWork((error) =>
    logger.warn({ err: toError(error) }, "learned facts about models are not stored; they will be learned again"),
  );
  const learned = new Map<string, LearnedWindow>();
  const dropOld = async (): Promise<void> => {
    const now = clock.now();
    const { models } = live.current;
    const old = [...learned.values()].filter((window) => !stillHolds(window, models, now)).map(({ model }) => model);
    if (old.length === 0) return;
    for (const model of old) {
      learned.delete(model);
      calibration.forgetWindow(model);
    }
    await store.usage.forgetLearned(old, { factors: false });
  };
  const load = async (): Promise<void> => {
    await calibration.load(store.usage);
    for (const window of await store.usage.learnedWindows()) {
      if (learned.has(window.model)) continue;
      learned.set(window.model, window);
      calibration.takeWindow(window.model, window.windowTokens);
    }
    await dropOld();
  };
  calibration.tellWindows((model, windowTokens) => {
    const window = {
      model,
      windowTokens,
      described: describeModel(live.current.models, model),
      learnedAt: clock.now(),
    };
    learned.set(model, window);
    pending.add(store.usage.keepWindow(window));
  });
  live.onChange(() => pending.add(dropOld()));
  pending.add(load());
  stack.defer(() => pending.done());
}

/** Forgets what was learned about these models. */
export async function forgetLearned(
  { usage }: Pick<Store, "usage">,
  { calibration }: { readonly calibration: TokenCalibration },
  models: readonly string[],
): Promise<void> {
  for (const model of models) calibration.forget(model);
  await usage.forgetLearned(models, { factors: true });
}
