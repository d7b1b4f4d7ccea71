import * as fc from "fast-check";
import { expect, test } from "vitest";

import { reply } from "../../contracts/channel.ts";
import { type HttpRig, openHttpRig } from "../../support/http-rig.ts";

const never = new AbortController().signal;
const store = fc.record({ act: fc.constant("store" as const) });
const send = fc.record({ act: fc.constant("send" as const), which: fc.nat(9) });
const read = fc.record({ act: fc.constant("read" as const), after: fc.nat(10) });

test("replies are found by every reader once they were sent, in whatever order they are stored, sent and looked for", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(store, send, read), { maxLength: 20 }), async (steps) => {
      await using rig = await openHttpRig();
      await rig.channel.start(async () => ({ outcome: "stored", duplicate: false }));
      const sent = new Set<number>();
      let newest = 0;
      for (const step of steps) {
        if (step.act === "store") rig.offer(reply((newest += 1), "text"));
        if (step.act === "send" && newest > 0) {
          const seq = (step.which % newest) + 1;
          await rig.channel.send(reply(seq, "text"), never);
          sent.add(seq);
        }
        if (step.act === "read") await expectAll(rig, sent, step.after);
      }
      await expectAll(rig, sent, 0);
    }),
    { numRuns: 40 },
  );
});

async function expectAll(rig: HttpRig, sent: ReadonlySet<number>, after: number): Promise<void> {
  const { replies } = await rig.replies(`?after=${after}`);
  const found = new Set(replies.map(({ seq }) => seq));
  expect([...sent].filter((seq) => seq > after && !found.has(seq))).toEqual([]);
}
