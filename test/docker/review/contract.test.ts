import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { afterAll } from "vitest";

import { shellQuoted } from "../../../src/lib/files/paths.ts";
import { type Files, testReviewLayer } from "../../contracts/review-layer.ts";
import { ReviewRig } from "../../support/mount-review-rig.ts";
import { Sandbox } from "../../support/sandbox.ts";

const sandbox = await Sandbox.open();
afterAll(() => sandbox[Symbol.asyncDispose]());
let rigs = 0;

/** A script that makes files so. */
function scriptFor(files: Files): string {
  return Object.entries(files)
    .map(([path, text]) => {
      const name = shellQuoted(path);
      return text === undefined
        ? `rm ${name}`
        : `mkdir -p $(dirname ${name}); printf %s ${shellQuoted(text)} > ${name}`;
    })
    .join("\n");
}

testReviewLayer(async () => {
  const rig = await ReviewRig.open(sandbox, `contract-${rigs++}`);
  return {
    layer: () => rig.layer(),
    operator: async (files) => {
      const kept = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
      await rig.write(Object.fromEntries(kept));
      for (const [path, text] of Object.entries(files)) if (text === undefined) await rm(join(rig.real, path));
    },
    agent: async (files) => void (await rig.agent(scriptFor(files))),
    real: (path) => readFile(join(rig.real, path), "utf8").catch(() => undefined),
    seen: async (path) => {
      const said = await rig.agent(`if [ -e ${shellQuoted(path)} ]; then echo there; cat ${shellQuoted(path)}; fi`);
      return said.startsWith("there\n") ? said.slice("there\n".length) : undefined;
    },
    work: (isBusy) => (rig.isBusy = isBusy),
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
});
