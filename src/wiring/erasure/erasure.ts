import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { configuredPeople } from "../../config/people.ts";
import type { Config } from "../../config/schema/config.ts";
import type { HomePaths } from "../../config/home/home.ts";
import { type MemberId, memberKey, parseMemberKey } from "../../domain/person.ts";
import type { ErasableMemories } from "../../erasure/erase-person.ts";
import { PersonEraser } from "../../erasure/erase-person.ts";
import { AppError, nothingIfMissing } from "../../lib/app-error.ts";
import { erasePerson, noteSaid } from "../../memory/file/erase-person.ts";
import type { SessionQueue } from "../../queue/session-queue.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { AppContext } from "../context.ts";

/** How long turns get to end that are at work in the person's groups. */
const turnsMs = 120_000;

type ErasureContext = Pick<AppContext, "store" | "publish" | "fingerprint" | "clock"> & {
  readonly home: { readonly paths: HomePaths };
  readonly config: Pick<Config, "people">;
};

/** Erases people's words from a home. `quiet`: what has to be still meanwhile, where a host runs. */
export function createEraser(
  { store, home: { paths }, config, publish, fingerprint, clock }: ErasureContext,
  quiet?: (groups: readonly string[]) => Promise<AsyncDisposable>,
): PersonEraser {
  return new PersonEraser({
    store,
    memories: createMemories(paths.memory),
    paths,
    idsOf: (who) => idsOf(config, who),
    digest: (key) => fingerprint(key).sha256,
    publish,
    now: () => clock.now(),
    quiet,
  });
}

/** With a host that runs: no turn of these groups begins, those that run end, and their containers go with what they remember. */
export function quietGroups(
  { store }: Pick<AppContext, "store">,
  { queue, pool }: { readonly queue: SessionQueue; readonly pool: Pick<SessionPool, "stop"> },
): (groups: readonly string[]) => Promise<AsyncDisposable> {
  return async (groups) => {
    const late = new AppError(
      "conflict",
      `A turn in one of these groups has not ended within ${turnsMs / 1_000} s: ${groups.join(", ")}.`,
      {
        fix: "try again later, or /stop it in the chat",
      },
    );
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(late), turnsMs);
    try {
      using holding = new DisposableStack();
      holding.use(await queue.hold(groups, limit.signal));
      // One that waits for people stays as it is: nothing is erased then.
      const isParked = (await store.erasure.unfinished(groups)).length > 0;
      for (const session of isParked ? [] : await store.erasure.sessions(groups))
        await pool.stop(session, "somebody's words are erased");
      const held = holding.move();
      return { [Symbol.asyncDispose]: async () => held.dispose() };
    } finally {
      clearTimeout(timer);
    }
  };
}

function idsOf(config: Pick<Config, "people">, who: MemberId): readonly MemberId[] {
  const key = memberKey(who);
  const person = configuredPeople(config).find(({ ids }) => ids.includes(key));
  const others = (person?.ids ?? []).filter((id) => id !== key).flatMap((id) => parseMemberKey(id) ?? []);
  return [who, ...others];
}

function createMemories(folder: string): ErasableMemories {
  const pathOf = (group: string): string => join(folder, `${group}.sqlite`);
  return {
    groups: async () => {
      const names = (await readdir(folder).catch(nothingIfMissing)) ?? [];
      return names.flatMap((name) => (name.endsWith(".sqlite") ? [name.slice(0, -".sqlite".length)] : []));
    },
    noteSaid: (group, people, traces) => noteSaid(pathOf(group), { people }, traces),
    erase: (group, erasing) => erasePerson(pathOf(group), erasing),
  };
}
