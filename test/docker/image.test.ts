import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { containerPaths } from "../../src/protocol/paths.ts";
import { engineWithAgentImage, runInImage } from "../support/engine.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";

/** Options like those of sessions' containers: an unknown user, read-only. */
const asAgent = {
  User: "54321:54321",
  HostConfig: { ReadonlyRootfs: true, Tmpfs: { "/tmp": "", "/home/agent": "mode=777" } },
};
const asRoot = { User: "0:0" };

test("no file of the image gives rights to whoever runs it: no setuid, no setgid, no capability", async () => {
  const listRights = `
import os
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/dev")]
    for path in [os.path.join(folder, name) for name in folders + files]:
        if os.path.islink(path): continue
        if os.stat(path).st_mode & 0o6000 or "security.capability" in os.listxattr(path): print(path)
print("looked at", sum(1 for _ in os.scandir("/usr/bin")) > 100)
`;

  expect(await runInImage(["python3", "-c", listRights], asRoot)).toMatchObject({
    code: 0,
    output: "looked at True\n",
  });
});

test("all tools of the agent run for a user without a name on a read-only root", async () => {
  const script = `
    set -eu
    node -e 'if (parseInt(process.versions.node) < 24) throw new Error(process.version)'
    echo '{"a": ["x"]}' | jq -er '.a[0]' >/dev/null
    echo needle >/tmp/hay && rg --quiet needle /tmp && git --version && python3 -c 'import json, ssl, sqlite3'
    curl --version | grep -q https && ps -o pid= >/dev/null && bash -c 'echo $((6 * 7))' && test -s /etc/ssl/certs/ca-certificates.crt
    printf 'ä' | wc -m
  `;

  const { code, output } = await runInImage(["bash", "-c", script], asAgent);

  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^git version .*\n42\n1\n$/) });
});

test("git works in a folder that belongs to somebody else", async () => {
  await using folder = await temporaryFolder(onDisk);
  const repository = join(folder.path, "repository");
  await mkdir(repository);
  const Mounts = [{ Type: "bind", Source: repository, Target: containerPaths.group }];
  const author = "-c user.name=Crab -c user.email=crab@example.org";
  await runInImage(["sh", "-c", `git init --quiet && git ${author} commit --quiet --allow-empty -m first`], {
    ...asRoot,
    HostConfig: { Mounts },
  });

  const log = await runInImage(["git", "log", "--format=%an: %s"], { User: "54321:54321", HostConfig: { Mounts } });
  await runInImage(["sh", "-c", "rm -rf .git"], { ...asRoot, HostConfig: { Mounts } });

  expect(log).toMatchObject({ code: 0, output: "Crab: first\n" });
});

test("the image brings no volume, health check or entry point, and starts the agent as nobody", async () => {
  const { engine, image } = await engineWithAgentImage();

  const { config, labels } = (await engine.image(image)) ?? {};

  expect(config?.["Volumes"] ?? {}).toEqual({});
  expect(config?.["Healthcheck"]).toBeUndefined();
  expect(config?.["Entrypoint"] ?? []).toEqual([]);
  expect(config?.["OnBuild"] ?? []).toEqual([]);
  expect(config).toMatchObject({
    User: "65534:65534",
    Cmd: ["node", containerPaths.agent],
    WorkingDir: containerPaths.group,
  });
  expect(labels?.["crabpot.inputs"]).toMatch(/^[0-9a-f]{64}$/);
});

test("the places for the host's mounts are there, empty, and nobody but root may write to them", async () => {
  const { group, global, extra, toAgent, toHost, home } = containerPaths;
  const places = [group, global, extra, toAgent, toHost, home];

  const { output } = await runInImage([
    "sh",
    "-c",
    `ls -A ${places.join(" ")} && stat -c '%n %U %a' ${places.join(" ")}`,
  ]);

  const headings = places.toSorted().map((place) => `${place}:`);
  expect(
    output
      .trim()
      .split("\n")
      .filter((line) => line !== ""),
  ).toEqual([...headings, ...places.map((place) => `${place} root 755`)]);
});

test("the agent and the probe are in the image, readable for all and writable for none", async () => {
  const paths = [containerPaths.agent, containerPaths.probe];
  const script = `set -e; node --check ${paths[0]}; python3 -m py_compile ${paths[1]}; stat -c '%U %a' ${paths.join(" ")}`;

  const { code, output } = await runInImage(["sh", "-c", script], {
    ...asAgent,
    Env: ["PYTHONPYCACHEPREFIX=/tmp/cache"],
  });

  expect({ code, output }).toEqual({ code: 0, output: "root 644\nroot 644\n" });
});

test("no user of the image has the id of a person on the host", async () => {
  const { output } = await runInImage(["awk", "-F:", "$3 >= 1000 && $3 < 65534", "/etc/passwd"]);

  expect(output).toBe("");
});
