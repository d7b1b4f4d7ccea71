import { expect, test } from "vitest";

import type { HostView } from "../../../../src/sandbox/attestation/host.ts";
import { attest, requiredAttempts, type ContainerEvidence } from "../../../../src/sandbox/attestation/attestation.ts";
import { parseMountInfo, type MountPoint } from "../../../../src/lib/files/mount-points.ts";
import { containerSpec } from "../../../../src/sandbox/launch/spec.ts";
import type { ProbeReport } from "../../../../src/protocol/messages.ts";

const { body } = containerSpec({
  image: { id: `sha256:${"a".repeat(64)}`, config: { User: "65534" } },
  user: { uid: 300_001, gid: 300_001 },
  instance: "0123456789abcdef",
  group: "family",
  session: "s1",
  generation: 7,
  sandbox: { runtime: "runc", memoryMb: 1024, cpus: 1, pids: 256 },
  folders: { group: "/h/group", global: "/h/global", toAgent: "/h/a", toHost: "/h/b" },
  protectedFiles: [{ name: "AGENTS.md", source: "/h/instructions/family/AGENTS.md", sha256: "", mountPoint: "" }],
  granted: [],
});
const { HostConfig: hostConfig, Labels: labels, ...config } = body as Record<string, object>;

const tmpfs = "rw,nosuid,nodev,size=262144k,nr_inodes=65536";
const mountInfo = [
  ["/", "ro", "overlay", "rw"],
  ["/proc", "rw,nosuid", "proc", "rw"],
  ["/proc/sys", "ro", "proc", "rw"],
  ["/proc/cmdline", "rw", "tmpfs", "rw"],
  ["/proc/interrupts", "rw", "tmpfs", "rw"],
  ["/dev", "rw,nosuid", "tmpfs", "rw"],
  ["/dev/pts", "rw,nosuid,noexec", "devpts", "rw,mode=620"],
  ["/dev/pts", "ro", "tmpfs", "ro"],
  ["/sys", "ro", "sysfs", "rw"],
  ["/sys/fs/cgroup", "ro", "cgroup2", "rw"],
  ["/sys/fs", "ro", "tmpfs", "ro"],
  ["/sys/kernel", "ro", "tmpfs", "ro"],
  ["/home/agent", "rw,nosuid,nodev", "tmpfs", tmpfs],
  ["/tmp", "rw,nosuid,nodev,noexec", "tmpfs", tmpfs],
  ["/workspace/group", "rw", "ext4", "rw"],
  ["/workspace/group/AGENTS.md", "ro", "ext4", "rw"],
  ["/workspace/global", "ro", "ext4", "rw"],
  ["/mail/to-agent", "ro", "ext4", "rw"],
  ["/mail/to-host", "rw", "ext4", "rw"],
].map(([target, options, type, inner]) => `1 2 0:1 / ${target} ${options} - ${type} none ${inner}`);

const hostView: HostView = {
  status: {
    Uid: "300001\t300001\t300001\t300001",
    Gid: "300001\t300001\t300001\t300001",
    Groups: "300001",
    CapInh: "0000000000000000",
    CapPrm: "0000000000000000",
    CapEff: "0000000000000000",
    CapBnd: "0000000000000000",
    CapAmb: "0000000000000000",
    NoNewPrivs: "1",
    Seccomp: "2",
  },
  sharedNamespaces: [],
  interfaces: ["lo"],
  mounts: parseMountInfo(mountInfo.join("\n")),
  pidsMax: "256",
  memoryMax: String(1024 ** 3),
  identities: { "/workspace/extra/app": "1:2" },
};

const probe: ProbeReport = {
  uid: 300_001,
  gid: 300_001,
  groups: [],
  capabilities: { CapInh: "0", CapPrm: "0", CapEff: "0", CapBnd: "0", CapAmb: "0" },
  noNewPrivs: 1,
  seccomp: 2,
  interfaces: ["lo"],
  rootReadOnly: true,
  mounts: hostView.mounts.map((mount) => ({
    target: mount.target,
    readOnly: mount.options.includes("ro"),
    type: mount.type,
    options: [...mount.options, ...mount.superOptions].join(","),
  })),
  environment: ["HOSTNAME", ...(body["Env"] as string[]).map((entry) => entry.split("=")[0] ?? "")],
  attempts: requiredAttempts.map((name) => ({ name, outcome: "refused", detail: "EPERM" })),
};

const evidence: ContainerEvidence = {
  body,
  probe,
  hostView,
  folders: [{ target: "/workspace/extra/app", device: "1", inode: "2" }],
  inspection: {
    Image: body["Image"],
    Config: { ...config, Image: body["Image"], Labels: { ...labels, "of.the.image": "x" }, Volumes: null },
    HostConfig: { ...hostConfig, Binds: null, Privileged: false, ConsoleSize: [0, 0], Devices: [] },
    Mounts: (hostConfig as { Mounts: { Source: string; Target: string; ReadOnly: boolean }[] }).Mounts.map((mount) => ({
      Type: "bind",
      Source: mount.Source,
      Destination: mount.Target,
      RW: !mount.ReadOnly,
    })),
    NetworkSettings: { Networks: { none: {} }, IPAddress: "" },
    State: { Running: true },
    RestartCount: 0,
    ExecIDs: null,
    AppArmorProfile: "docker-default",
  },
};

test("what was meant is without surprises, with and without a view from outside", () => {
  expect(attest(evidence)).toEqual([]);
  expect(attest({ ...evidence, hostView: undefined })).toEqual([]);
});

