import { expect, test } from "vitest";

import type { ProtectedFile } from "../../../../src/domain/rights/protected-file.ts";
import type { CreateBody } from "../../../../src/sandbox/engine/engine.ts";
import type { MountGrant } from "../../../../src/sandbox/mounts/rules.ts";
import { refuseUnsafeBody, refuseUnsafeImage } from "../../../../src/sandbox/profile/refusals.ts";
import { containerSpec, specHash, type ContainerWish } from "../../../../src/sandbox/launch/spec.ts";

const id = `sha256:${"a".repeat(64)}`;
const app: MountGrant = {
  source: "~/projects/app",
  target: "app",
  verdict: "rw",
  reason: "",
  realPath: "/home/user/projects/app",
  uid: 1000,
  gid: 1000,
  device: "2049",
  inode: "77",
};

const agentsFile: ProtectedFile = {
  name: "AGENTS.md",
  source: "/h/instructions/family/AGENTS.md",
  sha256: "c0ffee",
  mountPoint: "1:2:3",
};

const wish: ContainerWish = {
  image: { id, config: { User: "65534:65534", Env: ["NODE_VERSION=24", "PATH=/image/bin"], Entrypoint: null } },
  user: { uid: 300_001, gid: 300_002 },
  instance: "0123456789abcdef",
  group: "family",
  session: "s1",
  generation: 7,
  sandbox: { runtime: "runc", memoryMb: 1024, cpus: 0.5, pids: 256 },
  folders: { group: "/h/groups/family", global: "/h/global", toAgent: "/h/mail/7/a", toHost: "/h/mail/7/b" },
  protectedFiles: [agentsFile],
  granted: [app, { ...app, target: "docs", verdict: "ro", realPath: "/home/user/docs" }],
};

function hostConfig(body: CreateBody): Record<string, unknown> {
  return body["HostConfig"] as Record<string, unknown>;
}

test("the description of a container is the hardened profile with the mounts, names and labels of its session", () => {
  const { name, body, hash } = containerSpec(wish);

  expect(name).toBe("crabpot-01234567-s1-7");
  expect(body).toMatchObject({
    Image: id,
    User: "300001:300002",
    Hostname: "crabpot",
    NetworkDisabled: true,
    Labels: {
      "crabpot.instance": "0123456789abcdef",
      "crabpot.group": "family",
      "crabpot.session": "s1",
      "crabpot.generation": "7",
      "crabpot.spec": hash,
    },
    HostConfig: {
      CapDrop: ["ALL"],
      NetworkMode: "none",
      ReadonlyRootfs: true,
      Memory: 1024 ** 3,
      MemorySwap: 1024 ** 3,
      NanoCpus: 500_000_000,
      PidsLimit: 256,
      Mounts: [
        { Source: "/h/groups/family", Target: "/workspace/group", ReadOnly: false },
        { Source: "/h/instructions/family/AGENTS.md", Target: "/workspace/group/AGENTS.md", ReadOnly: true },
        { Source: "/h/global", Target: "/workspace/global", ReadOnly: true },
        { Source: "/h/mail/7/a", Target: "/mail/to-agent", ReadOnly: true },
        { Source: "/h/mail/7/b", Target: "/mail/to-host", ReadOnly: false },
        { Source: "/home/user/projects/app", Target: "/workspace/extra/app", ReadOnly: false },
        { Source: "/home/user/docs", Target: "/workspace/extra/docs", ReadOnly: true },
      ],
    },
  });
});

test("the environment is constant, and what the image would add is taken away", () => {
  expect(containerSpec(wish).body["Env"]).toEqual([
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/home/agent",
    "LANG=C.UTF-8",
    "TERM=dumb",
    "GIT_AUTHOR_NAME=crabpot agent",
    "GIT_AUTHOR_EMAIL=agent@crabpot.invalid",
    "GIT_COMMITTER_NAME=crabpot agent",
    "GIT_COMMITTER_EMAIL=agent@crabpot.invalid",
    "CRABPOT_GENERATION=7",
    "NODE_VERSION",
  ]);
});

