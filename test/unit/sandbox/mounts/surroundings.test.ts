import { mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { judgeMounts } from "../../../../src/sandbox/mounts/rules.ts";
import { allow, pretendMachine } from "../../../support/pretend-machine.ts";

const good = "~/projects/app";

function line(target: string, options: { root?: string; device?: string; type?: string } = {}): string {
  const { device = "8:1", root = "/", type = "ext4" } = options;
  return `30 25 ${device} ${root} ${target} rw,relatime shared:1 - ${type} /dev/x rw\n`;
}

test("a socket anywhere inside the source refuses it, because connecting works through a read-only mount", async () => {
  await using machine = await pretendMachine();
  const socket = join(machine.path, "home/projects/app/src/agent.sock");
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(socket, resolve));

  const [verdict] = await judgeMounts([{ source: good, target: "app" }], machine.context);
  await new Promise((resolve) => void server.close(resolve));

  expect(verdict).toMatchObject({ verdict: "denied", reason: expect.stringContaining("agent.sock") });
});

test("a source that is too large to look through is refused with that reason", async () => {
  await using machine = await pretendMachine();
  const context = { ...machine.context, walkLimits: { entries: 3, milliseconds: 10_000 } };

  const verdicts = await judgeMounts(
    [
      { source: good, target: "app" },
      { source: "~/docs", target: "docs" },
    ],
    context,
  );

  expect(verdicts).toMatchObject([
    { verdict: "denied", reason: expect.stringContaining("more than 3 entries") },
    { verdict: "ro" },
  ]);
});

test("a folder whose name is not valid UTF-8 is looked into like any other", async () => {
  await using machine = await pretendMachine();
  const odd = Buffer.concat([Buffer.from(join(machine.path, "home/projects/app/")), Buffer.from([0xff, 0xfe])]);
  await mkdir(odd);
  const [harmless] = await judgeMounts([{ source: good, target: "app" }], machine.context);

  await mkdir(Buffer.concat([odd, Buffer.from("/.gnupg")]));
  const [refused] = await judgeMounts([{ source: good, target: "app" }], machine.context);

  expect(harmless).toMatchObject({ verdict: "ro" });
  expect(refused).toMatchObject({ verdict: "denied", reason: expect.stringContaining(".gnupg") });
});

describe("the machine's mount table", () => {
  test.each([
    ["a mount inside the source", "HOME/projects/app/src", {}, /another mount at/],
    ["the source on NFS", "HOME/projects/app", { type: "nfs4", device: "0:50" }, /network file system \(nfs4\)/],
    ["the source on SSHFS", "HOME/projects", { type: "fuse.sshfs", device: "0:50" }, /network file system/],
    [
      "the source on a proc file system",
      "HOME/projects/app",
      { type: "proc", device: "0:9" },
      /of the kernel \(proc\)/,
    ],
    ["the source being a bind of a refused folder", "HOME/projects/app", { root: "/etc/ssl" }, /inside \/etc/],
    ["the source being a bind of the whole disk", "HOME/projects/app", { root: "/" }, /\/ contains/],
  ] as const)("%s refuses it", async (_, target, options, reason) => {
    await using machine = await pretendMachine();
    const mountInfo = line("/") + line(target.replace("HOME", machine.context.homeFolder), options);

    const [verdict] = await judgeMounts([{ source: good, target: "x" }], { ...machine.context, mountInfo });

    expect(verdict).toMatchObject({ verdict: "denied" });
    expect(verdict?.reason).toMatch(reason);
  });

  test("a source that is itself its own disk is granted, blanks in its name included", async () => {
    await using machine = await pretendMachine();
    const home = machine.context.homeFolder;
    const mountInfo = line("/") + line(`${home}/projects/with\\040blank`, { device: "8:17" });

    const [verdict] = await judgeMounts([{ source: "~/projects/with blank", target: "x" }], {
      ...machine.context,
      mountInfo,
    });

    expect(verdict).toMatchObject({ verdict: "ro" });
  });
});

test.runIf(process.getuid?.() === 0)("folders below root's own home are granted when root runs the host", async () => {
  await using machine = await pretendMachine();
  const home = `/root/crabpot-test-${process.pid}`;
  await mkdir(`${home}/projects/app`, { recursive: true });
  await mkdir(`${home}/outside`);
  try {
    const context = { ...machine.context, homeFolder: "/root" };
    await allow(context, { roots: [{ path: "/root", access: "rw" }] });
    const requests = [
      { source: `${home}/projects/app`, target: "app", access: "rw" },
      { source: "/root", target: "root" },
      { source: "/root/.ssh", target: "keys" },
      { source: `${home}/outside`, target: "outside" },
    ];

    const asRoot = await judgeMounts(requests, context);
    const asDeeper = await judgeMounts(requests, { ...context, homeFolder: `${home}/projects` });
    const asOther = await judgeMounts(requests, { ...context, homeFolder: machine.context.homeFolder });

    expect(asRoot.map((verdict) => verdict.verdict)).toEqual(["rw", "denied", "denied", "ro"]);
    expect(asDeeper.map((verdict) => verdict.verdict)).toEqual(["rw", "denied", "denied", "denied"]);
    expect(asOther.map((verdict) => verdict.verdict)).toEqual(["denied", "denied", "denied", "denied"]);
  } finally {
    await rm(home, { recursive: true });
  }
});
