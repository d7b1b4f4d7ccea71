import { randomBytes } from "node:crypto";

import { proportionalMb } from "../../src/lib/process/proportional-memory.ts";
import type { TestHost } from "../../test/support/host.ts";
import type { BenchContext } from "../harness/bench.ts";
import type { Client } from "../harness/client.ts";
import { atMost, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { groupNames, startHost } from "../harness/host.ts";

/** Maximum characters of one message that the model is shown. */
const shownChars = 16_000;

const attachmentBytes = 10_000_000;

/** A prompt of a megabyte, and a file of ten. */
export async function big(context: BenchContext): Promise<Figure[]> {
  return [...(await bigPrompt(context)), ...(await bigAttachment(context))];
}

/** A turn whose prompt has a megabyte: chatter of a group, then the question. */
async function bigPrompt({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  const runs = quick ? 3 : 10;
  const chatter = Math.ceil(1_048_576 / shownChars);
  const groups = groupNames(runs);
  await using stack = new AsyncDisposableStack();
  const capabilities = { "local/bench": { contextTokens: 1_000_000, maxOutputTokens: 1_000 } };
  const { host, client } = stack.use(await startHost({ modelUrl, groups, capabilities, trigger: "mention" }));
  const values: number[] = [];
  const again: number[] = [];
  const pauses: number[] = [];
  for (const group of groups) {
    await client.time(group, "@crab hello");
    for (let index = 0; index < chatter; index += 1) await client.say(group, "word ".repeat(shownChars / 5));
    values.push(await client.time(group, "@crab what was that?"));
    await pauseMs(host);
    again.push(await client.time(group, "@crab and again?"));
    pauses.push(await pauseMs(host));
  }
  return [
    figureOf({ bench: "big", figure: "1 MB prompt, first turn", unit: "ms", values }),
    figureOf({ bench: "big", figure: "1 MB prompt, further turns", unit: "ms", values: again }),
    figureOf({
      bench: "big",
      figure: "longest pause of the host, 1 MB prompt",
      unit: "ms",
      values: pauses,
      target: atMost(20, "ms"),
    }),
    figureOf({
      bench: "big",
      figure: "memory of the host after",
      unit: "MiB",
      values: [await proportionalMb(host.pid)],
    }),
  ];
}

/**
 * A message with a file in it, which comes as base64 in JSON: how long nothing else can be done meanwhile counts too.
 */
async function bigAttachment({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const { host, client } = stack.use(await startHost({ modelUrl, groups: ["files"] }));
  await client.time("files", "hello");
  const data = randomBytes(attachmentBytes).toString("base64");
  const values: number[] = [];
  const pauses: number[] = [];
  await pauseMs(host);
  for (let run = -1; run < (quick ? 3 : 10); run += 1) {
    const value = await timeFile(client, `${run}.bin`, data);
    const pause = await pauseMs(host);
    if (run < 0) continue;
    values.push(value);
    pauses.push(pause);
  }
  const floors: number[] = [];
  for (let run = 0; run < values.length; run += 1) floors.push(await client.time("files", "hello"));
  const floor = { name: "the same without a file", values: floors };
  return [
    figureOf({ bench: "big", figure: "10 MB attachment, post to reply", unit: "ms", values, floor }),
    figureOf({ bench: "big", figure: "longest pause of the host meanwhile", unit: "ms", values: pauses }),
  ];
}

async function timeFile(client: Client, name: string, data: string): Promise<number> {
  return client.time("files", "a file", [{ name, mimeType: "application/octet-stream", data }]);
}

/** The host's longest pause since the last time that it was asked. */
async function pauseMs(host: TestHost): Promise<number> {
  const metrics = await (await host.get("/metrics")).text();
  return Number(/^crabpot_event_loop_lag_seconds (\S+)/m.exec(metrics)?.[1]) * 1_000;
}
