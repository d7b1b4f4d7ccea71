import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import { crabpot, jsonLines } from "../support/crabpot.ts";
import { crashAtVariable } from "../support/crash-points.ts";
import { openErasableHome } from "../support/erasable-home.ts";
import { programPath } from "../support/programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const points = [
  "after:erasure.begin",
  "after:erasure.made#1",
  "after:erasure.made#2",
  "before:events.rewrite",
  "after:events.rewrite",
  "before:erasure.own",
  "after:erasure.own",
  "before:erasure.compact",
  "after:erasure.compact",
  "before:erasure.ended",
];

const program = programPath("erasing-process");

async function eraseUntil(root: string, crashAt: string): Promise<string> {
  const env = { ...process.env, [crashAtVariable]: crashAt };
  const ended = promisify(execFile)(process.execPath, [program, root], { env });
  return ended.then(
    () => "done",
    (error: { readonly signal: string }) => error.signal,
  );
}

async function fill(root: string): Promise<void> {
  await using home = await openErasableHome(root);
  for (const group of ["family", "club"]) {
    const one = await home.hear({ who: "ann", group, text: `secretword-${group} is mine` });
    await home.answer([one], { text: `noted: secretword-${group}`, result: `secretword-${group}` });
    const two = await home.hear({ who: "bob", group, text: `otherword-${group} is mine` });
    await home.answer([two], { text: `and secretword-${group}`, result: "nothing" });
    using memory = MemoryFile.open(join(home.paths.memory, `${group}.sqlite`));
    const kept = { category: "conversation", time: 1, sender: "NameANN", origin: "member", sources: [] } as const;
    memory.put([{ ...kept, id: "said-1", text: `secretword-${group} is mine`, people: ["fake:ann"] }]);
    memory.put([{ ...kept, id: "said-2", text: `elderword-${group}`, people: ["fake:ann"] }]);
    memory.put([{ ...kept, id: "said-3", sender: "crab", text: `so elderword-${group}`, origin: "agent" }]);
  }
  await home.store.events.append(
    { type: "agent.failed", group: "family", actor: "agent", data: { claim: "elderword-family" } },
    1,
  );
}

/** Filled once; each test has a copy. */
const template = await temporaryFolder();
beforeAll(() => fill(join(template.path, "home")));
afterAll(() => template[Symbol.asyncDispose]());

test.concurrent.for(points)(
  "killed at %s, it is known as not done, and done when it is done again",
  async (point, { expect }) => {
    await using folder = await temporaryFolder();
    const root = join(folder.path, "home");
    await cp(join(template.path, "home"), root, { recursive: true });

    expect(await eraseUntil(root, point)).toBe("SIGKILL");
    {
      await using left = await openErasableHome(root);
      expect(await left.store.erasure.open()).toHaveLength(1);
    }
    const doctor = jsonLines((await crabpot({ home: root }, "doctor", "--json")).stdout);
    expect(doctor.find(({ check }) => check === "database")?.["detail"]).toContain("was interrupted");
    {
      await using again = await openErasableHome(root);
      await again.eraser.erase({ channel: "fake", id: "ann" }, "operator");
    }

    await using home = await openErasableHome(root);
    expect(await home.store.erasure.open()).toEqual([]);
    for (const word of ["secretword", "elderword", "NameANN"])
      expect([word, await home.find(word)]).toEqual([word, []]);
    for (const group of ["family", "club"])
      expect(await home.find(`otherword-${group} is mine`)).toEqual([home.paths.database]);
  },
);
