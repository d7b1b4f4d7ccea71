import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build, stop } from "esbuild";
import { expect, test } from "vitest";

import { AgentProcess } from "../../fixtures/agent/agent-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("the agent is one file that works in a folder with nothing else", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  stack.defer(() => stop());
  const entry = fileURLToPath(new URL("../../../container/agent/main.ts", import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    write: false,
  });
  const program = join(folder.path, "agent.cjs");
  await writeFile(program, outputFiles[0]?.contents ?? "");
  const agent = stack.use(await AgentProcess.start({ program }));

  const { output } = await agent.shell("echo works");

  expect(output).toMatch(/^works\n/);
  expect(await readdir(folder.path)).toEqual(["agent.cjs"]);
  expect(outputFiles[0]?.contents.length).toBeLessThan(600_000);
});
