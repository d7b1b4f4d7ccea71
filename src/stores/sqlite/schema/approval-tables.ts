/**
 * Approvals, votes, reactions and grants. `review_votes` has the changes of a review that each person has applied, while
 * more people must. In `approvals`, columns from `session` to `step` are null where no turn asks;
 * `position` is the place of the call among those of its answer; `card` is the `seq` of the outgoing message that asks,
 * 0 where only the operator is asked; `origins` is null in rows from before it was kept. `card_reactions` has each
 * person's last reaction to a card that had an effect.
 */
export const approvalSchema = [
  `create table approvals (
     code text primary key,
     about text not null default 'call' check (about in ('call', 'description', 'form', 'review')),
     group_name text not null,
     channel text not null,
     chat text not null,
     session text references sessions (id),
     conversation integer,
     turn text references turns (id),
     step integer references steps (seq) on delete cascade,
     call_id text not null,
     position integer not null,
     tool text not null,
     input text not null,
     sha256 text not null,
     risk text not null check (risk in ('low', 'medium', 'high')),
     rule text not null,
     asker_id text not null,
     asker_name text not null,
     asker_role text not null,
     approvers text not null,
     quorum integer not null,
     asked_at integer not null,
     expires_at integer not null,
     state text not null check (state in ('open', 'allowed', 'denied', 'expired', 'cancelled')),
     scope text check (scope in ('once', 'session', 'day', 'always')),
     decided_at integer,
     decider_actor text,
     decider_name text,
     decider_role text,
     reason text,
     released_at integer,
     card integer not null,
     told integer not null default 0,
     recorded integer not null default 0,
     diff text,
     base text,
     outcome text check (outcome in ('waiting', 'writing', 'written', 'changed', 'failed')),
     kept text,
     origins text,
     unique (step, call_id),
     check (about <> 'call' or (session is not null and turn is not null and step is not null))
   ) strict`,
  `create index approvals_by_turn on approvals (turn, step, position)`,
  `create index approvals_by_card on approvals (card)`,
  `create index approvals_open on approvals (asked_at) where state = 'open'`,
  `create index approvals_unrecorded on approvals (asked_at) where recorded = 0`,
  `create index approvals_undone on approvals (asked_at)
     where about = 'review' and state in ('allowed', 'denied')
       and (outcome is null or outcome in ('waiting', 'writing'))`,
  `create index approvals_standing on approvals (about, tool, asked_at) where about <> 'call'`,
  `create table approval_votes (
     code text not null references approvals (code) on delete cascade,
     person text not null,
     scope text not null,
     at integer not null,
     primary key (code, person)
   ) strict, without rowid`,
  `create table review_votes (
     code text not null references approvals (code) on delete cascade,
     person text not null,
     path text not null,
     primary key (code, person, path)
   ) strict, without rowid`,
  `create table card_reactions (
     code text not null references approvals (code) on delete cascade,
     person text not null,
     id text not null,
     refused integer not null,
     at integer not null,
     primary key (code, person)
   ) strict, without rowid`,
  `create table grants (
     id text primary key,
     code text not null,
     group_name text not null,
     session text not null,
     conversation integer not null,
     tool text not null,
     input text not null,
     sha256 text not null,
     scope text not null check (scope in ('session', 'day', 'always')),
     given_by text not null,
     at integer not null,
     expires_at integer,
     revoked_at integer
   ) strict, without rowid`,
  `create index grants_by_call on grants (group_name, sha256) where revoked_at is null`,
] as const;