test("idle tunnels that the kernel puts into every network namespace are no surprise", () => {
  const interfaces = ["lo", "tunl0", "sit0", "ip6tnl0"];

  expect(attest({ ...evidence, probe: { ...probe, interfaces } })).toEqual([]);
  expect(attest({ ...evidence, probe: { ...probe, interfaces: ["lo", "eth0"] } })).toHaveLength(1);
});

test.each<[string, Partial<ProbeReport>, RegExp]>([
  ["leaves an attempt out", { attempts: probe.attempts.slice(1) }, /did not try add_key/],
  ["tried nothing", { attempts: [] }, /did not try write-uevent-helper/],
  [
    "got something open",
    { attempts: [...probe.attempts, { name: "x", outcome: "open", detail: "worked" }] },
    /x is not refused/,
  ],
  ["knows no capabilities", { capabilities: {} }, /CapBnd unknown/],
  ["lists no mounts", { mounts: [] }, /\/proc\/sys is left as it is/],
  ["lists no environment", { environment: [] }, /lacks PATH/],
  ["is without a filter", { seccomp: 0 }, /no system call filter/],
])("a probe that %s is a surprise", (_, change, expected) => {
  expect(attest({ ...evidence, probe: { ...probe, ...change } }).join("\n")).toMatch(expected);
});

test.each<[string, Partial<HostView>, RegExp]>([
  ["another folder is mounted", { identities: { "/workspace/extra/app": "1:3" } }, /a different folder/],
  ["processes are unlimited", { pidsMax: "max" }, /processes is limited to max/],
  ["memory is unlimited", { memoryMax: "9223372036854771712" }, /memory is limited to 9223372036854771712/],
  ["a saved user differs", { status: { ...hostView.status, Uid: "300001 300001 0 300001" } }, /runs as uid/],
  ["nothing is known", { status: {} }, /uid unknown/],
  [
    "terminals are on top of their mask",
    { mounts: [...hostView.mounts, { ...hostView.mounts[6], target: "/dev/pts", type: "devpts" } as MountPoint] },
    /\/dev\/pts is not masked/,
  ],
  [
    "terminals are without a mask",
    { mounts: hostView.mounts.filter(({ target, type }) => target !== "/dev/pts" || type === "devpts") },
    /\/dev\/pts is not masked/,
  ],
  [
    "the instructions are not covered",
    { mounts: hostView.mounts.filter(({ target }) => target !== "/workspace/group/AGENTS.md") },
    /AGENTS\.md is mounted 0 times/,
  ],
  [
    "the instructions are writable",
    {
      mounts: hostView.mounts.map((mount) =>
        mount.target === "/workspace/group/AGENTS.md" ? { ...mount, options: ["rw"] } : mount,
      ),
    },
    /AGENTS\.md is writable, but was to be read-only/,
  ],
  [
    "they are mounted where a link led",
    {
      mounts: hostView.mounts.map((mount) =>
        mount.target.endsWith(".md") ? { ...mount, target: "/workspace/group/x" } : mount,
      ),
    },
    /a mount at \/workspace\/group\/x, inside/,
  ],
  ["the network is the host's", { sharedNamespaces: ["net"] }, /host's net namespace/],
])("from outside it is a surprise when %s", (_, change, expected) => {
  const surprises = attest({ ...evidence, hostView: { ...hostView, ...change } });

  expect(surprises.join("\n")).toMatch(expected);
  expect(surprises.every((sentence) => sentence.startsWith("Outside: "))).toBe(true);
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ["is of another image", { Image: "sha256:b" }, /image is "sha256:b"/],
  ["was entered with exec", { ExecIDs: ["x"] }, /executed in the container/],
  ["has stopped", { State: { Running: false } }, /not running/],
  ["was restarted", { RestartCount: 1 }, /restarted/],
  ["is without AppArmor where there is one", { AppArmorProfile: "unconfined" }, /AppArmor/],
  [
    "has a host setting unknown to us",
    { HostConfig: { ...hostConfig, BrandNew: "on" } },
    /HostConfig.BrandNew is "on"/,
  ],
  ["has a temporary folder more", { HostConfig: { ...hostConfig, Tmpfs: { "/x": "" } } }, /HostConfig.Tmpfs is/],
  ["publishes a port", { HostConfig: { ...hostConfig, PortBindings: { "80/tcp": [{}] } } }, /HostConfig.PortBindings/],
  ["has volumes of its image", { Config: { ...config, Volumes: { "/data": {} } } }, /volumes are mounted/],
  ["is in a network", { NetworkSettings: { Networks: { bridge: {} } } }, /network bridge/],
  [
    "has nothing to say",
    { Config: undefined, HostConfig: undefined, Mounts: undefined },
    /HostConfig.CapDrop is absent/,
  ],
])("a container that %s is a surprise", (_, change, expected) => {
  expect(attest({ ...evidence, inspection: { ...evidence.inspection, ...change } }).join("\n")).toMatch(expected);
});

test("no value of the environment is ever repeated, because it may be a secret", () => {
  const Config = { ...(evidence.inspection["Config"] as object), Env: ["API_KEY=s3cret"] };

  const surprises = attest({ ...evidence, inspection: { ...evidence.inspection, Config } });

  expect(surprises.join("\n")).toMatch(/API_KEY/);
  expect(surprises.join("\n")).not.toMatch(/s3cret/);
});
