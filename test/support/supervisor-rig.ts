import pino from "pino";

import type { AcceptMessage, ChannelState } from "../../src/channels/channel.ts";
import { SupervisedChannel } from "../../src/channels/supervisor.ts";
import { FakePlatform } from "../fakes/fake-platform.ts";
import { VirtualTime } from "./virtual-time.ts";

/** A supervised platform in virtual time, without jitter unless `random` says so. */
export interface SupervisorRig extends AsyncDisposable {
  readonly platform: FakePlatform;
  readonly time: VirtualTime;
  readonly channel: SupervisedChannel;
  /** Each change of state. */
  readonly changes: ChannelState["state"][];
  readonly delivered: number[];
  readonly alarms: string[];
  state(): ChannelState["state"];
}

export async function openSupervisorRig(
  options: { platform?: FakePlatform; random?: () => number; accept?: AcceptMessage } = {},
): Promise<SupervisorRig> {
  const { platform = new FakePlatform(), random = () => 0.5 } = options;
  const time = new VirtualTime();
  const channel = new SupervisedChannel(platform, {
    clock: time.clock,
    wait: time.wait,
    random,
    logger: pino({ level: "silent" }),
  });
  const changes: ChannelState["state"][] = [];
  const delivered: number[] = [];
  const alarms: string[] = [];
  await channel.start(options.accept ?? (async () => ({ outcome: "stored", duplicate: false })), {
    changed: ({ state }) => changes.push(state),
    delivered: (seq) => delivered.push(seq),
    needsOperator: (reason) => alarms.push(reason),
  });
  await time.settle();
  return {
    platform,
    time,
    channel,
    changes,
    delivered,
    alarms,
    state: () => channel.state().state,
    async [Symbol.asyncDispose]() {
      const ending = channel[Symbol.asyncDispose]();
      await time.advance(10_000);
      await ending;
    },
  };
}
