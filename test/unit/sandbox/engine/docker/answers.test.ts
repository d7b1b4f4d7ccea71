import { expect, test } from "vitest";
import { readFacts, readSummary } from "../../../../../src/sandbox/engine/docker/answers.ts";

test("Podman and the parts it reports are known by their usual names", () => {
  const version = {
    Version: "4.9.3",
    ApiVersion: "1.41",
    Components: [
      { Name: "Podman Engine", Version: "4.9.3" },
      { Name: "Conmon", Version: "conmon version 2.1.10, commit: unknown" },
      { Name: "OCI Runtime (crun)", Version: "crun version 1.14.1\ncommit: de537a7965bfbe9992e2cfae0baeb56a08128171" },
    ],
  };
  const system = { CgroupVersion: "2", SecurityOptions: ["name=seccomp,profile=default", "name=rootless"] };

  const facts = readFacts(version, system, "unix:///run/podman/podman.sock");

  expect(facts).toMatchObject({
    kind: "podman",
    cgroupVersion: "2",
    rootless: true,
    seccomp: true,
    userNamespaces: false,
  });
  expect(facts.components).toMatchObject({ "podman engine": "4.9.3", crun: "1.14.1" });
});

test("rootless Podman is known as such, whichever way its version says it", () => {
  const version = { Version: "4.3.1", ApiVersion: "1.41" };
  const inField = { CgroupVersion: "1", SecurityOptions: ["name=seccomp,profile=default"], Rootless: true };
  const inOptions = { CgroupVersion: "1", SecurityOptions: ["name=rootless"] };

  expect(readFacts(version, inField, "unix:///p").rootless).toBe(true);
  expect(readFacts(version, inOptions, "unix:///p").rootless).toBe(true);
});

test("limits that the engine denies are named, those it does not speak of are not", () => {
  const system = { MemoryLimit: false, SwapLimit: true, PidsLimit: false };

  const facts = readFacts({ Version: "29.5.1", ApiVersion: "1.54" }, system, "unix:///d");

  expect(facts.missingLimits).toEqual(["memory", "processes"]);
});

test("an engine that says little about itself is described without guessing", () => {
  const facts = readFacts(
    { Version: "20.10", ApiVersion: "1.40" },
    { SecurityOptions: null },
    "unix:///var/run/docker.sock",
  );

  expect(facts).toEqual({
    kind: "docker",
    version: "20.10",
    apiVersion: "1.40",
    components: {},
    cgroupVersion: "1",
    rootless: false,
    userNamespaces: false,
    seccomp: false,
    runtimes: [],
    missingLimits: [],
    kernel: "",
    address: "unix:///var/run/docker.sock",
  });
});

test("a paused container counts as running, because it holds its memory", () => {
  const summary = readSummary({ Id: "12ab", Names: ["/crabpot-a"], Labels: null, State: "paused" });

  expect(summary).toEqual({ id: "12ab", name: "crabpot-a", labels: {}, running: true });
});
