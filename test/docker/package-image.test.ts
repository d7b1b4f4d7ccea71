import { randomBytes } from "node:crypto";

import { afterAll, expect, test } from "vitest";

import { type PackageLists, sortPackages } from "../../src/domain/packages.ts";
import { memoize } from "../../src/lib/memoize.ts";
import { openImageBuilder } from "../../src/sandbox/engine/catalog.ts";
import { findMirrors } from "../../src/sandbox/images/mirrors.ts";
import { buildPackageImage, failingLine, readBaseOnce } from "../../src/sandbox/images/package-image.ts";
import { nameOfPackages } from "../../src/sandbox/images/package-recipe.ts";
import { engineWithAgentImage, runInImage, surroundings } from "../support/engine.ts";
import { type PackageFiles, packageMirror, removeImagesWith } from "../support/package-mirror.ts";

/** In each name, so that no image of an earlier run is taken. */
const run = randomBytes(4).toString("hex");
const builder = await openImageBuilder(surroundings);
const readBase = readBaseOnce(memoize(() => Promise.resolve(builder)));

afterAll(() => removeImagesWith(run));

function installing(script: string): PackageFiles {
  return { "package.json": JSON.stringify({ scripts: { postinstall: "sh ./install.sh" } }), "install.sh": script };
}

async function build(lists: Partial<PackageLists>, variables: Readonly<Record<string, string>>) {
  const { engine, image } = await engineWithAgentImage();
  await using owned = engine;
  const name = nameOfPackages(image, sortPackages(lists));
  const mirrors = await findMirrors({ env: variables, homeFolder: "/nonexistent" });
  const signal = new AbortController().signal;
  const work = { engine: owned, builder, mirrors, progress: () => {}, signal, baseContents: () => readBase(image) };
  const made = await buildPackageImage(name, work).catch((error: unknown) => error as Error);
  const names = (await builder.list("crabpot.packages")).flatMap(({ tags }) => tags);
  return { made, isNamed: names.includes(name.tag), isLeft: names.includes(`${name.tag}-unchecked`) };
}

const attacks: Readonly<Record<string, { readonly script: string; readonly why: string }>> = {
  "the agent's program": { script: "echo evil >> /opt/crabpot/agent.cjs", why: "change /opt/crabpot/agent.cjs" },
  "a file beside the agent's program": { script: "touch /opt/crabpot/more.py", why: "change /opt/crabpot/more.py" },
  "a node that is found first": { script: "cp /bin/true /usr/local/sbin/node", why: "change /usr/local/sbin/node" },
  "what is loaded into every program": { script: "echo /x.so > /etc/ld.so.preload", why: "change /etc/ld.so.preload" },
  "a setuid file made when all have been looked for": {
    // What strips such files runs this instead.
    script: "cp /bin/sh /root-sh; chmod 4755 /root-sh; cp /bin/true /usr/bin/find",
    why: "bring a file with special rights: /root-sh",
  },
  "a device": { script: "mknod /tty-of-the-machine c 4 0", why: "bring a device: /tty-of-the-machine" },
};

test.for(Object.entries(attacks))("a package may not bring or change %s", async ([, { script, why }]) => {
  const evil = `evil-${run}-${Buffer.from(why).toString("hex").slice(-12)}`;
  await using mirror = await packageMirror({ npm: { [evil]: installing(script) } });

  const { made, isNamed, isLeft } = await build({ npm: [evil] }, mirror.variables);

  expect(mirror.asked).toContain(evil);
  expect(made).toBeInstanceOf(Error);
  expect((made as Error).message).toContain(why);
  expect([isNamed, isLeft]).toEqual([false, false]);
});

test("a package of pip may not be run as node in the agent's place", async () => {
  const evil = `evil-${run}-node`;
  const scripts = `evil_${run}_node-1.0.0.data/scripts/node`;
  await using mirror = await packageMirror({ pip: { [evil]: { [scripts]: "#!/bin/sh\necho evil\n" } } });

  const { made, isNamed } = await build({ pip: [evil] }, mirror.variables);

  expect((made as Error).message).toContain("change /usr/local/bin/node");
  expect(isNamed).toBe(false);
});

test("what packages bring is there, setuid is not, and no mirror or certificate stays in the image", async () => {
  const npm = `greets-${run}`;
  const pip = `hails-${run}`;
  const files = installing("cp /bin/sh /usr/bin/rooted && chmod 6755 /usr/bin/rooted; env > /env-of-build");
  await using mirror = await packageMirror({
    npm: { [npm]: { ...files, "index.js": "module.exports = 'greetings';" } },
    pip: { [pip]: { [`hails_${run}.py`]: "WORDS = 'hail'\n" } },
  });

  const variables = { ...mirror.variables, ANTHROPIC_API_KEY: "canary-of-a-key" };
  const { made, isNamed } = await build({ npm: [`${npm}@1.0.0`], pip: [`${pip}==1.0.0`] }, variables);
  if (made instanceof Error) throw made;
  const show = [
    `node -p "require('${npm}')"; python3 -c "import hails_${run} as hails; print(hails.WORDS)"`,
    "stat -c %a /usr/bin/rooted; id -u; ls -a /tmp; env | grep -c -e PIP_ -e npm_; grep -c canary /env-of-build",
  ];
  const { output } = await runInImage(["sh", "-c", show.join("; ")], { Image: made.id });

  expect(isNamed).toBe(true);
  expect(output).toBe("greetings\nhail\n755\n65534\n.\n..\n0\n0\n");
});

test("a package that is not there fails the build with the line that says so", async () => {
  await using mirror = await packageMirror({});

  const npm = await build({ npm: [`missing-${run}`] }, mirror.variables);
  const pip = await build({ pip: [`missing-${run}`] }, mirror.variables);

  expect(failingLine(npm.made as Error)).toContain("404");
  expect(failingLine(pip.made as Error)).toContain(`satisfies the requirement missing-${run}`);
});
