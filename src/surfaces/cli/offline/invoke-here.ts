import type * as z from "zod";

import type { AnyOperation, Operation, StreamOperation } from "../../../operations/definition/define-operation.ts";
import { invoke } from "../../../operations/invoke.ts";
import type { CommandContext, OfflineOperation } from "../context.ts";
import { needsByName, openStoppedStore } from "./needs.ts";

/**
 * Carries out an operation in this process, as the operator. The parts that it works with put on record what has to be.
 */
export async function invokeHere<Output extends z.ZodType>(
  context: CommandContext,
  asked: OfflineOperation<Operation<never, z.ZodType, Output>>,
): Promise<z.output<Output>> {
  await using needs = await openNeeds(context, asked);
  return likeSent(await here(asked, needs)) as z.output<Output>;
}

/** The same for an answer that comes in pieces. */
export async function* followHere<Output extends z.ZodType>(
  context: CommandContext,
  asked: OfflineOperation<StreamOperation<never, z.ZodType, Output>>,
): AsyncGenerator<z.output<Output>> {
  await using needs = await openNeeds(context, asked);
  for await (const piece of (await here(asked, needs)) as AsyncIterable<unknown>)
    yield likeSent(piece) as z.output<Output>;
}

/** The parts of the home that an operation works with. Rejects with `absence` where it has none. */
async function openNeeds(
  context: CommandContext,
  { operation: { name }, ...asked }: OfflineOperation<AnyOperation>,
): Promise<AsyncDisposable> {
  const [family = ""] = name.split(".");
  const load = needsByName[name] ?? needsByName[family];
  return (load ? await load() : openStoppedStore)(context, asked);
}

function here({ operation, input }: OfflineOperation<AnyOperation>, needs: object): Promise<unknown> {
  return invoke(operation, needs, input, {
    actor: "operator",
    scopes: new Set(["read", "admin"] as const),
    publish: () => Promise.resolve(),
    signal: new AbortController().signal,
  });
}

/** The answer as a host would have sent it. */
function likeSent(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer));
}
