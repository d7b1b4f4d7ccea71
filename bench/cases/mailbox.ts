import { join } from "node:path";

import pino from "pino";

import { HostMailbox } from "../../src/sandbox/mailbox/host-mailbox.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { startHelper } from "../harness/child.ts";
import type { BenchContext } from "../harness/bench.ts";
import { figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { mailboxFloor, syncFloor } from "../harness/floors.ts";

/** A round trip between the host's end of the mailbox and the agent's, each in its own process. */
export async function mailbox({ quick }: BenchContext): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const folder = join(path, "mail");
  const uid = process.geteuid?.() ?? 0;
  let arrived: (() => void) | undefined;
  const opened = stack.use(
    await HostMailbox.open({
      folder,
      generation: 1,
      firstId: 1,
      containerUid: uid,
      hostUid: uid,
      onMessage: () => arrived?.(),
      onViolation: (reason) => process.stderr.write(`${reason}\n`),
      logger: pino({ level: "silent" }),
    }),
  );
  stack.use(await startHelper("agent-echo", join(folder, "to-agent"), join(folder, "to-host")));
  const floor = await mailboxFloor(stack);
  const sync = await syncFloor(stack);
  const roundTrip = async (): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrived = resolve;
    const begun = performance.now();
    await opened.send({ type: "ping", turn: "bench" });
    await promise;
    return performance.now() - begun;
  };
  const runs = quick ? 100 : 1_000;
  const values: number[] = [];
  const plain: number[] = [];
  const synced: number[] = [];
  for (let run = -20; run < runs; run += 1) {
    const [one, other, third] = [await roundTrip(), await floor(), await sync()];
    if (run < 0) continue;
    values.push(one);
    plain.push(other);
    synced.push(third);
  }
  return [
    figureOf({
      bench: "mailbox",
      figure: "round trip",
      unit: "ms",
      values,
      floor: { name: "plain files", values: plain },
    }),
    figureOf({ bench: "mailbox", figure: "append + fdatasync", unit: "ms", values: synced }),
  ];
}
