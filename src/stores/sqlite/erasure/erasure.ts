import { type Kysely, sql } from "kysely";

import { addCounts, type ErasedCounts } from "../../../domain/erasure.ts";
import type { MemberId } from "../../../domain/people/person.ts";
import type { Erased, ErasureOutline, ErasureStore, GroupErasing, SaidWindow } from "../../contract/erasure-store.ts";
import type { Database } from "../database/database.ts";
import type { SqliteEvents } from "../records/events.ts";
import { parseAttachments, parseMembers } from "../schema/json-columns.ts";
import type { Tables } from "../schema/tables.ts";
import { eraseMade } from "./made.ts";
import { isBy, isOf, keysOf, listed, rowsAtOnce } from "./rows.ts";

/** Rows that a look at what was said takes at once. */
const saidAtOnce = 500;

/** Erases a person's words from both files of a store. */
export class SqliteErasure implements ErasureStore {
  readonly #database: Database;
  readonly #events: Pick<SqliteEvents, "compact">;
  #rewrites = 0;

  constructor(database: Database, events: Pick<SqliteEvents, "compact">) {
    this.#database = database;
    this.#events = events;
  }

  async outline(people: readonly MemberId[]): Promise<ErasureOutline> {
    const keys = JSON.stringify([...keysOf(people)]);
    const ids = JSON.stringify(people.map(({ id }) => id));
    return this.#database.read(async (kysely) => {
      const groups = await sql<{ name: string }>`
        select group_name as name from messages where (channel, sender_id) in ${listed(people)}
        union select members.group_name from members
          join group_folders on group_folders.name = members.group_name
          where (group_folders.channel, members.sender_id) in ${listed(people)}
        union select group_name from work where ${isOf(keys)}
        union select group_name from tasks where ${isOf(keys)}
        order by 1`.execute(kysely);
      const names = await sql<{ name: string }>`
        select distinct sender_name as name from messages
          where (channel, sender_id) in ${listed(people)} and sender_name <> ''
        union select name from members where sender_id in (select value from json_each(${ids}))
          and group_name in (select name from group_folders where channel in (select value ->> 0 from json_each(${pairs(people)})))
        limit 1000`.execute(kysely);
      return {
        groups: groups.rows.map(({ name }) => name),
        names: names.rows.map(({ name }) => name).filter((name) => name !== ""),
        counts: await outlineCounts(kysely, people, keys),
      };
    });
  }

  async said({
    group,
    people,
    after,
  }: {
    readonly group: string;
    readonly people: readonly MemberId[];
    readonly after: number;
  }): Promise<SaidWindow> {
    const rows = await this.#database.read((kysely) =>
      kysely
        .selectFrom("messages")
        .select(["seq as key", "channel", "sender_id", "id", "text", "attachments"])
        .where("group_name", "=", group)
        .where("seq", ">", after)
        .orderBy("seq")
        .limit(saidAtOnce)
        .execute(),
    );
    const own = rows.filter((row) => isBy(people, row));
    return {
      own: own.map(({ text }) => text),
      others: rows.filter((row) => !isBy(people, row)).map(({ text }) => text),
      ids: own.map(({ id }) => id),
      files: own.flatMap(({ attachments }) => (attachments === null ? [] : parseAttachments(attachments))),
      next: rows.length < saidAtOnce ? undefined : rows.at(-1)?.key,
    };
  }

  async unfinished(groups: readonly string[]): Promise<{ turn: string; group: string }[]> {
    const { rows } = await this.#database.read((kysely) =>
      sql<{ turn: string; group: string }>`select id as turn, group_name as "group" from turns where state = 'running'
        and group_name in (select value from json_each(${JSON.stringify(groups)})) order by seq`.execute(kysely),
    );
    return rows;
  }

  async sessions(groups: readonly string[]): Promise<string[]> {
    const { rows } = await this.#database.read((kysely) =>
      sql<{ id: string }>`select id from sessions
        where group_name in (select value from json_each(${JSON.stringify(groups)}))`.execute(kysely),
    );
    return rows.map(({ id }) => id);
  }

  async made(erasing: GroupErasing): Promise<Erased> {
    this.#rewrites += 1;
    try {
      return await eraseMade(this.#database, erasing);
    } finally {
      this.#rewrites += 1;
    }
  }

  async own(people: readonly MemberId[]): Promise<ErasedCounts> {
    const names = await this.#names(people);
    let messages = 0;
    for (let seen = rowsAtOnce; seen >= rowsAtOnce;) {
      const piece = await this.#messages(people);
      seen = piece.rows;
      messages += piece.messages;
    }
    return addCounts({ messages }, { names });
  }

  async forgetBlobs(sha256s: readonly string[]): Promise<string[]> {
    const { rows } = await this.#database.write((transaction) =>
      sql<{
        sha256: string;
      }>`delete from blobs where sha256 in (select value from json_each(${JSON.stringify(sha256s)}))
        and not exists (select 1 from blob_references where blob_references.sha256 = blobs.sha256)
        returning sha256`.execute(transaction),
    );
    return rows.map(({ sha256 }) => sha256);
  }

  async begin(digest: string, at: number): Promise<void> {
    await this.#database.write((transaction) =>
      transaction
        .insertInto("erasures")
        .values({ digest, begun_at: at, ended_at: null })
        .onConflict((conflict) => conflict.column("digest").doUpdateSet({ begun_at: at, ended_at: null }))
        .execute(),
    );
  }

  async ended(digest: string, at: number): Promise<void> {
    await this.#database.write((transaction) =>
      transaction.updateTable("erasures").set({ ended_at: at }).where("digest", "=", digest).execute(),
    );
  }

  async open(): Promise<{ digest: string; begunAt: number }[]> {
    return this.#database.read((kysely) =>
      kysely
        .selectFrom("erasures")
        .select(["digest", "begun_at as begunAt"])
        .where("ended_at", "is", null)
        .orderBy("begun_at")
        .execute(),
    );
  }

  async compact(): Promise<void> {
    await this.#database.compact();
    await this.#events.compact();
  }

  rewrites(): number {
    return this.#rewrites;
  }

  /**
   * Erases messages but keeps their rows to recognize duplicates. A waiting one is no longer answered; one for several
   * agents counts once.
   */
  #messages(people: readonly MemberId[]): Promise<{ readonly rows: number; readonly messages: number }> {
    return this.#database.write(async (transaction) => {
      const { rows } = await sql<{ seq: number; copy_of: number | null }>`select seq, copy_of from messages
        where (channel, sender_id) in ${listed(people)}
          and (text <> '' or sender_name <> '' or quote is not null or attachments is not null or pruned = 0)
        order by seq limit ${rowsAtOnce}`.execute(transaction);
      const seqs = sql`(select value from json_each(${JSON.stringify(rows.map(({ seq }) => seq))}))`;
      await sql`delete from commands where message in ${seqs}`.execute(transaction);
      await sql`update messages set text = '', sender_name = '', quote = null, attachments = null, pruned = 1,
        state = case when state in ('waiting', 'taken') then 'handled' else state end
        where seq in ${seqs}`.execute(transaction);
      return { rows: rows.length, messages: rows.filter((row) => row.copy_of === null).length };
    });
  }

  /** Erases their names, as given by people and platforms. */
  #names(people: readonly MemberId[]): Promise<number> {
    return this.#database.write(async (transaction) => {
      let count = 0;
      const run = async (statement: ReturnType<typeof sql>): Promise<void> => {
        count += Number((await statement.execute(transaction)).numAffectedRows ?? 0n);
      };
      await run(sql`delete from members where (sender_id, group_name) in (
        select members.sender_id, members.group_name from members
        join group_folders on group_folders.name = members.group_name
        where (group_folders.channel, members.sender_id) in ${listed(people)})`);
      await run(sql`update chat_requests set sender_name = '', title = null
        where (channel, sender_id) in ${listed(people)} and (sender_name <> '' or title is not null)`);
      await run(sql`update chats set title = null where (channel, chat) in ${listed(people)} and title is not null`);
      // A channel knows people by the user in their id.
      const users = JSON.stringify(people.flatMap(({ id }) => [id, id.split("@")[0]]));
      await run(sql`delete from channel_state where space like '%/names'
        and key in (select value from json_each(${users}))`);
      const rosters = await transaction
        .selectFrom("chats")
        .select(["channel", "chat", "members"])
        .where("members", "is not", null)
        .execute();
      for (const { channel, chat, members } of rosters) {
        const known = parseMembers(members ?? "[]");
        const left = known.filter(({ id }) => !people.some((one) => one.channel === channel && one.id === id));
        if (left.length === known.length) continue;
        await run(
          sql`update chats set members = ${JSON.stringify(left)} where channel = ${channel} and chat = ${chat}`,
        );
      }
      return count;
    });
  }
}

function pairs(people: readonly MemberId[]): string {
  return JSON.stringify(people.map(({ channel, id }) => [channel, id]));
}

async function outlineCounts(kysely: Kysely<Tables>, people: readonly MemberId[], keys: string): Promise<ErasedCounts> {
  const { rows } = await sql<{ messages: number; tasks: number; work: number }>`select
    (select count(*) from messages where (channel, sender_id) in ${listed(people)} and pruned = 0 and copy_of is null) as messages,
    (select count(*) from tasks where ${isOf(keys)}) as tasks,
    (select count(*) from work where ${isOf(keys)} and text <> '') as work`.execute(kysely);
  return addCounts(...rows);
}
