import type SQLite from "better-sqlite3";

import { AppError } from "../../../lib/app-error.ts";
import { joinedTerms } from "./rows.ts";

/*
 * Terms are made by us and kept with their item, so that FTS5 can take exactly these out of its index again. Numbers
 * are never given twice: what has forgotten a row knows by its number that another one is new.
 */
const initial = `
  create table items (
    seq integer primary key autoincrement,
    id text not null unique,
    category text not null,
    text text not null,
    time integer not null,
    sender text not null,
    origin text not null,
    sources text not null,
    photo text,
    superseded_by text,
    terms text not null,
    han integer not null,
    model text,
    vector blob
  ) strict;
  create index items_by_time on items (time, seq);
  create index items_by_model on items (model, seq);
  create virtual table keywords using fts5 (terms, content = 'items', content_rowid = 'seq', detail = 'none', tokenize = 'ascii');
  insert into keywords (keywords, rank) values ('secure-delete', 1);
  create table facts (name text primary key, value integer not null) strict, without rowid;
  insert into facts (name, value) values ('erasures', 0), ('unerased', 0);
`;

/** People whose words a memory holds, its origins, and the host's progress in taking in messages and drawing facts. */
const keeping = `
  alter table items add column people text not null default '[]';
  alter table items add column origins text not null default '[]';
  create index items_by_category on items (category, time);
  insert into facts (name, value) values ('messages', 0), ('replies', 0), ('extracted', 0);
`;

/** When old memories were removed, and how far that has come; and up to when days have their notes. */
const hygiene = `
  create index items_by_superseded on items (time, seq) where superseded_by is not null;
  insert into facts (name, value) values ('cleaned', 0), ('cleaning', 0), ('announced', 0), ('noted', 0);
`;

/**
 * Terms of simplified characters and of more scripts by pairs: made anew for what may have such, which is not ASCII.
 */
const termsAnew = `
  update items set terms = terms_of(time, sender, text, photo) where terms glob '*[^ -~]*';
  insert into keywords (keywords) values ('rebuild');
`;

/** In their order; one that was released is never changed. */
const migrations: readonly string[] = [initial, keeping, hygiene, termsAnew];

/** SQLite application id of a memory file. */
const applicationId = 0x63726d65;

/**
 * Brings a file up to date, all at once or not at all. Throws AppError `store_failed` for one that is not ours or
 * newer.
 */
export function migrate(connection: SQLite.Database, path: string): void {
  const version = (): number => connection.pragma("user_version", { simple: true }) as number;
  if (version() === migrations.length && isOurs(connection)) return;
  const upgrade = connection.transaction(() => {
    const from = version();
    if (from > migrations.length) {
      throw new AppError("store_failed", `The memory ${path} was written by a newer version of crabpot.`, {
        fix: "use that version or a newer one",
      });
    }
    const isEmpty = connection.prepare("select count(*) from sqlite_schema").pluck().get() === 0;
    if (!isOurs(connection) && !isEmpty)
      throw new AppError("store_failed", `${path} is a database of another program; crabpot does not touch it.`);
    connection.function("terms_of", (time, sender, text, photo) =>
      joinedTerms({ time, sender, text, photo: photo ?? undefined }),
    );
    for (const statements of migrations.slice(from)) connection.exec(statements);
    connection.pragma(`application_id = ${applicationId}`);
    connection.pragma(`user_version = ${migrations.length}`);
  });
  upgrade.immediate();
}

function isOurs(connection: SQLite.Database): boolean {
  return connection.pragma("application_id", { simple: true }) === applicationId;
}
