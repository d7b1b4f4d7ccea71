import { randomBytes } from "node:crypto";

import { afterAll, expect, test } from "vitest";

import { type PackageLists, sortPackages } from "../../src/domain/sandbox/packages.ts";
import { memoize } from "../../src/lib/memoize.ts";
import { openImageBuilder } from "../../src/sandbox/engine/catalog.ts";
import type { ImageBuilder } from "../../src/sandbox/engine/image-builder.ts";
import { contentsFault, type ImageContents } from "../../src/sandbox/images/image-contents.ts";
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

async function build(lists: Partial<PackageLists>, variables: Readonly<Record<string, string>>, using = builder) {
  const { engine, image } = await engineWithAgentImage();
  await using owned = engine;
  const name = nameOfPackages(image, sortPackages(lists));
  const mirrors = await findMirrors({ env: variables, homeFolder: "/nonexistent" });
  const signal = new AbortController().signal;
  const baseContents = () => readBase(image);
  const work = { engine: owned, builder: using, mirrors, progress: () => {}, signal, baseContents };
  const made = await buildPackageImage(name, work).catch((error: unknown) => error as Error);
  const names = (await builder.list("crabpot.packages")).flatMap(({ tags }) => tags);
  const flags = [names.includes(name.tag), names.includes(`${name.tag}-unchecked`)];
  return { made, isNamed: flags[0], isLeft: flags[1], base: await baseContents() };
}

/** The same builder; `seen` gets what each image that was looked at holds. */
function watched(seen: ImageContents[]): ImageBuilder {
  const read: ImageBuilder["read"] = async (id, look, signal) => {
    const answer = await builder.read(id, look, signal);
    seen.push(answer as ImageContents);
    return answer;
  };
  return new Proxy(builder, {
    get: (target, name) => {
      if (name === "read") return read;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** The base, of which only this path is what it is in the other. */
function changedAt(path: string, base: ImageContents, made: ImageContents): ImageContents {
  const program = new Map(base.program);
  const now = made.program.get(path);
  if (now === undefined) program.delete(path);
  else program.set(path, now);
  const and = (before: readonly string[], after: readonly string[]) => [
    ...before,
    ...after.filter((one) => one === path),
  ];
  return {
    program,
    privileged: and(base.privileged, made.privileged),
    devices: and(base.devices, made.devices),
  };
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

test("packages may not bring or change what agents are started from, nor bring special rights: each of these is enough", async () => {
  const evil = Object.values(attacks).map(({ script }, index) => [`evil-${run}-${index}`, installing(script)] as const);
  await using mirror = await packageMirror({ npm: Object.fromEntries(evil) });
  const names = evil.map(([name]) => name);
  const seen: ImageContents[] = [];

  const { made, isNamed, isLeft, base } = await build({ npm: names }, mirror.variables, watched(seen));

  expect(mirror.asked).toEqual(expect.arrayContaining(names));
  expect((made as Error).message).toMatch(/The packages are not used: they change \//);
  expect([isNamed, isLeft]).toEqual([false, false]);
  const contents = seen.at(-1) ?? base;
  expect(contentsFault(base, base)).toBeUndefined();
  for (const { why } of Object.values(attacks)) {
    expect(contentsFault(base, changedAt(why.split(" ").at(-1) ?? "", base, contents))).toContain(why);
  }
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

test("a package that is missing fails the build with the line that says so", async () => {
  await using mirror = await packageMirror({});

  const [npm, pip] = await Promise.all([
    build({ npm: [`missing-${run}`] }, mirror.variables),
    build({ pip: [`missing-${run}`] }, mirror.variables),
  ]);

  expect(failingLine(npm.made as Error)).toContain("404");
  expect(failingLine(pip.made as Error)).toContain(`satisfies the requirement missing-${run}`);
});