test("a way out is a read-only folder and the names of a proxy; the container has no more network than without", () => {
  const { body } = containerSpec({ ...wish, egress: { folder: "/h/egress/family", certificates: true } });

  expect(body["NetworkDisabled"]).toBe(true);
  expect(hostConfig(body)["NetworkMode"]).toBe("none");
  expect(hostConfig(body)["Mounts"]).toContainEqual(
    expect.objectContaining({ Source: "/h/egress/family", Target: "/egress", ReadOnly: true }),
  );
  expect(body["Env"]).toEqual(
    expect.arrayContaining([
      "https_proxy=http://127.0.0.1:3128",
      "HTTPS_PROXY=http://127.0.0.1:3128",
      "SSL_CERT_FILE=/egress/certificates.pem",
    ]),
  );
});

test.each([
  ["runc", []],
  ["crun", []],
  ["runsc", ["CRABPOT_RESCAN_MS=200"]],
  ["kata", ["CRABPOT_RESCAN_MS=200"]],
])("with the runtime %s the agent is told: %j", (runtime, expected) => {
  const { body } = containerSpec({ ...wish, sandbox: { ...wish.sandbox, runtime } });

  expect((body["Env"] as string[]).filter((entry) => entry.startsWith("CRABPOT_RESCAN"))).toEqual(expected);
});

test("the next generation of the same session has the same hash", () => {
  const folders = { ...wish.folders, toAgent: "/h/mail/8/a", toHost: "/h/mail/8/b" };

  expect(containerSpec({ ...wish, generation: 8, folders }).hash).toBe(specHash(wish));
});

test.each<[string, Partial<ContainerWish>]>([
  ["image", { image: { ...wish.image, id: `sha256:${"b".repeat(64)}` } }],
  ["user", { user: { uid: 300_002, gid: 300_002 } }],
  ["group", { group: "work" }],
  ["session", { session: "s2" }],
  ["installation", { instance: "fedcba9876543210" }],
  ["memory", { sandbox: { ...wish.sandbox, memoryMb: 512 } }],
  ["runtime", { sandbox: { ...wish.sandbox, runtime: "runsc" } }],
  ["group folder", { folders: { ...wish.folders, group: "/h/groups/other" } }],
  ["text of the instructions", { protectedFiles: [{ ...agentsFile, sha256: "decaf" }] }],
  ["file that the instructions are mounted over", { protectedFiles: [{ ...agentsFile, mountPoint: "1:2:4" }] }],
  ["number of mounts", { granted: [app] }],
  ["way out", { egress: { folder: "/h/egress/family", certificates: false } }],
  ["access of a mount", { granted: wish.granted.map((mount) => ({ ...mount, verdict: "ro" as const })) }],
  ["folder behind a mount", { granted: wish.granted.map((mount) => ({ ...mount, inode: "78" })) }],
])("another %s gives another hash, so that a hot container is not used again", (_, change) => {
  expect(specHash({ ...wish, ...change })).not.toBe(specHash(wish));
});

const unsafe: readonly (readonly [string, Record<string, unknown>])[] = [
  ["Privileged", { Privileged: true }],
  ["PidMode", { PidMode: "host" }],
  ["UTSMode", { UTSMode: "host" }],
  ["UsernsMode", { UsernsMode: "host" }],
  ["Devices", { Devices: [{ PathOnHost: "/dev/sda" }] }],
  ["DeviceRequests", { DeviceRequests: [] }],
  ["CapAdd", { CapAdd: ["SYS_ADMIN"] }],
  ["Binds", { Binds: ["/:/host"] }],
  ["VolumesFrom", { VolumesFrom: ["other"] }],
  ["GroupAdd", { GroupAdd: ["docker"] }],
  ["CgroupParent", { CgroupParent: "/" }],
  ["Sysctls", { Sysctls: {} }],
  ["CapDrop", { CapDrop: ["NET_RAW"] }],
  ["SecurityOpt", { SecurityOpt: [] }],
  ["SecurityOpt", { SecurityOpt: ["no-new-privileges"] }],
  ["SecurityOpt", { SecurityOpt: ["no-new-privileges", "seccomp=unconfined"] }],
  ["NetworkMode", { NetworkMode: "host" }],
  ["NetworkMode", { NetworkMode: "container:x" }],
  ["IpcMode", { IpcMode: "host" }],
  ["CgroupnsMode", { CgroupnsMode: "host" }],
  ["ReadonlyRootfs", { ReadonlyRootfs: false }],
  ["PidsLimit", { PidsLimit: 0 }],
  ["PidsLimit", { PidsLimit: undefined }],
  ["Memory", { Memory: 0 }],
  ["MemorySwap", { MemorySwap: -1 }],
  ["MemorySwap", { MemorySwap: 1 }],
  ["OomScoreAdj", { OomScoreAdj: -900 }],
  ["MaskedPaths", { MaskedPaths: [] }],
  ["RestartPolicy", { RestartPolicy: { Name: "always" } }],
  ["LogConfig", { LogConfig: { Type: "json-file", Config: {} } }],
  ["Tmpfs", { Tmpfs: { "/workspace": "rw" } }],
  ["Tmpfs", { Tmpfs: { "/tmp": "rw,exec" } }],
];

