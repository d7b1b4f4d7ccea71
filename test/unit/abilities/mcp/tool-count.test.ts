import { expect, test } from "vitest";

import { crabpot, jsonLines, newHome, withoutEngine } from "../../../support/crabpot.ts";

const said = { sha256: "a".repeat(64), text: "x" };
const pinned = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, said]));

test("doctor tells of groups whose servers have had more tools than a turn may have, and of which servers they are", async () => {
  const groups = { channel: "terminal", mcp: ["files", "wiki", "tea"] };
  await using place = await newHome({
    "config.yaml": JSON.stringify({
      mcp: {
        maxTools: 10,
        servers: {
          files: { url: "https://files.example/mcp" },
          wiki: { url: "https://wiki.example/mcp" },
          tea: { url: "https://tea.example/mcp", tools: ["t1"] },
        },
      },
      groups: {
        family: { ...groups, chat: "family" },
        work: { ...groups, chat: "work" },
        quiet: { channel: "terminal", chat: "quiet", mcp: ["files"] },
      },
    }),
    "mcp.lock": JSON.stringify({
      version: 1,
      servers: { files: { tools: pinned(8) }, wiki: { tools: pinned(5) }, tea: { tools: pinned(9) } },
    }),
  });

  const checks = jsonLines((await crabpot({ ...place, variables: withoutEngine }, "doctor", "--json")).stdout).filter(
    ({ check }) => check === "mcp",
  );

  expect(checks).toMatchObject([
    {
      level: "warning",
      detail:
        "The MCP servers of family, work had 14 tools; a turn has at most 10, so up to 3 of wiki, 1 of tea are left out.",
    },
  ]);
});
