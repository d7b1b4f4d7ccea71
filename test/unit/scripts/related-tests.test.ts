import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stop } from "esbuild";
import { expect, test } from "vitest";
import { relatedTests, type Sources } from "../../../scripts/testing/related-tests.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Sample dependencies like the real ones: a command that starts the host, an agent in an image, a separate process. */
const contents = {
  "package.json": JSON.stringify({ exports: { "./plugin": "./src/plugins/plugin.ts" } }),
  "vitest.config.ts": 'import "./test/support/setting.ts";',
  "test/support/setting.ts": "export {};",
  "test/support/build-first.ts": "export {};",
  "test/support/built-module.ts": "export {};",
  "test/support/no-leaks.ts": 'void import("../../src/late.ts");',
  "src/late.ts": "export {};",
  "src/main.ts": 'void import("./command.ts");',
  "src/command.ts": 'import type { Shape } from "./shape.ts"; console.log("see src/pure.ts");',
  "src/shape.ts": "export type Shape = string;",
  "src/pure.ts": "export const pure = 1;",
  "src/launch.ts": 'new Worker(ownModule("beside", import.meta));',
  "src/beside.ts": 'import "./pure.ts";',
  "src/plugins/plugin.ts": "export {};",
  "src/sandbox/images/agent-image.ts": "export {};",
  "container/agent/main.ts": 'import "./tool.ts";',
  "container/agent/tool.ts": "export {};",
  "scripts/crabpot": '. "$checkout/scripts/find-program"',
  "scripts/find-program": 'program="$checkout/src/main.ts"',
  "prompts/hello.md": "Hello",
  "test/support/crabpot.ts": 'resolve(import.meta.dirname, "../../scripts/crabpot");',
  "test/fixtures/started.ts": 'import "crabpot/plugin";',
  "test/fixtures/leaks/timer.ts": "export {};",
  "test/unit/pure.test.ts": 'import "../../src/pure.ts";',
  "test/unit/launch.test.ts": 'import "../../src/launch.ts";',
  "test/unit/fixture.test.ts": 'spawn(join(import.meta.dirname, "..", "fixtures", "started.ts"));',
  "test/unit/leaks.test.ts": 'readdir("test/fixtures/leaks");',
  "test/scenarios/command.test.ts": 'import "../support/crabpot.ts";',
  "test/docker/agent.test.ts": 'import "../../src/sandbox/images/agent-image.ts";',
  "test/architecture.test.ts": 'glob(["src"]);',
};

test.each([
  ["src/pure.ts", ["test/architecture.test.ts", "test/unit/launch.test.ts", "test/unit/pure.test.ts"]],
  ["src/beside.ts", ["test/architecture.test.ts", "test/unit/launch.test.ts"]],
  ["src/command.ts", ["test/architecture.test.ts", "test/scenarios/command.test.ts"]],
  ["src/plugins/plugin.ts", ["test/architecture.test.ts", "test/unit/fixture.test.ts"]],
  ["container/agent/tool.ts", ["test/architecture.test.ts", "test/docker/agent.test.ts"]],
  ["test/fixtures/leaks/timer.ts", ["test/unit/leaks.test.ts"]],
  ["test/unit/pure.test.ts", ["test/unit/pure.test.ts"]],
  // A file of types alone is nothing that a test could load, and what is loaded in the middle of a run concerns some.
  ["src/shape.ts", ["test/architecture.test.ts"]],
  ["src/late.ts", ["test/architecture.test.ts"]],
  ["test/support/setting.ts", undefined],
  ["test/support/no-leaks.ts", undefined],
  ["prompts/hello.md", undefined],
])("a change of %s can break %j", async (changed, tests) => {
  await using checkout = await writtenCheckout();
  expect(await relatedTests(checkout.sources, [changed])).toEqual(tests);
});

async function writtenCheckout(): Promise<{ sources: Sources } & AsyncDisposable> {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), content);
  }
  const sources = { folder: folder.path, files: Object.keys(contents) };
  return {
    sources,
    [Symbol.asyncDispose]: async () => {
      await folder[Symbol.asyncDispose]();
      // Its process serves all of the next ones, too.
      await stop();
    },
  };
}
