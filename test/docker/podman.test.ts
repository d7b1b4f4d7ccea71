import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { judgeEngine } from "../../src/sandbox/engine/versions.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { containerEngineContract } from "../contracts/container-engine.ts";
import { newHome, crabpot } from "../support/crabpot.ts";
import { loadAgentImage, startPodman, type Podman } from "../support/podman.ts";
import { Sandbox } from "../support/sandbox.ts";

const open = (url: string): Promise<ContainerEngine> =>
  openEngine({ env: { DOCKER_HOST: url }, homeFolder: "/nowhere" });

/** The mode that the tests may use: an ordinary user only has a rootless Podman. */
const mode = process.getuid?.() === 0 ? "rootful" : "rootless";

describe(`Podman, ${mode}`, () => {
  const stack = new AsyncDisposableStack();
  let podman: Podman;
  let image: string;
  beforeAll(async () => {
    podman = stack.use(await startPodman(mode));
    image = await loadAgentImage(podman);
  });
  afterAll(() => stack.disposeAsync());

  containerEngineContract(async () => ({ engine: await open(podman.url), image }));

  test("it is refused before anything is made, for what it leaves out of the profile", async () => {
    await using engine = await open(podman.url);
    const refusals = judgeEngine(await engine.facts()).filter((finding) => finding.level === "refuse");

    expect(refusals.map((finding) => finding.detail).join("\n")).toContain("masked kernel files");
    await using home = await newHome({
      "config.yaml": "channels: { http: {} }\ngateway: { token: test-token-0123456789 }\n",
    });
    const started = await crabpot({ ...home, variables: { DOCKER_HOST: podman.url } }, "start");

    expect(started.code).toBe(1);
    expect(started.stderr).toContain("does not give what the profile asks for");
    expect(await engine.list({})).toEqual([]);
  });

  test("a container of our description is refused by Podman itself: nothing weaker is made instead", async () => {
    await using engine = await open(podman.url);
    await using docker = await Sandbox.open();

    const made = engine.create("crabpot-test-podman", docker.body(["true"]));

    await expect(made).rejects.toMatchObject({ code: "engine_refused" });
    expect(await engine.inspect("crabpot-test-podman")).toBeUndefined();
  });
});

test("a rootless Podman on cgroup v1 is refused because its limits are not applied", async () => {
  await using podman = await startPodman("rootless");
  await using engine = await open(podman.url);

  const facts = await engine.facts();
  const refused = judgeEngine(facts).filter((finding) => finding.level === "refuse");

  expect(facts).toMatchObject({ kind: "podman", rootless: true });
  const expected = facts.cgroupVersion === "1" ? ["rootless on cgroup v1"] : [];
  for (const words of expected) expect(refused.map((finding) => finding.detail).join("\n")).toContain(words);
  expect(refused.map((finding) => finding.detail).join("\n")).toContain("does not give what the profile asks for");
});
