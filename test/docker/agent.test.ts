import { afterAll, expect, test } from "vitest";

import { AgentInContainer } from "../support/agent-in-container.ts";
import { Sandbox } from "../support/sandbox.ts";

/** One for all tests that leave it as it was. */
const agent = await AgentInContainer.start();
afterAll(() => agent[Symbol.asyncDispose]());

test("the agent works in its hardened container", async () => {
  const { output } = await agent.shell("pwd; echo $HOME; touch file && ls; cat /proc/self/oom_score_adj");

  expect(output).toMatch(/^\/workspace\/group\n\/home\/agent\nfile\n1000\n\[exit code 0, /);
});

test("the image holds the agent's code as its Node compiles it, so that it need not be compiled at each start", async () => {
  await using sandbox = await Sandbox.open();
  const look = `
    const { readFileSync } = require("node:fs");
    const cachedData = readFileSync("/opt/crabpot/agent.cache");
    const code = require("node:module").wrap(readFileSync("/opt/crabpot/agent.cjs", "utf8"));
    const script = new (require("node:vm").Script)(code, { filename: "/opt/crabpot/agent.cjs", cachedData });
    console.log(script.cachedDataRejected, script.createCachedData().length > 200_000)`;

  expect((await sandbox.run(["node", "-e", look])).output).toBe("false true\n");
});

test("contents are searched with ripgrep, and what is wrong with a search is said", async () => {
  await agent.shell(
    "mkdir b .git; echo needle > b/two.txt; echo 'a needle here' > one.md; echo needle > .git/x; echo needle > .hidden",
  );

  const results = await agent.useTools(
    { name: "search_files", input: { pattern: "need.e" } },
    { name: "search_files", input: { pattern: "needle", glob: "*.md" } },
    { name: "search_files", input: { pattern: "needle", path: "b" } },
    { name: "search_files", input: { pattern: "nothing like it" } },
    { name: "search_files", input: { pattern: "(" } },
    { name: "search_files", input: { pattern: "x", path: "absent" } },
    { name: "search_files", input: { pattern: "--files" } },
  );

  const at = "/workspace/group";
  expect(results.map(({ output }) => output)).toEqual([
    `${at}/.hidden:1:needle\n${at}/b/two.txt:1:needle\n${at}/one.md:1:a needle here`,
    `${at}/one.md:1:a needle here`,
    `${at}/b/two.txt:1:needle`,
    "[no matches]",
    expect.stringContaining("unclosed group"),
    expect.stringContaining("ENOENT"),
    "[no matches]",
  ]);
});

test("a search with too many matches is cut and says so", async () => {
  await agent.shell("seq 1 200000 > numbers");

  const { output, isError } = await agent.useTool("search_files", { pattern: "1" });

  expect(isError).toBe(false);
  expect(output.length).toBeLessThanOrEqual(30_000);
  expect(output).toMatch(/:\d+:\d+\n\[more matches were cut; narrow the search\]$/);
});

const bombs = {
  "of the shell": "bomb() { bomb | bomb & }; bomb",
  "in its own sessions and without our mark": `env -i setsid python3 -c '
import os
while True:
  try:
    if os.fork() == 0: os.setsid()
  except OSError: pass
' &`,
};

test.for(Object.keys(bombs))("after a fork bomb %s the next command runs", async (kind) => {
  await using bombed = await AgentInContainer.start();
  await bombed.shell("cd /tmp; export COLOR=red");

  await bombed.shell(bombs[kind as keyof typeof bombs], 5);
  await bombed.shell("sleep 1; ls", 30);
  const { output } = await bombed.shell("ls -d /tmp; echo $COLOR; ps ax | wc -l", 30);

  expect(output).toMatch(/^\/tmp\nred\n\d\n\[exit code 0/);
});

test("a command that takes all memory dies, and the agent does not", async () => {
  await using starved = await AgentInContainer.start();

  const hungry = await starved.shell("python3 -c 'x = bytearray(10 ** 9)'", 60);
  const next = await starved.shell("echo alive");

  expect(hungry.output).toMatch(/\[(exit code 137|the shell ended with SIGKILL)/);
  expect(next.output).toMatch(/^alive\n/);
});
