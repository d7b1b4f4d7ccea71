import { dayNotePrefix } from "../item.ts";
import type { CleaningPlan, Cutoffs } from "../../../processes/memory-schemas.ts";
import type { MemoryFile, OpenRows } from "./memory-file.ts";

/** Maximum superseded memories kept, newest first. */
export const mostSuperseded = 1_000;
const removedAtOnce = 200;
const indexedAtOnce = 5_000;

/*
 * Keeps old messages while a fact is based on them: a fact must be traceable to its source and disappear with a
 * forgotten author; removing both would lose lasting facts. A day's note keeps no words and outlives them. Other
 * categories are no sources and expire by age.
 */
const livingSources = `
  select source.value from items fact, json_each(fact.sources) source
  where fact.superseded_by is null and (fact.category < 'conversation' or fact.category > 'conversation')
    and fact.id not glob '${dayNotePrefix}*'
    and fact.time >= coalesce((select value from json_each(@cutoffs) where key = fact.category), fact.time)`;
const isOld = `
  item.category = @category and item.time < @before and (item.category <> 'conversation'
    or not exists (select 1 from json_each(item.sources) named where named.value in (${livingSources})))`;
/** Begins a cleaning, or takes up one that was interrupted; and counts what it will remove. */
export function planCleaning(file: MemoryFile, now: number, cutoffs: Cutoffs): CleaningPlan {
  return file.change(({ prepare }) => {
    prepare("update facts set value = @now where name = 'cleaning' and value = 0").run({ now });
    const valueOf = (name: string): number =>
      prepare("select value from facts where name = ?").pluck().get(name) as number;
    const categories: Record<string, number> = {};
    for (const [category, before] of inOrder(cutoffs)) {
      const count = prepare(`select count(*) from items item where ${isOld}`).pluck();
      const old = count.get({ category, before, cutoffs: JSON.stringify(cutoffs) }) as number;
      if (old > 0) categories[category] = old;
    }
    const superseded = Math.max(0, countSuperseded(prepare) - mostSuperseded);
    return { run: valueOf("cleaning"), isAnnounced: valueOf("announced") === 1, categories, superseded };
  });
}

/** Records that the removal was announced. */
export function noteAnnounced(file: MemoryFile): void {
  file.change(({ prepare }) => prepare("update facts set value = 1 where name = 'announced'").run());
}

/** Ends a cleaning. */
export function endCleaning(file: MemoryFile, now: number): void {
  file.change(({ prepare }) => {
    prepare("update facts set value = 0 where name in ('cleaning', 'announced')").run();
    prepare("update facts set value = ? where name = 'cleaned'").run(now);
  });
}

/** Removes some of what is to go. Gives how much that was; 0: nothing is left. */
export function cleanSome(file: MemoryFile, cutoffs: Cutoffs): number {
  return file.change((rows) => {
    const count = removeOld(rows, cutoffs) || removeSuperseded(rows) || dropVectors(rows);
    if (count > 0) rows.countErasure();
    return count;
  });
}

/**
 * Compares part of the word index with the rows and rewrites it when it has removed rows or lacks some. Returns the
 * next start; undefined at the end.
 */
export function checkIndex(
  file: MemoryFile,
  after: number,
): { readonly next: number | undefined; readonly isRewritten: boolean } {
  return file.change(({ prepare, countErasure }) => {
    const last = prepare("select max(seq) from (select seq from items where seq > ? order by seq limit ?)").pluck();
    const end = last.get(after, indexedAtOnce) as number | null;
    const next = prepare("select 1 from items where seq > ?").get(end ?? after) === undefined ? undefined : end;
    const range = { after, end: next ?? Number.MAX_SAFE_INTEGER };
    const items = "select seq from items where seq > @after and seq <= @end";
    const indexed = "select id from keywords_docsize where id > @after and id <= @end";
    const differ = `select exists (${items} except ${indexed}) or exists (${indexed} except ${items})`;
    if (prepare(differ).pluck().get(range) === 0) return { next: next ?? undefined, isRewritten: false };
    prepare("insert into keywords (keywords) values ('rebuild')").run();
    countErasure();
    return { next: undefined, isRewritten: true };
  });
}

/** Orders categories: possible dependents before their sources. */
function inOrder(cutoffs: Cutoffs): readonly (readonly [string, number])[] {
  const all = Object.entries(cutoffs);
  const others = all.filter(([category]) => category !== "conversation");
  return [...others, ...all.filter(([category]) => category === "conversation")];
}

function removeOld({ prepare, remove }: OpenRows, cutoffs: Cutoffs): number {
  for (const [category, before] of inOrder(cutoffs)) {
    const old = prepare(`select item.id from items item where ${isOld} order by item.time limit @limit`).pluck();
    const ids = old.all({ category, before, cutoffs: JSON.stringify(cutoffs), limit: removedAtOnce }) as string[];
    for (const id of ids) remove(id);
    if (ids.length > 0) return ids.length;
  }
  return 0;
}

function removeSuperseded({ prepare, remove }: OpenRows): number {
  const surplus = countSuperseded(prepare) - mostSuperseded;
  if (surplus <= 0) return 0;
  const oldest = prepare("select id from items where superseded_by is not null order by time, seq limit ?").pluck();
  const ids = oldest.all(Math.min(surplus, removedAtOnce)) as string[];
  for (const id of ids) remove(id);
  return ids.length;
}

function countSuperseded(prepare: OpenRows["prepare"]): number {
  return prepare("select count(*) from items where superseded_by is not null").pluck().get() as number;
}

/** Drops vectors of superseded memories; the model's name stays, so that none is made again. */
function dropVectors({ prepare }: OpenRows): number {
  return prepare("update items set vector = null where superseded_by is not null and vector is not null").run().changes;
}
