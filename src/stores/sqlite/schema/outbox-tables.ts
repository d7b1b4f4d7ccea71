import type { Generated } from "kysely";

import type { OutboxState, OutgoingKind } from "../../../domain/chats/message.ts";

interface OutboxTable {
  readonly seq: Generated<number>;
  readonly group_name: string;
  readonly channel: string;
  readonly chat: string;
  readonly kind: OutgoingKind;
  readonly text: string;
  readonly in_reply_to: string;
  readonly turn: string | null;
  readonly elapsed_ms: number | null;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly error: string | null;
  readonly created_at: number;
  readonly retried_at: number | null;
  readonly file: string | null;
  readonly reaction: string | null;
  readonly thread: string | null;
  readonly accepted_at: number | null;
  readonly pruned: Generated<number>;
  readonly agent: string | null;
}

interface ChannelStateTable {
  readonly space: string;
  readonly key: string;
  readonly value: Uint8Array;
}

/** Outgoing messages and the state of channels. */
export interface OutboxTables {
  readonly outbox: OutboxTable;
  readonly channel_state: ChannelStateTable;
}

export const outboxSchema = [
  `create table outbox (
     seq integer primary key autoincrement,
     group_name text not null,
     channel text not null,
     chat text not null,
     kind text not null check (kind in ('reply', 'notice')),
     text text not null,
     in_reply_to text not null,
     turn text,
     elapsed_ms real,
     state text not null check (state in ('queued', 'sending', 'accepted', 'delivered', 'uncertain', 'dead')),
     attempts integer not null,
     error text,
     created_at integer not null,
     retried_at integer,
     file text,
     reaction text,
     accepted_at integer,
     pruned integer not null default 0,
     thread text,
     agent text
   ) strict`,
  `create index outbox_unsent on outbox (seq) where state in ('queued', 'sending', 'uncertain')`,
  `create index outbox_by_channel on outbox (channel, seq)`,
  `create index outbox_by_turn on outbox (turn) where turn is not null`,
  `create index outbox_by_state on outbox (state)`,
  `create index outbox_with_file on outbox (created_at) where file is not null`,
  `create index outbox_said on outbox (group_name, seq) where kind = 'reply'`,
  `create table channel_state (
     space text not null,
     key text not null,
     value blob not null,
     primary key (space, key)
   ) strict, without rowid`,
];
