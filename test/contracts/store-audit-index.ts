import { expect, test } from "vitest";

import { type OpenStore, restartableStore } from "./store-setup.ts";

const record = (seq: number) => ({ seq, hash: `hash-${seq}`, type: "host-start", group: undefined, file: "day" });

/** The store as a witness of the audit log. */
export function testAuditIndex(open: OpenStore): void {
  test("the head is the last record of the last batch, also after a restart", async () => {
    await using home = await restartableStore(open);
    expect(await home.store.audit.head()).toBeUndefined();

    await home.store.audit.append(Array.from({ length: 2_500 }, (_, index) => record(index + 1)));

    const store = await home.restart();
    expect(await store.audit.head()).toEqual({ seq: 2_500, hash: "hash-2500" });
    await store.audit.append([]);
    await store.audit.append([record(2_501)]);
    expect(await store.audit.head()).toEqual({ seq: 2_501, hash: "hash-2501" });
  });

  test("what is going to be signed is remembered, and that nothing ever was", async () => {
    await using home = await restartableStore(open);
    await home.store.audit.append([record(1), record(2)]);
    expect(await home.store.audit.signed()).toBeUndefined();

    await home.store.audit.willSign(1);
    await home.store.audit.willSign(2);

    expect(await (await home.restart()).audit.signed()).toBe(2);
  });

  test("the index never goes back: a batch that does not continue it is refused as a whole", async () => {
    await using home = await restartableStore(open);
    const { audit } = home.store;
    await audit.append([record(1), record(2)]);

    await expect(audit.append([record(3), record(2)])).rejects.toMatchObject({ code: "conflict" });
    await expect(audit.append([record(2)])).rejects.toMatchObject({ code: "conflict" });

    expect(await audit.head()).toEqual({ seq: 2, hash: "hash-2" });
  });
}
