import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { commandsOf } from "../../../../src/surfaces/chat/catalog.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";
import type { GroupChat } from "../../../../src/domain/chats/group.ts";
import { SessionQueue } from "../../../../src/work/queue/session-queue.ts";
import { openGroupRegistry } from "../../../../src/intake/chats/group-registry.ts";
import { routerLimits } from "../../../../src/intake/limits/limits.ts";
import { createRouter } from "../../../../src/intake/router.ts";
import type { StoredAttachment } from "../../../../src/domain/chats/message.ts";
import type { BlobPart } from "../../../../src/domain/chats/part.ts";
import { collectMessages } from "../../../../src/turns/steps/collect-messages.ts";
import type { Store } from "../../../../src/stores/contract/store.ts";
import { heapUsedMb } from "../../../support/heap-used.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { resolvedGroup } from "../../../support/resolved-group.ts";
import { someGroup, someStoredGroup } from "../../../support/some-group.ts";
import { byMessage } from "../../../contracts/store-setup.ts";

const groups = Array.from({ length: 40 }, (_, index) => someGroup(`group-${index}`, { trigger: "always" }));
const perGroup = 100;
const waitingTotal = groups.length * perGroup;
/** All of them are three times the memory that may be taken. */
const text = "x".repeat(10_000);
const allowedGrowthMb = 12;

const noImages = new Map<StoredAttachment, BlobPart>();

/** A turn as the store sees it, without a container and a model. */
async function answer(store: Store, group: string): Promise<boolean> {
  const session = await store.sessions.open(`main:fake:${group}`, group);
  const sources = {
    messages: store.messages,
    pictures: { imagesOf: async () => noImages },
    roleOf: () => "member" as const,
    hearingOf: () => ({ may: "trigger" }) as const,
    fingerprint: () => ({ length: 0, sha256: "0".repeat(64) }) as never,
    clock: systemClock,
  };
  const place = {
    group: someGroup(group, chatOf(group)),
    settings: resolvedGroup(),
    hears: { except: [] },
    begins: true,
  };
  const intake = await collectMessages(sources, place, () => session);
  if (!intake) return false;
  const id = randomUUID();
  await store.turns.begin({ id, session: session.id, group, conversation: 1, ...byMessage, at: 1 }, intake.step);
  const inReplyTo = intake.waiting.map((message) => message.id);
  const reply = { group, channel: "fake", chat: group, kind: "reply", text: "", inReplyTo, turn: id } as const;
  await store.turns.finish(id, { state: "done", at: 2, steps: [], outgoing: [reply] });
  return (await store.messages.waitingCount(chatOf(group))) > 0;
}

function chatOf(name: string): GroupChat {
  return { name, channel: "fake", chat: groups.find((group) => group.name === name)?.chat ?? "" };
}

test("four thousand messages of forty groups wait outside the memory, and each is answered once, in order", async () => {
  // In memory, as what the disk adds is measured elsewhere.
  await using opened = await openTestStore("/dev/shm");
  const { store } = opened;
  const queue = new SessionQueue({
    concurrency: 4,
    run: async (queued) => {
      if (await answer(store, queued.group)) queue.wake(queued);
    },
    onError: ({ group }, error) => expect.unreachable(`${group}: ${String(error)}`),
  });
  const accept = createRouter({
    access: () => ({ may: "trigger" }),
    commandsOf,
    registry: await openGroupRegistry({
      configured: groups,
      store: store.groups,
      resolve: someStoredGroup,
      prepare: async () => undefined,
    }),
    store,
    assistantName: "crab",
    intake: () => ({ open: true }),
    wake: () => undefined,
    runCommands: async () => undefined,
    notify: async () => undefined,
    limits: { ...routerLimits, waitingTotal, perSenderPerMinute: perGroup },
    clock: systemClock,
    publish: async () => undefined,
  });
  const before = heapUsedMb();

  for (let id = 0; id < perGroup; id += 1) {
    const message = { channel: "fake", id: String(id), text: `${id} ${text}`, mention: false };
    await Promise.all(
      groups.map(({ chat }) => accept({ ...message, chat, sender: { id: `ann of ${chat}`, name: "Ann" } })),
    );
  }
  const growth = heapUsedMb() - before;
  const other = { id: "bob", name: "Bob" };
  const late = { channel: "fake", chat: groups[0]?.chat ?? "", sender: other, id: "x", text, mention: false };
  const refused = await accept(late);
  for (const { name } of groups) queue.wakeGroup(chatOf(name));
  const line = queue.snapshot();
  await queue.idle();

  const replies = await store.outbox.unsent(10_000);
  expect(growth).toBeLessThan(allowedGrowthMb);
  expect(refused).toMatchObject({ outcome: "refused", code: "all-queues-full" });
  expect(line.waiting.length + line.running.length).toBe(groups.length);
  for (const { name } of groups) {
    const answered = replies.filter(({ group }) => group === name).flatMap(({ inReplyTo }) => inReplyTo);
    expect(answered).toEqual(Array.from({ length: perGroup }, (_, id) => String(id)));
  }
});
