import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { Sandbox, withHostConfig, type Change } from "../support/sandbox.ts";

const sandbox = await Sandbox.open();
afterAll(() => sandbox[Symbol.asyncDispose]());

test("a container made from our own description is without surprises", async () => {
  expect(await sandbox.surprises((body) => body)).toEqual([]);
});

const hostConfig = () => sandbox.body([])["HostConfig"] as { SecurityOpt: string[]; Mounts: object[]; Tmpfs: object };
const bind = (Source: string, Target: string, ReadOnly = true) => ({ Type: "bind", Source, Target, ReadOnly });

const weakened: readonly (readonly [string, () => Change, RegExp])[] = [
  [
    "seccomp is unconfined",
    () => withHostConfig({ SecurityOpt: ["no-new-privileges", "seccomp=unconfined"] }),
    /Inside: socket-vsock is not refused/,
  ],
  [
    "the engine's own seccomp profile is used",
    () => withHostConfig({ SecurityOpt: ["no-new-privileges"] }),
    /Inside: io_uring_setup is not refused/,
  ],
  [
    "new privileges are possible",
    () => withHostConfig({ SecurityOpt: hostConfig().SecurityOpt.slice(1) }),
    /Inside: programs can gain privileges/,
  ],
  ["a capability is added", () => withHostConfig({ CapAdd: ["NET_RAW"] }), /Inside: it has capabilities \(CapBnd/],
  ["capabilities are not dropped", () => withHostConfig({ CapDrop: [] }), /Outside: it has capabilities \(CapBnd/],
  ["the root is writable", () => withHostConfig({ ReadonlyRootfs: false }), /Inside: the root is writable/],
  ["it runs as another user", () => (body) => ({ ...body, User: "1000:345678" }), /Inside: it runs as uid 1000/],
  ["it runs as another group", () => (body) => ({ ...body, User: "345678:0" }), /Inside: it runs as gid 0/],
  ["it runs as root", () => (body) => ({ ...body, User: "0:0" }), /Outside: it runs as uid 0/],
  ["it is in another group as well", () => withHostConfig({ GroupAdd: ["4"] }), /Inside: it is in the groups/],
  [
    "it has a mount more",
    () => withHostConfig({ Mounts: [...hostConfig().Mounts, bind(sandbox.folder, "/workspace/extra/all")] }),
    /Inside: There is a mount at \/workspace\/extra\/all/,
  ],
  [
    "a folder hides in another mount",
    () => withHostConfig({ Mounts: [...hostConfig().Mounts, bind(sandbox.folder, "/workspace/group/x")] }),
    /Inside: There is a mount at \/workspace\/group\/x, inside/,
  ],
  [
    "a mount is missing",
    () => withHostConfig({ Mounts: hostConfig().Mounts.slice(1) }),
    /Inside: \/workspace\/group is mounted 0 times/,
  ],
  [
    "a read-only mount is writable",
    () => withHostConfig({ Mounts: hostConfig().Mounts.map((mount) => ({ ...mount, ReadOnly: false })) }),
    /Inside: \/workspace\/global is writable/,
  ],
  [
    "the Docker socket is mounted",
    () => withHostConfig({ Mounts: [...hostConfig().Mounts, bind("/var/run/docker.sock", "/var/run/docker.sock")] }),
    /Inside: There is a mount at \/(var\/)?run\/docker\.sock/,
  ],
  [
    "there is no limit of processes",
    () => withHostConfig({ PidsLimit: 0 }),
    /Outside: the number of processes is limited to max/,
  ],
  [
    "there is more memory",
    () => withHostConfig({ Memory: 1 << 29, MemorySwap: 1 << 29 }),
    /Outside: the memory is limited to 536870912/,
  ],
  ["there is swap", () => withHostConfig({ MemorySwap: -1 }), /Engine: HostConfig.MemorySwap/],
  [
    "nothing is masked",
    () => withHostConfig({ MaskedPaths: [], ReadonlyPaths: [] }),
    /Inside: \/proc\/cmdline is left as it is/,
  ],
  [
    "the home folder is unbounded",
    () => withHostConfig({ Tmpfs: { ...hostConfig().Tmpfs, "/home/agent": "exec,mode=777" } }),
    /Inside: \/home\/agent is mounted without size/,
  ],
  [
    "it sees the processes of the host",
    () => withHostConfig({ PidMode: "host" }),
    /Outside: it shares the host's pid namespace/,
  ],
  [
    "it shares the host's IPC",
    () => withHostConfig({ IpcMode: "host" }),
    /Outside: it shares the host's ipc namespace/,
  ],
  [
    "it keeps a log on disk",
    () => withHostConfig({ LogConfig: { Type: "json-file", Config: {} } }),
    /Engine: HostConfig.LogConfig/,
  ],
  [
    "it is restarted by the engine",
    () => withHostConfig({ RestartPolicy: { Name: "always" } }),
    /Engine: HostConfig.RestartPolicy/,
  ],
  [
    "it gets a variable more",
    () => (body) => ({ ...body, Env: [...(body["Env"] as string[]), "ANTHROPIC_API_KEY=x"] }),
    /Inside: the environment has ANTHROPIC_API_KEY/,
  ],
  ["it lacks a label", () => (body) => ({ ...body, Labels: {} }), /Engine: label crabpot\.instance/],
  ["it has a volume", () => (body) => ({ ...body, Volumes: { "/data": {} } }), /Inside: There is a mount at \/data/],
  ["it runs without an init", () => withHostConfig({ Init: false }), /Engine: HostConfig.Init/],
];

test.each(weakened)("attestation names it when %s", async (_, change, expected) => {
  const surprises = await sandbox.surprises(change());

  expect(surprises.join("\n")).toMatch(expected);
});

test("attestation names the network when the container is connected to one", async () => {
  const surprises = await sandbox.surprises((body) => {
    const connected = withHostConfig({ NetworkMode: "bridge" })(body);
    return { ...connected, NetworkDisabled: false };
  });

  expect(surprises).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^Engine: HostConfig.NetworkMode is "bridge"/),
      expect.stringMatching(/^Engine: It is connected to the network bridge/),
      expect.stringMatching(/^Inside: it has the network interface eth0/),
      expect.stringMatching(/^Outside: it has the network interface eth0/),
    ]),
  );
});

test("a folder that was exchanged between the judgement and the start is noticed from outside", async () => {
  const realPath = join(sandbox.folder, "project");
  await mkdir(realPath);
  const grant = { source: realPath, target: "project", verdict: "ro", reason: "", realPath, uid: 0, gid: 0 } as const;

  const surprises = await sandbox.surprises((body) => body, [{ ...grant, device: "1", inode: "1" }]);

  expect(surprises).toEqual([
    expect.stringMatching(/^Outside: a different folder from the one that was checked is mounted at .*project/),
  ]);
});
