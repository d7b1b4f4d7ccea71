import type { Actor } from "../domain/actor.ts";
import { type Group, isExpired, pairingLifetimeMs, type RequestSettlement } from "../domain/group.ts";
import { memberKey } from "../domain/person.ts";
import type { OutgoingDraft } from "../domain/message.ts";
import { AppError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { PairingView } from "./operations.ts";
import type { Store } from "../stores/store.ts";
import { ownCommand } from "../lib/process/own-command.ts";

interface Decision {
  readonly outgoing: readonly OutgoingDraft[];
  readonly settles: RequestSettlement;
}

/** Answers chats that ask to become groups. They reject with `not_found` for unknown codes, `bad_input` and `conflict` for names. */
export interface RequestAnswers {
  approve(
    code: string,
    wish: { readonly name: string | undefined; readonly actor: Actor },
  ): Promise<Decision & { readonly group: Group }>;
  deny(code: string): Promise<Decision>;
}

export interface RequestOperationOptions {
  readonly store: { readonly requests: Pick<Store["requests"], "get" | "settle" | "forget" | "pairings"> };
  readonly admissions: RequestAnswers;
  readonly outbox: { wake(): void };
  readonly clock: Pick<Clock, "now">;
  readonly forwardClock: Pick<Clock, "now">;
}

export async function approveRequest(
  options: RequestOperationOptions,
  code: string,
  name: string | undefined,
): Promise<Group> {
  const approved = await options.admissions.approve(code, { name, actor: "operator" });
  await settle(options, approved);
  return approved.group;
}

/** A code of another kind is none: it was not told to the person. */
export async function approvePairing(
  options: RequestOperationOptions,
  code: string,
  name: string | undefined,
): Promise<Group> {
  const request = await options.store.requests.get(code.toUpperCase());
  if (request?.kind !== "pairing" || isExpired(request, options.forwardClock.now())) {
    throw new AppError("not_found", `There is no pairing with the code "${code}"; codes are valid for an hour.`, {
      fix: ownCommand("pairing list"),
    });
  }
  return approveRequest(options, code, name);
}

export async function listPairings({ store, forwardClock }: RequestOperationOptions): Promise<PairingView[]> {
  const now = forwardClock.now();
  const pairings = await store.requests.pairings();
  return pairings
    .filter((request) => request.state === "denied" || !isExpired(request, now))
    .map(({ code, state, channel, chat, sender: { id, name }, at }) => {
      const expiresAt = at + pairingLifetimeMs;
      return { code, state, channel, chat, id: memberKey({ channel, id }), name, expiresAt };
    });
}

export async function denyRequest(options: RequestOperationOptions, code: string): Promise<void> {
  await settle(options, await options.admissions.deny(code));
}

export async function forgetRequest({ store }: RequestOperationOptions, code: string): Promise<void> {
  const request = await store.requests.get(code.toUpperCase());
  if (!request) throw new AppError("not_found", `There is no request "${code}".`, { fix: ownCommand("chats") });
  await store.requests.forget(request.channel, request.chat);
}

async function settle(
  { store, outbox, clock }: RequestOperationOptions,
  { settles, outgoing }: Decision,
): Promise<void> {
  await store.requests.settle(settles, outgoing, clock.now());
  outbox.wake();
}
