import { sql, type Transaction } from "kysely";

import { addCounts, erasedText } from "../../../domain/erasure.ts";
import { blobsOf } from "../../../domain/turns/turn.ts";
import type { GroupErasing, Erased } from "../../contract/erasure-store.ts";
import type { Database } from "../database/database.ts";
import { parseOutgoingFile, parseQuote, parseStepBody } from "../schema/json-columns.ts";
import type { Tables } from "../schema/tables.ts";
import {
  changeRows,
  hasOneOf,
  isBy,
  isOf,
  keysOf,
  listed,
  type ErasureRow,
  rewriteJson,
  type RowChange,
} from "./rows.ts";

/** Facts about a group found before its rows are examined. */
interface Known extends GroupErasing {
  readonly keys: ReadonlySet<unknown>;
  readonly messageIds: ReadonlySet<string>;
  /** Turns begun by nobody else. */
  readonly turns: ReadonlySet<unknown>;
  readonly text: (row: ErasureRow, column: string) => string;
  /** Theirs by who it was for, or by what stands in it. */
  readonly isGone: (text: string, isTheirs: boolean) => boolean;
}

/** Erases everything that agents and the host derived from a person's words in a group. */
export async function eraseMade(database: Database, erasing: GroupErasing): Promise<Erased> {
  const known = await lookAround(database, erasing);
  const outgoing: string[] = [];
  const gone = { blobs: new Set<string>(), summaries: 0 };
  const counts = addCounts(
    { steps: await steps(database, known, gone) },
    { replies: await replies(database, known, outgoing) },
    { quotes: await quotes(database, known) },
    { work: await work(database, known) },
    { tasks: await tasks(database, known) },
    { approvals: (await approvals(database, known)) + (await grants(database, known)) },
    { jobs: await jobs(database, known) },
    { files: await plantedFiles(database, known) },
    { agents: await subAgents(database, known) },
    { prompts: await prompts(database, known) },
    { summaries: gone.summaries + (await summaries(database, known)) },
    { names: await reasons(database, known) },
    { replies: await sentCopies(database, known) },
  );
  return { counts, outgoing, blobs: [...gone.blobs] };
}

async function lookAround(database: Database, erasing: GroupErasing): Promise<Known> {
  const { group, people, holds } = erasing;
  const ids = await database.read((kysely) =>
    sql<{ id: string }>`select id from messages where group_name = ${group}
      and (channel, sender_id) in ${listed(people)}`.execute(kysely),
  );
  const keys = keysOf(people);
  const byMessages = await database.read((kysely) =>
    sql<{ turn: string }>`select turn from messages where group_name = ${group} and turn is not null group by turn
      having min((channel, sender_id) in ${listed(people)}) = 1`.execute(kysely),
  );
  const byWork = await database.read((kysely) =>
    sql<{ turn: string }>`select turn from work where group_name = ${group} and turn is not null
      and ${isOf(JSON.stringify([...keys]))}
      and turn not in (select turn from messages where turn is not null)`.execute(kysely),
  );
  return {
    ...erasing,
    keys,
    messageIds: new Set(ids.rows.map(({ id }) => id)),
    turns: new Set([...byMessages.rows, ...byWork.rows].map(({ turn }) => turn)),
    text: (row, column) => String(row[column] ?? ""),
    isGone: (text, isTheirs) => text !== "" && text !== erasedText && (isTheirs || holds(text)),
  };
}

/** Steps know their group by their turn. */
async function steps(
  database: Database,
  known: Known,
  gone: { readonly blobs: Set<string>; summaries: number },
): Promise<number> {
  let changed = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const from: number = after;
    const window = await database.write(async (transaction) => {
      const { rows } = await sql<StepRow>`
        select steps.seq, steps.turn, steps.session, steps.conversation, steps.body from steps join turns on turns.id = steps.turn
        where steps.seq > ${from} and turns.group_name = ${known.group} order by steps.seq limit 100`.execute(
        transaction,
      );
      let count = 0;
      for (const row of rows) {
        const { seq, turn, body } = row;
        const before = parseStepBody(body);
        const isTheirs = known.turns.has(turn);
        const rewritten = known.rewrite(before, { isTheirs, messageIds: known.messageIds });
        if (rewritten === undefined) continue;
        count += 1;
        gone.summaries += await forgetSummaries(transaction, known.group, row);
        const kept = new Set(blobsOf(rewritten).map(({ blob }) => blob));
        const lost = blobsOf(before).flatMap(({ blob }) => (kept.has(blob) ? [] : [blob]));
        for (const blob of lost) gone.blobs.add(blob);
        await transaction
          .updateTable("steps")
          .set({ body: JSON.stringify(rewritten) })
          .where("seq", "=", seq)
          .execute();
        if (lost.length > 0)
          await sql`delete from blob_references where step = ${seq}
            and sha256 in (select value from json_each(${JSON.stringify(lost)}))`.execute(transaction);
      }
      return { count, next: rows.length < 100 ? undefined : rows.at(-1)?.seq };
    });
    changed += window.count;
    after = window.next;
  }
  return changed;
}

