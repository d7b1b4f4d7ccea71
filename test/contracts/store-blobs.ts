import { createHash } from "node:crypto";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { BlobPart, Part } from "../../src/domain/chats/part.ts";
import { partsOf } from "../../src/domain/chats/part.ts";
import type { StepBody } from "../../src/domain/turns/turn.ts";
import { blobsOf } from "../../src/domain/turns/turn.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { byMessage, finished, insertCommand, type OpenStore, restartableStore, stopping } from "./store-setup.ts";

const contents = ["a cat", "a dog", "a bird"];

export function picture(content: string): BlobPart {
  const blob = createHash("sha256").update(content).digest("hex");
  return { kind: "image", blob, mimeType: "image/png", bytes: content.length, name: "x.png" };
}

const hashes = contents.map((content) => picture(content).blob);

async function say(store: Store, turn: string, body: StepBody, at: number): Promise<void> {
  await store.turns.addStep(turn, { body, tokens: 1, at });
}

async function begin(store: Store, turn: string, body: StepBody): Promise<string> {
  const { id: session, conversation } = await store.sessions.open("agent:terminal:chat", "family");
  const begins = { id: turn, session, group: "family", conversation, ...byMessage, at: 10 };
  await store.turns.begin(begins, { body, tokens: 1, at: 10 });
  return session;
}

/** A new conversation begins. */
async function renew(store: Store, session: string): Promise<void> {
  const command = await insertCommand(store, crypto.randomUUID(), "new");
  await store.commands.carryOut(command, { ...stopping, stops: false, renews: [session] });
}

async function references(store: Store): Promise<Record<string, number>> {
  const known = await store.blobs.known(hashes);
  return Object.fromEntries(known.map(({ sha256, references: count }) => [sha256, count]));
}

/** Counts references of these turns' steps to each blob, by reading all of them. */
async function countReferences(store: Store, turns: number): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (let turn = 1; turn <= turns; turn += 1)
    for (const { body } of await store.turns.steps(`t${turn}`))
      for (const blob of new Set(blobsOf(body).map((one) => one.blob))) counted[blob] = (counted[blob] ?? 0) + 1;
  return counted;
}

const text = fc.string({ maxLength: 20 });
const part: fc.Arbitrary<Part> = fc.oneof(
  text.map((written): Part => ({ kind: "text", text: written })),
  fc.constantFrom(...contents).map(picture),
);
const content = fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 5 }));
const anyBody: fc.Arbitrary<StepBody> = fc.oneof(
  content.map((said): StepBody => ({ kind: "user", ...(typeof said === "string" ? { text: said } : { parts: said }) })),
  fc.array(content, { maxLength: 3 }).map((outputs): StepBody => ({
    kind: "tools",
    results: outputs.map((output, index) => ({
      callId: `c${index}`,
      isError: false,
      ...(typeof output === "string" ? { output } : { parts: output }),
    })),
  })),
);

type Event =
  | { readonly what: "step"; readonly body: StepBody }
  | { readonly what: "turn" | "new conversation" | "prune" | "forget" | "restart" };

const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: anyBody.map((body): Event => ({ what: "step", body })) },
    fc
      .constantFrom(
        "turn" as const,
        "new conversation" as const,
        "prune" as const,
        "forget" as const,
        "restart" as const,
      )
      .map((what): Event => ({ what })),
  ),
  { maxLength: 25 },
);

/** References keep blobs from being forgotten. */
export function testBlobs(open: OpenStore): void {
  test("steps of text and of parts come back as they were", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyBody, { minLength: 1, maxLength: 5 }), async (bodies) => {
        await using home = await restartableStore(open);
        await begin(home.store, "t", { kind: "user", text: "hello" });
        for (const body of bodies) await say(home.store, "t", body, 10);

        const read = await (await home.restart()).turns.steps("t");

        expect(read.slice(1).map(({ body }) => body)).toEqual(bodies);
      }),
      { numRuns: 20 },
    );
  });

  test("whatever happens, a blob has as many references as there are steps that refer to it", async () => {
    await fc.assert(
      fc.asyncProperty(events, async (history) => {
        await using home = await restartableStore(open);
        let turns = 0;
        const next = (): Promise<string> => begin(home.store, `t${(turns += 1)}`, { kind: "user", text: "hello" });
        let session = await next();
        for (const event of history) {
          const { store } = home;
          if (event.what === "step") await say(store, `t${turns}`, event.body, 10);
          if (event.what === "turn" || event.what === "new conversation") {
            await store.turns.finish(`t${turns}`, finished);
            if (event.what === "new conversation") await renew(store, session);
            session = await next();
          }
          if (event.what === "prune") await store.retention.steps({ after: 0, limit: 100, before: 500 });
          if (event.what === "forget") await store.blobs.forget(500, 100);
          if (event.what === "restart") await home.restart();
        }

        const counted = await countReferences(home.store, turns);
        const known = await references(home.store);
        expect(Object.fromEntries(Object.entries(known).filter(([, count]) => count > 0))).toEqual(counted);
      }),
      { numRuns: 30 },
    );
  });

  test("what a picture shows is kept once, known up to a number, and goes a month after the picture", async () => {
    await using home = await restartableStore(open);
    const { blobs } = home.store;
    const [cat = "", dog = "", bird = ""] = hashes;
    const month = 30 * 86_400_000;
    await begin(home.store, "t1", { kind: "user", parts: [picture(contents[2] ?? "")] });

    expect(await blobs.lastCaption()).toBe(0);
    expect(await blobs.keepCaption({ sha256: cat, caption: "a cat on a mat", at: 10 })).toBe("a cat on a mat");
    const first = await blobs.lastCaption();
    expect(await blobs.keepCaption({ sha256: cat, caption: "another cat", at: 11 })).toBe("a cat on a mat");
    await blobs.keepCaption({ sha256: dog, caption: "a dog", at: 20 });
    await blobs.keepCaption({ sha256: bird, caption: "a bird", at: 10 });

    const restarted = (await home.restart()).blobs;
    expect(await restarted.captionsOf(hashes)).toEqual(
      new Map([
        [cat, "a cat on a mat"],
        [dog, "a dog"],
        [bird, "a bird"],
      ]),
    );
    expect(await restarted.captionsOf(hashes, first)).toEqual(new Map([[cat, "a cat on a mat"]]));
    await restarted.forget(11 + month, 100);
    expect([...(await restarted.captionsOf(hashes)).keys()].toSorted()).toEqual([dog, bird].toSorted());
  });

  test("what a step refers to is not forgotten, nor what is young; the rest is, once its last step is gone", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const [cat = "", dog = ""] = contents;
    const session = await begin(store, "t1", { kind: "user", parts: [picture(cat)] });
    await say(store, "t1", { kind: "user", parts: [picture(cat), picture(dog), picture(dog)] }, 10);
    await store.turns.finish("t1", finished);
    await renew(store, session);
    await begin(store, "t2", { kind: "user", parts: [picture(cat)] });

    const before = [await references(store), await store.blobs.forget(500, 100)];
    await store.retention.steps({ after: 0, limit: 100, before: 500 });
    const young = await store.blobs.forget(10, 100);
    const forgotten = await store.blobs.forget(11, 100);

    expect(before).toEqual([{ [picture(cat).blob]: 3, [picture(dog).blob]: 1 }, 0]);
    expect([young, forgotten]).toEqual([0, 1]);
    expect(await references(await home.restart())).toEqual({ [picture(cat).blob]: 1 });
    const [step] = await home.store.turns.steps("t2");
    expect(step?.body.kind === "user" && partsOf(step.body)).toEqual([picture(cat)]);
  });
}
