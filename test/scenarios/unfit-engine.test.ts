import { expect, test } from "vitest";

import { crabpot, newHome } from "../support/crabpot.ts";
import { pretendEngine } from "../support/pretend-engine.ts";

const fit = {
  CgroupVersion: "2",
  SecurityOptions: ["name=seccomp,profile=builtin"],
  Runtimes: { runc: {} },
  MemoryLimit: true,
  SwapLimit: true,
  PidsLimit: true,
  CpuCfsQuota: true,
};

const config = "channels: { http: {} }\ngateway: { port: 0, token: test-token-0123456789 }\n";

test.each([
  ["filters no system calls", { SecurityOptions: [] }, /cannot filter system calls/],
  ["cannot limit processes", { PidsLimit: false }, /cannot limit: processes/],
  ["cannot limit memory and swap", { MemoryLimit: false, SwapLimit: false }, /cannot limit: memory, swap/],
  ["cannot limit CPU", { CpuCfsQuota: false }, /cannot limit: CPU/],
  [
    "is rootless on cgroup v1",
    { CgroupVersion: "1", SecurityOptions: ["name=seccomp", "name=rootless"] },
    /rootless on cgroup v1/,
  ],
  ["lacks the runtime that is asked for", { Runtimes: { crun: {} } }, /has no runtime runc; it has: crun/],
])(
  "an engine that %s is refused: the host does not start, and no container is asked for",
  async (_, change, reason) => {
    await using engine = await pretendEngine(undefined, { ...fit, ...change });
    await using home = await newHome({ "config.yaml": config });

    const started = await crabpot({ ...home, variables: { DOCKER_HOST: engine.url } }, "start");

    expect(started.code).toBe(1);
    expect(started.stderr).toMatch(reason);
    expect(engine.asked.filter((path) => path.includes("/containers"))).toEqual([]);
  },
);
