import { AppError } from "../lib/app-error.ts";
import type { SessionPool } from "../sandbox/pool/pool.ts";
import type { ErasureStore } from "../stores/contract/erasure-store.ts";
import type { Compactions } from "../turns/compaction/compactions.ts";
import type { SessionQueue } from "./queue/session-queue.ts";

/** Time within which running turns of the groups must end. */
const turnsMs = 120_000;

interface QuietOptions {
  readonly erasure: Pick<ErasureStore, "unfinished" | "sessions">;
  readonly queue: Pick<SessionQueue, "hold">;
  readonly pool: Pick<SessionPool, "stop">;
  readonly compactions: Pick<Compactions, "hold">;
}

/**
 * Keeps groups quiet until disposed: no turn begins in them, running ones end, and their containers go with what they
 * remember. Rejects with `conflict` when a turn does not end in time.
 */
export async function quietGroups(
  groups: readonly string[],
  { erasure, queue, pool, compactions }: QuietOptions,
): Promise<AsyncDisposable> {
  const late = new AppError(
    "conflict",
    `A turn in one of these groups has not ended within ${turnsMs / 1_000} s: ${groups.join(", ")}.`,
    { fix: "try again later, or /stop it in the chat" },
  );
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(late), turnsMs);
  try {
    using holding = new DisposableStack();
    holding.use(await queue.hold(groups, limit.signal));
    holding.use(await compactions.hold(groups));
    // A turn that waits for people stays as it is: nothing is erased then.
    const isParked = (await erasure.unfinished(groups)).length > 0;
    for (const session of isParked ? [] : await erasure.sessions(groups))
      await pool.stop(session, "somebody's words are erased");
    const held = holding.move();
    return { [Symbol.asyncDispose]: async () => held.dispose() };
  } finally {
    clearTimeout(timer);
  }
}
