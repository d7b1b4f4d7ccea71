import * as z from "zod";

import type { Actor } from "../../domain/people/actor.ts";
import {
  type Chat,
  type Group,
  isExpired,
  pairingLifetimeMs,
  type RequestSettlement,
  requestStates,
  unknownRequest,
} from "../../domain/chats/group.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import { memberKey } from "../../domain/people/person.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { list, name, nothing, optOut, schemaOf, time } from "../definition/schemas.ts";

interface Decision {
  readonly outgoing: readonly OutgoingDraft[];
  readonly settles: RequestSettlement;
}

/** The parts that answer chats that ask to become groups. */
export interface RequestNeeds {
  readonly store: { readonly requests: Pick<Store["requests"], "get" | "settle" | "forget" | "pairings"> };
  /** Its methods reject with `not_found` for unknown codes, `bad_input` and `conflict` for names. */
  readonly admissions: {
    approve(
      code: string,
      wish: { readonly name: string | undefined; readonly actor: Actor },
    ): Promise<Decision & { readonly group: Group }>;
    deny(code: string): Promise<Decision>;
  };
  readonly outbox: { wake(): void };
  readonly clock: Pick<Clock, "now">;
  /** For codes that expire: never goes back. */
  readonly forwardClock: Pick<Clock, "now">;
}

/** A chat that spoke to us, registered or not: metadata only, never texts. */
const chatView = schemaOf<Chat>(
  z.strictObject({
    channel: z.string(),
    chat: z.string(),
    group: z.string().optional(),
    firstSeenAt: time,
    lastSeenAt: time,
    messages: z.number(),
    title: z.string().optional(),
    members: list(z.strictObject({ id: z.string(), name: z.string() })).optional(),
    left: z.boolean().optional(),
    request: z.strictObject({ state: z.enum(requestStates), code: z.string() }).optional(),
  }),
);

/** Somebody who wrote directly. */
const pairingView = z.strictObject({
  code: z.string(),
  state: z.enum(requestStates),
  channel: z.string(),
  chat: z.string(),
  id: z.string().describe("As `members` and `people` of the configuration have it"),
  name: z.string().describe("Their own name for themselves; anybody may choose any name"),
  expiresAt: time,
});

const admitted = z.strictObject({
  approved: z.string().describe("The code"),
  group: z.string(),
  channel: z.string(),
  chat: z.string(),
});

