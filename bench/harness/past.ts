import SQLite from "better-sqlite3";

/**
 * Writes a long past into the store of a stopped host: answered messages and chatter, with turns, steps and replies. It
 * belongs to an earlier conversation, so prompts do not grow.
 */
export function writePast(databasePath: string, group: string, messages: number): void {
  const database = new SQLite(databasePath);
  try {
    database.transaction(() => insertPast(database, group, messages))();
  } finally {
    database.close();
  }
}

interface SessionRow {
  readonly id: string;
  readonly conversation: number;
}

function insertPast(database: SQLite.Database, group: string, messages: number): void {
  const session = database.prepare("select * from sessions where group_name = ?").get(group) as SessionRow;
  const message = database.prepare(
    "insert into messages (group_name, channel, chat, id, sender_id, sender_name, text, state, turn, received_at) values (?, 'http', ?, ?, 'ann', 'Ann', ?, ?, ?, 1)",
  );
  const turn = database.prepare(
    "insert into turns (id, group_name, session, conversation, state, attempts, started_at, ended_at) values (?, ?, ?, ?, 'done', 1, 1, 2)",
  );
  const step = database.prepare(
    "insert into steps (turn, session, conversation, at, tokens, body) values (?, ?, ?, 1, 50, ?)",
  );
  const reply = database.prepare(
    "insert into outbox (group_name, channel, chat, kind, text, in_reply_to, turn, state, attempts, created_at) values (?, 'http', ?, 'reply', 'ok', '[]', ?, 'accepted', 1, 1)",
  );
  const said = JSON.stringify({ kind: "user", text: "x".repeat(200) });
  for (let index = 0; index < messages; index += 1) {
    const isAnswered = index % 4 === 0;
    const id = isAnswered ? `past-${index}` : null;
    message.run(group, group, `past-${index}`, "x".repeat(200), isAnswered ? "answered" : "context", id);
    if (!isAnswered) continue;
    turn.run(id, group, session.id, session.conversation);
    step.run(id, session.id, session.conversation, said);
    step.run(id, session.id, session.conversation, said);
    reply.run(group, group, id);
  }
  const change =
    "update sessions set conversation = conversation + 1, window_start = 0, context_cursor = ? where id = ?";
  const { last } = database.prepare("select max(seq) as last from messages").get() as { last: number };
  database.prepare(change).run(last, session.id);
}
