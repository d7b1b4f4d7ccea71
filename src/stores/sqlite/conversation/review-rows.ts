import { createHash } from "node:crypto";

import type { Transaction } from "kysely";

import type { Answered, Approval, ApprovalAnswer, Decider } from "../../../domain/rights/approval.ts";
import { chooseChanges, digestedChanges, reviewOf, type ReviewedChange } from "../../../domain/rights/review.ts";
import { canonicalJson } from "../../../lib/canonical-json.ts";
import type { StandingAsk } from "../../contract/approval-store.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { isOpen, selectApprovals, toApproval } from "./selected-approvals.ts";

/** Cancels what is open about the same folder, unless it is decided already. False: exactly this is open. */
export async function replaceReview(
  transaction: Transaction<Tables>,
  { group, approval: { code, tool, askedAt, change }, allowedBy }: StandingAsk,
): Promise<boolean> {
  if (allowedBy) return true;
  const open = await transaction
    .selectFrom("approvals")
    .select(["code", "base"])
    .where("about", "=", "review")
    .where("group_name", "=", group)
    .where("tool", "=", tool)
    .where(isOpen)
    .execute();
  if (open.some(({ base }) => base === change?.base)) return false;
  for (const { code: replaced } of open)
    await transaction
      .updateTable("approvals")
      .set({ state: "cancelled", decided_at: askedAt, reason: code })
      .where("code", "=", replaced)
      .execute();
  return true;
}

/** Columns of a decision. */
export function decidedBy({ actor, name, role }: Omit<Decider, "person">, at: number) {
  return { decided_at: at, decider_actor: actor, decider_name: name, decider_role: role };
}

/**
 * Answers an open review: all that is not decided, or the part that the answer names. Each change needs as many
 * different people as the quorum; one is enough to discard it.
 */
export async function answerReview(
  transaction: Transaction<Tables>,
  found: Approval,
  answer: ApprovalAnswer,
): Promise<Answered> {
  const review = reviewOf(found);
  const { chosen } = chooseChanges(review.changes, answer.paths);
  if (chosen.length === 0) return { outcome: "settled", approval: found };
  const enough = answer.allow ? await vote(transaction, found, { answer, chosen }) : { changes: chosen, isNew: true };
  const { changes, isNew } = enough;
  if (changes.length === 0) {
    return { outcome: "counted", again: !isNew, approval: await reload(transaction, found.code) };
  }
  const state = answer.allow ? ("allowed" as const) : ("denied" as const);
  const decision = {
    state,
    scope: answer.allow ? ("once" as const) : null,
    reason: answer.reason ?? null,
    ...decidedBy(answer.by, answer.at),
  };
  const decided = new Set(changes);
  const rest = review.changes.filter((change) => !decided.has(change));
  const code = rest.length === 0 ? found.code : await takePart(transaction, found, { changes, rest });
  await transaction.updateTable("approvals").set(decision).where("code", "=", code).execute();
  return { outcome: state, approval: await reload(transaction, code) };
}

/** Makes a part a separate approval, and leaves the other with the rest. Returns the code of the part. */
async function takePart(
  transaction: Transaction<Tables>,
  { code, input }: Approval,
  { changes, rest }: { readonly changes: readonly ReviewedChange[]; readonly rest: readonly ReviewedChange[] },
): Promise<string> {
  const { target } = reviewOf({ input });
  const row = await transaction.selectFrom("approvals").selectAll().where("code", "=", code).executeTakeFirstOrThrow();
  const parts = await transaction.selectFrom("approvals").select("code").where("code", "like", `${code}-%`).execute();
  const part = `${code}-${parts.length + 1}`;
  await transaction
    .insertInto("approvals")
    .values({ ...row, code: part, card: 0, ...reviewColumns(target, changes) })
    .execute();
  await transaction.updateTable("approvals").set(reviewColumns(target, rest)).where("code", "=", code).execute();
  return part;
}

function reviewColumns(
  target: string,
  changes: readonly ReviewedChange[],
): Pick<Row<"approvals">, "input" | "sha256" | "base"> {
  const input = canonicalJson({ target, changes });
  return { input, sha256: digest(input), base: digest(digestedChanges({ target, changes })) };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Counts who has applied each change, and returns those that enough people have. */
async function vote(
  transaction: Transaction<Tables>,
  { code, quorum }: Approval,
  { answer, chosen }: { readonly answer: ApprovalAnswer; readonly chosen: readonly ReviewedChange[] },
): Promise<{ readonly changes: readonly ReviewedChange[]; readonly isNew: boolean }> {
  const { by, scope, at } = answer;
  await transaction
    .insertInto("approval_votes")
    .values({ code, person: by.person, scope, at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  if (quorum <= 1) return { changes: chosen, isNew: true };
  const votes = await transaction
    .selectFrom("review_votes")
    .select(["person", "path"])
    .where("code", "=", code)
    .execute();
  const own = new Set(
    votes.flatMap(({ person, path }) => (person === by.person || by.alsoAs?.includes(person) ? [path] : [])),
  );
  const counts = Map.groupBy(votes, ({ path }) => path);
  const added = chosen.filter(({ path }) => !own.has(path));
  for (const { path } of added)
    await transaction.insertInto("review_votes").values({ code, person: by.person, path }).execute();
  const changes = chosen.filter(({ path }) => (counts.get(path)?.length ?? 0) + (own.has(path) ? 0 : 1) >= quorum);
  return { changes, isNew: added.length > 0 };
}

async function reload(transaction: Transaction<Tables>, code: string): Promise<Approval> {
  return toApproval(await selectApprovals(transaction).where("code", "=", code).executeTakeFirstOrThrow());
}