export const listChats = defineOperation<{ readonly store: { readonly chats: { list(): Promise<Chat[]> } } }>()({
  name: "chats",
  summary: "list chats that were seen",
  input: z.strictObject({ all: optOut.describe("include chats that are groups") }),
  output: list(chatView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /chats",
  listAs: "chats",
  offline: true,
  cli: {
    help: "list chats that are not groups, and answer those that ask",
    defaults: { all: false },
    table: [
      "channel",
      "chat",
      { title: "title", of: ({ title, left }) => [title, left && "(left)"].filter(Boolean).join(" ") },
      "group",
      { title: "request", of: ({ request }) => request && `${request.state} ${request.code}` },
      "messages",
      { field: "firstSeenAt", title: "first seen (UTC)" },
      { field: "lastSeenAt", title: "last seen (UTC)" },
    ],
    none: () => "No unregistered chat has been seen.",
  },
  run: async ({ store }, { all }) => (await store.chats.list()).filter(({ group }) => all || group === undefined),
});

export const approveRequest = defineOperation<RequestNeeds>()({
  name: "chats.approve",
  summary: "let a chat in that asked: it becomes a group, of this name or of one like its title",
  input: z.strictObject({ code: name, name: name.optional().describe("name of the group; absent: like its chat") }),
  output: admitted,
  may: { scope: "admin" },
  effect: "change",
  cli: { args: ["code"], say: describeAdmitted },
  run: async (needs, { code, name: wanted }) => approve(needs, code, wanted),
});

/**
 * Rejects with `not_found` also for a code of another kind, which was not told to the person, and for one that has
 * expired.
 */
export const approvePairing = defineOperation<RequestNeeds>()({
  name: "pairing.approve",
  summary: "let somebody in who wrote directly",
  input: z.strictObject({ code: name, name: name.optional().describe("name of the group; absent: like its chat") }),
  output: admitted,
  may: { scope: "admin" },
  effect: "change",
  cli: { args: ["code"], say: describeAdmitted },
  run: async (needs, { code, name: wanted }) => {
    const request = await needs.store.requests.get(code.toUpperCase());
    if (request?.kind !== "pairing" || isExpired(request, needs.forwardClock.now())) {
      throw new AppError("not_found", `There is no pairing with the code "${code}"; codes are valid for an hour.`, {
        fix: ownCommand("pairing list"),
      });
    }
    return approve(needs, code, wanted);
  },
});

export const listPairings = defineOperation<RequestNeeds>()({
  name: "pairing.list",
  summary: "list people with a valid code, and people who were denied",
  input: nothing,
  output: list(pairingView),
  may: { scope: "read" },
  effect: "none",
  cli: {
    table: [
      "code",
      "state",
      { field: "name", title: "called" },
      "id",
      "chat",
      { field: "expiresAt", title: "valid until (UTC)" },
    ],
    none: () => "Nobody is waiting.",
  },
  run: async ({ store, forwardClock }) => {
    const now = forwardClock.now();
    const pairings = await store.requests.pairings();
    return pairings
      .filter((request) => request.state === "denied" || !isExpired(request, now))
      .map(({ code, state, channel, chat, sender, at }) => {
        const id = memberKey({ channel, id: sender.id });
        return { code, state, channel, chat, id, name: sender.name, expiresAt: at + pairingLifetimeMs };
      });
  },
});

export const denyRequest = defineOperation<RequestNeeds>()({
  name: "chats.deny",
  summary: "deny a request without replying",
  input: z.strictObject({ code: name }),
  output: z.strictObject({ denied: z.string() }),
  may: { scope: "admin" },
  effect: "change",
  cli: [
    {
      args: ["code"],
      say: ({ denied }) =>
        `The chat of request ${denied} stays silent. ${ownCommand(`chats approve ${denied}`)} would still make it a group.`,
    },
    {
      command: "pairing deny",
      help: "deny somebody who wrote directly; they are not told, and get no further code",
      args: ["code"],
      say: ({ denied }) => `Their chat stays silent. ${ownCommand(`chats forget ${denied}`)} lets them ask again.`,
    },
  ],
  run: async (needs, { code }) => {
    await settle(needs, await needs.admissions.deny(code));
    return { denied: code };
  },
});

export const forgetRequest = defineOperation<RequestNeeds>()({
  name: "chats.forget",
  summary: "forget a chat's request and its answer: it may ask again",
  input: z.strictObject({ code: name }),
  output: z.strictObject({ forgotten: z.string() }),
  may: { scope: "admin" },
  effect: "change",
  cli: { args: ["code"], say: ({ forgotten }) => `Request ${forgotten} is forgotten.` },
  run: async ({ store }, { code }) => {
    const request = await store.requests.get(code.toUpperCase());
    if (!request) throw unknownRequest(code);
    await store.requests.forget(request.channel, request.chat);
    return { forgotten: code };
  },
});

async function approve(
  needs: RequestNeeds,
  code: string,
  wanted: string | undefined,
): Promise<z.infer<typeof admitted>> {
  const approved = await needs.admissions.approve(code, { name: wanted, actor: "operator" });
  await settle(needs, approved);
  const { name: group, channel, chat } = approved.group;
  return { approved: code, group, channel, chat };
}

async function settle({ store, outbox, clock }: RequestNeeds, { settles, outgoing }: Decision): Promise<void> {
  await store.requests.settle(settles, outgoing, clock.now());
  outbox.wake();
}

function describeAdmitted({ group, chat, channel }: z.infer<typeof admitted>): string {
  return `Added group ${group}: chat ${chat} on ${channel}.`;
}

/** Operations on chats that were seen. */
export const chatOperations = [listChats, approveRequest, denyRequest, forgetRequest] as const;

/** Operations on people who write directly. */
export const pairingOperations = [listPairings, approvePairing, denyRequest] as const;
