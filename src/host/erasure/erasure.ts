import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Environment } from "../../config/environment.ts";
import { groupTemplates } from "../../config/home/group-folders.ts";
import { configuredPeople } from "../../config/people.ts";
import type { Config } from "../../config/schema/config.ts";
import type { HomePaths } from "../../config/home/home.ts";
import { type MemberId, memberKey, parseMemberKey } from "../../domain/people/person.ts";
import type { ErasableMemories } from "../../records/erasure/erase-person.ts";
import { PersonEraser } from "../../records/erasure/erase-person.ts";
import { AppError, nothingIfMissing } from "../../lib/app-error.ts";
import { discountSaid, erasePerson, noteSaid } from "../../abilities/memory/file/erase-person.ts";
import { globalNotes } from "../../abilities/memory/item.ts";
import { memoryOfFile, memoryPath } from "../../abilities/memory/memory-path.ts";
import type { Aliases } from "../../rights/people/aliases.ts";
import type { SessionQueue } from "../../work/queue/session-queue.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { Compactions } from "../../turns/compaction/compactions.ts";
import type { AppContext } from "../context.ts";

/** How long turns get to end that are at work in the person's groups. */
const turnsMs = 120_000;

type ErasureContext = Pick<AppContext, "store" | "publish" | "fingerprint" | "clock"> & {
  readonly home: { readonly paths: HomePaths };
  readonly environment: Pick<Environment, "checkout">;
  readonly config: Pick<Config, "people">;
  readonly aliases: Pick<Aliases, "keysOf">;
};

/** Erases people's words from a home. `quiet`: what has to be still meanwhile, where a host runs. */
export function createEraser(
  { store, home: { paths }, environment, config, aliases, publish, fingerprint, clock }: ErasureContext,
  quiet?: (groups: readonly string[]) => Promise<AsyncDisposable>,
): PersonEraser {
  return new PersonEraser({
    store,
    memories: createMemories(paths.memory),
    paths: { ...paths, templates: groupTemplates(environment.checkout) },
    idsOf: (who) => idsOf({ config, aliases }, who),
    digest: (key) => fingerprint(key).sha256,
    publish,
    now: () => clock.now(),
    quiet,
  });
}

/**
 * With a host that runs: no turn of these groups begins, those that run end, and their containers go with what they
 * remember.
 */
export function quietGroups(
  { store }: Pick<AppContext, "store">,
  {
    queue,
    pool,
    compactions,
  }: {
    readonly queue: SessionQueue;
    readonly pool: Pick<SessionPool, "stop">;
    readonly compactions: Pick<Compactions, "hold">;
  },
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
      holding.use(await compactions.hold(groups));
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

/** Also by the other id of a channel that knows people by two; each may be the one that the configuration names. */
function idsOf({ config, aliases }: Pick<ErasureContext, "config" | "aliases">, who: MemberId): readonly MemberId[] {
  const withAliases = (key: string): readonly string[] => {
    const member = parseMemberKey(key);
    return member ? [key, ...aliases.keysOf(member)] : [key];
  };
  const own = withAliases(memberKey(who));
  const named = configuredPeople(config).filter(({ ids }) => ids.some((id) => withAliases(id).some(isIn(own))));
  const keys = new Set([...own, ...named.flatMap(({ ids }) => ids.flatMap(withAliases))]);
  return [...keys].flatMap((key) => parseMemberKey(key) ?? []);
}

function isIn(keys: readonly string[]): (key: string) => boolean {
  return (key) => keys.includes(key);
}

const damaged = /^(.+)\.sqlite\.damaged-\d+(?:-wal|-shm|-journal)?$/;

function createMemories(folder: string): ErasableMemories {
  const pathOf = (name: string): string => memoryPath(folder, name);
  const list = async (): Promise<string[]> => (await readdir(folder).catch(nothingIfMissing)) ?? [];
  return {
    names: async () => {
      const names = await list();
      return names.flatMap((name) => memoryOfFile(name) ?? []);
    },
    isForAll: (name) => name === globalNotes,
    noteSaid: (name, people, traces) => noteSaid(pathOf(name), { people }, traces),
    discountSaid: (name, people, traces) => discountSaid(pathOf(name), { people }, traces),
    erase: (name, erasing) => erasePerson(pathOf(name), erasing),
    removeDamaged: async (isOne) => {
      const names = await list();
      const gone = names.filter((name) => isOne(damaged.exec(name)?.[1] ?? ""));
      for (const name of gone) await rm(join(folder, name), { force: true });
      return gone.length;
    },
  };
}