interface StepRow {
  readonly seq: number;
  readonly turn: string;
  readonly session: string;
  readonly conversation: number;
  readonly body: string;
}

/** Erases summaries of this step together with it, as nobody can tell whose words they hold. The entry itself stays. */
async function forgetSummaries(
  transaction: Transaction<Tables>,
  group: string,
  { seq, session, conversation }: Pick<StepRow, "seq" | "session" | "conversation">,
): Promise<number> {
  const { numUpdatedRows } = await transaction
    .updateTable("summaries")
    .set({ kind: "eviction", text: "", model: null })
    .where("kind", "=", "summary")
    .where("from_step", "<=", seq)
    .where("to_step", ">=", seq)
    // Of a sub-agent that knows its parent's conversation, too: it has its own session.
    .where((either) =>
      either.or([
        either.and([either("session", "=", session), either("conversation", "=", conversation)]),
        either("session", "in", (from) =>
          from.selectFrom("sessions").select("id").where("kind", "=", "agent").where("group_name", "=", group),
        ),
      ]),
    )
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Erases summaries with their words that no step of the conversation holds anymore. */
async function summaries(database: Database, known: Known): Promise<number> {
  return database.write(async (transaction) => {
    const rows = await transaction
      .selectFrom("summaries")
      .innerJoin("sessions", "sessions.id", "summaries.session")
      .select(["summaries.seq", "summaries.text"])
      .where("sessions.group_name", "=", known.group)
      .where("summaries.kind", "=", "summary")
      .execute();
    const gone = rows.filter(({ text }) => known.isGone(text, false));
    for (const { seq } of gone)
      await transaction
        .updateTable("summaries")
        .set({ kind: "eviction", text: "", model: null })
        .where("seq", "=", seq)
        .execute();
    return gone.length;
  });
}

/** One that was not sent yet is given up: its words are gone. */
function replies(database: Database, known: Known, outgoing: string[]): Promise<number> {
  return changeRows(database, {
    table: "outbox",
    key: "seq",
    columns: ["text", "turn", "file", "state", "pruned"],
    group: known.group,
    change: (row) => {
      if (row["pruned"] === 1 || !known.isGone(known.text(row, "text"), known.turns.has(row["turn"]))) return undefined;
      if (typeof row["file"] === "string") outgoing.push(parseOutgoingFile(row["file"]).path);
      const isOver = ["accepted", "delivered", "dead"].includes(known.text(row, "state"));
      const state: RowChange = isOver ? {} : { state: "dead", error: "its words were erased" };
      return { text: "", file: null, reaction: null, pruned: 1, ...state };
    },
  });
}

/** Erases quotes of them by others. */
function quotes(database: Database, known: Known): Promise<number> {
  return changeRows(database, {
    table: "messages",
    key: "seq",
    columns: ["channel", "sender_id", "quote"],
    group: known.group,
    change: (row) => {
      if (typeof row["quote"] !== "string" || isBy(known.people, row)) return undefined;
      const { id, author, text } = parseQuote(row["quote"]);
      const isTheirs = known.messageIds.has(id) && author !== "agent";
      return text !== undefined && known.isGone(text, isTheirs) ? { quote: JSON.stringify({ id }) } : undefined;
    },
  });
}

function work(database: Database, known: Known): Promise<number> {
  return changeRows(database, {
    table: "work",
    key: "seq",
    columns: ["people", "origin", "text", "payload", "state"],
    group: known.group,
    change: (row) => {
      const isTheirs = hasOneOf(known.keys, row);
      const isAgents = row["origin"] === "agent" || row["people"] === "[]";
      const words = `${known.text(row, "text")}\n${known.text(row, "payload")}`.trim();
      if (words === "" || words === erasedText || !(isTheirs || (isAgents && known.holds(words)))) return undefined;
      const state: RowChange = row["state"] === "due" ? { state: "dropped", reason: "its words were erased" } : {};
      return { text: "", payload: null, ...state };
    },
  });
}

/** Theirs go; what others wanted to be done keeps its words, which are those of others. */
function tasks(database: Database, known: Known): Promise<number> {
  const change = (row: ErasureRow): RowChange => (hasOneOf(known.keys, row) ? "delete" : undefined);
  return changeRows(database, { table: "tasks", key: "id", columns: ["people"], group: known.group, change });
}

function approvals(database: Database, known: Known): Promise<number> {
  const columns = ["channel", "asker_id", "turn", "input", "diff", "reason", "decider_actor"];
  return changeRows(database, {
    table: "approvals",
    key: "code",
    columns,
    group: known.group,
    change: (row) => {
      const isAsker = isBy(known.people, { ...row, sender_id: row["asker_id"] ?? null });
      const isDecider = known.people.some(({ id }) => row["decider_actor"] === `member:${id}`);
      const isTheirs = known.turns.has(row["turn"]);
      const isGone = (text: string): boolean => known.isGone(text, isTheirs);
      const input = rewriteJson(known.text(row, "input"), isGone, erasedText);
      const change: Record<string, string | null> = {
        ...(isAsker && { asker_name: "" }),
        ...(isDecider && { decider_name: null, reason: null }),
        ...(input !== undefined && { input }),
        ...(isGone(known.text(row, "diff")) && { diff: null, base: null }),
      };
      return Object.keys(change).length === 0 ? undefined : change;
    },
  });
}

/** They hold by the digest of the call, not by its words. */
function grants(database: Database, known: Known): Promise<number> {
  const change = (row: ErasureRow): RowChange => {
    const input = rewriteJson(known.text(row, "input"), (text) => known.isGone(text, false), erasedText);
    return input === undefined ? undefined : { input };
  };
  return changeRows(database, { table: "grants", key: "id", columns: ["input"], group: known.group, change });
}

/** Erases what was in files of mounts; that they were changed stays on record. */
function plantedFiles(database: Database, known: Known): Promise<number> {
  return changeRows(database, {
    table: "execution_points",
    key: "seq",
    columns: ["turn", "diff"],
    group: known.group,
    change: (row) => (known.isGone(known.text(row, "diff"), known.turns.has(row["turn"])) ? { diff: null } : undefined),
  });
}

async function jobs(database: Database, known: Known): Promise<number> {
  return database.write(async (transaction) => {
    const rows = await transaction
      .selectFrom("jobs")
      .select(["session", "id", "command", "reason", "turn", "people"])
      .where("group_name", "=", known.group)
      .execute();
    const gone = rows.filter(({ command, turn }) => known.isGone(command, known.turns.has(turn)));
    for (const { session, id } of gone)
      await transaction
        .updateTable("jobs")
        .set({ command: erasedText })
        .where("session", "=", session)
        .where("id", "=", id)
        .execute();
    return gone.length;
  });
}

function subAgents(database: Database, known: Known): Promise<number> {
  return changeRows(database, {
    table: "sub_agents",
    key: "number",
    columns: ["people", "task", "text", "files"],
    group: known.group,
    change: (row) => {
      const words = ["task", "text", "files"].map((column) => known.text(row, column));
      const isEmpty = words[0] === "" || words[0] === erasedText;
      const isTheirs = hasOneOf(known.keys, row) && !isEmpty;
      return isTheirs || words.some((text) => known.isGone(text, false))
        ? { task: erasedText, text: null, files: "[]" }
        : undefined;
    },
  });
}

/** Erases beginnings of conversations, which name members and hold the agent's notes; rebuilt at the next turn. */
async function prompts(database: Database, known: Known): Promise<number> {
  const { numAffectedRows = 0n } = await database.write(async (transaction) => {
    // Nobody knows anymore whose picture it was, and words that are missing are made again.
    await sql`delete from picture_captions`.execute(transaction);
    return sql`delete from conversation_prompts
      where session in (select id from sessions where group_name = ${known.group})`.execute(transaction);
  });
  return Number(numAffectedRows);
}

/** Erases names in the reasons of ended turns. */
function reasons(database: Database, known: Known): Promise<number> {
  const change = (row: ErasureRow): RowChange => {
    const reason = known.text(row, "reason");
    const without = known.names.reduce((text, name) => text.replaceAll(wholeName(name), "a member"), reason);
    return without === reason ? undefined : { reason: without };
  };
  return changeRows(database, { table: "turns", key: "seq", columns: ["reason"], group: known.group, change });
}

function wholeName(name: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(name)}(?![\\p{L}\\p{N}])`, "gu");
}

/** Erases a channel's copies of sent messages; they count as the reply. */
async function sentCopies(database: Database, { holds }: Known): Promise<number> {
  return database.write(async (transaction) => {
    const { rows } = await sql<{ space: string; key: string; value: Uint8Array }>`
      select space, key, value from channel_state where space like '%/sent'`.execute(transaction);
    const gone = rows.filter(({ value }) => holds(Buffer.from(value).toString("utf8")));
    for (const { space, key } of gone)
      await transaction.deleteFrom("channel_state").where("space", "=", space).where("key", "=", key).execute();
    return gone.length;
  });
}
