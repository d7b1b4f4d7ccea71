import { expect, test } from "vitest";

import { judgeEngine, judgeRuntime } from "../../../../src/sandbox/engine/versions.ts";
import type { EngineFacts } from "../../../../src/sandbox/engine/engine.ts";

const good: EngineFacts = {
  kind: "docker",
  version: "29.5.1",
  apiVersion: "1.54",
  components: { containerd: "2.2.5", runc: "1.4.0" },
  cgroupVersion: "2",
  rootless: false,
  userNamespaces: false,
  seccomp: true,
  runtimes: ["runc"],
  missingLimits: [],
  kernel: "6.18",
  address: "unix:///var/run/docker.sock",
};

const levels = (facts: EngineFacts) => [...new Set(judgeEngine(facts).map((finding) => finding.level))].toSorted();

test("a current engine has nothing against it", () => {
  expect(judgeEngine(good)).toEqual([{ level: "ok", detail: expect.stringContaining("docker 29.5.1"), fix: "" }]);
});

test.each([
  ["1.4.0", []],
  ["1.4.0-rc.3", []],
  ["1.4.0-rc.2", ["CVE-2025-31133"]],
  ["1.5.0-rc.1", []],
  ["2.0.0", []],
  ["1.3.3", []],
  ["1.3.2", ["CVE-2025-31133"]],
  ["1.2.8", []],
  ["1.2.6", ["CVE-2025-31133"]],
  ["1.1.15", ["CVE-2025-31133"]],
  ["1.1.11", ["CVE-2024-21626", "CVE-2025-31133"]],
  ["1.0.0-rc94", ["CVE-2021-30465", "CVE-2024-21626", "CVE-2025-31133"]],
  ["1.0.0-rc6", ["CVE-2019-5736", "CVE-2021-30465", "CVE-2024-21626", "CVE-2025-31133"]],
])("runc %s is refused for %j", (runc, faults) => {
  const findings = judgeEngine({ ...good, components: { runc } }).filter((finding) => finding.level === "refuse");

  expect(findings.map((finding) => /CVE-\d+-\d+/.exec(finding.detail)?.[0])).toEqual(faults);
});

test.each(["1.1.5+ds1", "1.1.5+ds1-1+deb12u1", "1.1.7-0ubuntu1~22.04.1", "1.1.9-1.el9", "1.1.4-r1"])(
  "the distribution's build %s of an old runc is a warning to check advisories, not a refusal",
  (runc) => {
    const facts = { ...good, components: { runc } };

    expect(levels(facts)).toEqual(["warn"]);
    expect(judgeEngine(facts)[0]?.fix).toMatch(/advisories/);
  },
);

test("an old Docker is a warning, because the call that is dangerous in it is never made", () => {
  expect(judgeEngine({ ...good, version: "28.2.2" })).toEqual([
    { level: "warn", detail: expect.stringContaining("docker cp"), fix: "Update docker to 29.5.1 or later." },
  ]);
});

test("a version that cannot be read is a warning", () => {
  expect(levels({ ...good, components: { runc: "unknown" } })).toEqual(["warn"]);
});

test("Docker's numbers are not applied to Podman", () => {
  const findings = judgeEngine({ ...good, kind: "podman", version: "5.2.0", components: { crun: "1.18" } });

  expect(findings.filter((finding) => finding.detail.includes("CVE"))).toEqual([]);
});

test("an engine without a system call filter, or rootless without working limits, is refused", () => {
  expect(levels({ ...good, seccomp: false })).toEqual(["refuse"]);
  expect(levels({ ...good, cgroupVersion: "1", rootless: true })).toEqual(["refuse"]);
  expect(levels({ ...good, cgroupVersion: "1" })).toEqual(["warn"]);
  expect(levels({ ...good, rootless: true })).toEqual(["ok"]);
});

test("Podman is refused, with what it leaves out of the profile and the way out", () => {
  const [finding] = judgeEngine({ ...good, kind: "podman", version: "5.2.0", components: {} });

  expect(finding).toMatchObject({ level: "refuse", detail: expect.stringMatching(/masked.*cgroup.*temporary/) });
  expect(finding?.fix).toContain("DOCKER_HOST");
});

test("an engine that denies a limit is refused, with the limit's name", () => {
  expect(judgeEngine({ ...good, missingLimits: ["swap"] })).toEqual([
    expect.objectContaining({ level: "refuse", detail: expect.stringContaining("swap") }),
  ]);
});

test("a runtime that the engine does not have is refused, one that it has is left to the probe", () => {
  expect(judgeRuntime({ ...good, runtimes: ["runc", "runsc"] }, "runsc")).toEqual([]);
  expect(judgeRuntime(good, "runsc")).toEqual([
    expect.objectContaining({ level: "refuse", detail: expect.stringContaining("it has: runc") }),
  ]);
});