test.each(unsafe)("a description with another %s is never sent", (key, fields) => {
  const { body } = containerSpec(wish);

  expect(() => refuseUnsafeBody({ ...body, HostConfig: { ...hostConfig(body), ...fields } })).toThrow(key);
});

const bind = { Type: "bind", ReadOnly: true, BindOptions: { Propagation: "rprivate", NonRecursive: true } };

test.each([
  [{ ...bind, Source: "/var/run/docker.sock", Target: "/workspace/extra/x" }],
  [{ ...bind, Source: "/run", Target: "/workspace/extra/x" }],
  [{ ...bind, Source: "/", Target: "/workspace/extra/x" }],
  [{ ...bind, Source: "/proc/1/root", Target: "/workspace/extra/x" }],
  [{ ...bind, Source: "relative", Target: "/workspace/extra/x" }],
  [{ ...bind, Source: "/srv", Target: "/etc" }],
  [{ ...bind, Source: "/srv", Target: "/egress", ReadOnly: false }],
  [{ ...bind, Source: "/srv", Target: "/egress/x" }],
  [{ ...bind, Source: "/srv", Target: "/workspace/group/AGENTS.md", ReadOnly: false }],
  [{ ...bind, Source: "/srv", Target: "/workspace/group/other.md" }],
  [{ ...bind, Source: "/srv", Target: "/workspace/extra" }],
  [{ ...bind, Source: "/srv", Target: "/workspace/extra/x", Type: "volume" }],
  [{ ...bind, Source: "/srv", Target: "/workspace/extra/x", ReadOnly: undefined }],
  [{ ...bind, Source: "/srv", Target: "/workspace/extra/x", BindOptions: { Propagation: "rshared" } }],
  [{ ...bind, Source: "/srv", Target: "/workspace/extra/x", VolumeOptions: {} }],
])("a description with the mount %j is never sent", (mount) => {
  const { body } = containerSpec(wish);
  const fields = hostConfig(body);
  const withMount = (entry: unknown) => ({ ...body, HostConfig: { ...fields, Mounts: [entry] } });

  expect(() => refuseUnsafeBody(withMount({ ...bind, Source: "/srv", Target: "/workspace/extra/x" }))).not.toThrow();
  expect(() => refuseUnsafeBody(withMount(mount))).toThrow("HostConfig.Mounts");
});

test.each([
  ["User", { User: "0:0" }],
  ["User", { User: "1000:0" }],
  ["User", { User: "root" }],
  ["User", { User: "" }],
  ["Image", { Image: "crabpot-agent:latest" }],
  ["NetworkDisabled", { NetworkDisabled: false }],
  ["Volumes", { Volumes: { "/data": {} } }],
  ["NetworkingConfig", { NetworkingConfig: {} }],
  ["Entrypoint", { Entrypoint: ["/bin/sh"] }],
  ["Healthcheck", { Healthcheck: undefined }],
])("a description with an unsafe %s is never sent", (key, fields) => {
  expect(() => refuseUnsafeBody({ ...containerSpec(wish).body, ...fields })).toThrow(key);
});

test.each([
  [{ Volumes: { "/data": {} } }, /Volumes/],
  [{ OnBuild: ["RUN x"] }, /OnBuild/],
  [{ Entrypoint: ["/entry"] }, /Entrypoint/],
  [{ Healthcheck: { Test: ["CMD", "x"] } }, /health check/],
  [{ User: "" }, /root/],
  [{ User: "root" }, /root/],
  [{ User: "0:1000" }, /root/],
  [{ User: "root:wheel" }, /root/],
])("an image that declares %j is not used", (config, reason) => {
  const harmless = { User: "rooter", Volumes: null, OnBuild: [], Entrypoint: [], Healthcheck: { Test: ["NONE"] } };

  expect(() => refuseUnsafeImage({ id, config: harmless })).not.toThrow();
  expect(() => refuseUnsafeImage({ id, config: { ...harmless, ...config } })).toThrow(reason);
});
