import type * as z from "zod";

import type { Actor } from "../domain/people/actor.ts";
import type { Publish } from "../domain/events/event.ts";
import { AppError } from "../lib/app-error.ts";
import { isAtLeast } from "../domain/people/role.ts";
import { mayAct } from "../domain/rights/may-act.ts";
import type {
  AnyOperation,
  AskingMember,
  May,
  Operation,
  OperationCall,
  Recordable,
  Scope,
  StreamOperation,
} from "./definition/define-operation.ts";

/** A parameter that does not fit; `path` is its place, with dots between names. */
export class InputError extends AppError {
  readonly path: string;

  constructor(error: z.ZodError) {
    super("bad_input", `${error.issues.map(describeIssue).join("; ")}.`);
    this.path = error.issues[0]?.path.join(".") ?? "";
  }
}

/** The caller with its scopes, and the recorder. */
export interface Caller extends OperationCall {
  readonly actor: Actor;
  readonly scopes: ReadonlySet<Scope>;
  readonly publish: Publish<"operation.requested" | "operation.ended">;
  /** True where the request is on record already, as a command in a chat. */
  readonly isAnnounced?: boolean | undefined;
}

/**
 * The one way to an operation: checks the scope, then the parameters, puts a change on record before it is made and
 * after it has ended, and makes it. Rejects with AppError `unauthorized`, with InputError, and as the operation does;
 * what cannot be put on record is not done. Resolves with the answer, or with the pieces of a stream.
 */
export async function invoke(
  operation: AnyOperation,
  needs: unknown,
  given: unknown,
  caller: Caller,
): Promise<unknown> {
  if (!caller.member && !caller.scopes.has(operation.may.scope))
    throw new AppError("unauthorized", `${operation.name} needs the scope "${operation.may.scope}".`);
  const parsed = operation.input.safeParse(given);
  if (!parsed.success) throw new InputError(parsed.error);
  if (caller.member) await requireRights(operation, { needs, input: parsed.data, member: caller.member });
  // The host has all that any operation needs: `OperationNeeds`.
  const defined = operation as Operation<unknown> | StreamOperation<unknown>;
  const record = createRecord(operation, parsed.data, caller);
  if (!caller.isAnnounced) await record("requested", "asked");
  try {
    if (defined.follow) return recorded(defined.follow(needs, parsed.data, caller), record);
    const answer = await defined.run(needs, parsed.data, caller);
    await record("ended", "done");
    return answer;
  } catch (error) {
    await record("ended", outcomeOf(error));
    throw error;
  }
}

/** Judges what a member wants: first the role, as far as it does not depend on whose thing it is. */
async function requireRights(
  { name, may }: AnyOperation,
  { needs, input, member }: { readonly needs: unknown; readonly input: unknown; readonly member: AskingMember },
): Promise<void> {
  const rights = may as May<unknown, unknown>;
  const { role, refusal = `${name} needs the role "${role ?? "operator"}".` } = rights;
  const hasRole = role !== undefined && isAtLeast(member.role, role);
  if (!hasRole && !rights.own) throw new AppError("unauthorized", refusal);
  const group = rights.of
    ? await rights.of(needs, input).catch(unlessMissing)
    : (input as { readonly group?: string }).group;
  const lineage = group === member.group ? await rights.own?.(needs, input) : undefined;
  const asker = { group: member.group, reachesAll: member.isMain, role: member.role, people: [member.keys] };
  const ruling = mayAct(asker, { ...rights, own: rights.own !== undefined }, { group, lineage });
  // A thing of another group and one that does not exist get the same answer: ids of others cannot be tried out.
  if (ruling === "hidden") throw new AppError("not_found", "This group has nothing of that name, or it has ended.");
  if (ruling === "refused") throw new AppError("unauthorized", refusal);
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof AppError && error.code === "not_found") return undefined;
  throw error;
}

type RecordOutcome = (moment: "requested" | "ended", outcome: string) => Promise<void>;

/** Looking at something is not recorded. */
function createRecord(
  { name, effect, record }: AnyOperation,
  input: unknown,
  { actor, publish }: Pick<Caller, "actor" | "publish">,
): RecordOutcome {
  if (effect === "none") return () => Promise.resolve();
  const parameters = record?.(input) ?? recordable(input as object);
  return (moment, outcome) =>
    publish({ type: `operation.${moment}`, actor, data: { operation: name, parameters, outcome } });
}

async function* recorded(pieces: AsyncIterable<unknown>, record: RecordOutcome): AsyncGenerator {
  let outcome = "done";
  try {
    yield* pieces;
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    await record("ended", outcome);
  }
}

function outcomeOf(error: unknown): string {
  return error instanceof AppError ? error.code : "failed";
}

/** Words to an agent or a chat stay in the store. */
function recordable(parameters: object): Recordable {
  const given = Object.entries(parameters).filter(
    ([key, value]) => value !== undefined && key !== "text" && key !== "reason",
  );
  return Object.fromEntries(given) as Recordable;
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}
