import { expect, test } from "vitest";

import { McpLines, mcpRig } from "../support/mcp-rig.ts";
import { npmRegistry } from "../support/npm-registry.ts";

const official = (name: string, ...args: string[]): object => ({
  command: "npx",
  args: ["-y", `@modelcontextprotocol/server-${name}`, ...args],
});

interface Inspected {
  readonly Config: { readonly User: string; readonly Labels: Record<string, string>; readonly Env: readonly string[] };
  readonly HostConfig: Record<string, unknown>;
  readonly Mounts: readonly { readonly Destination: string; readonly RW: boolean; readonly Source: string }[];
  readonly NetworkSettings: { readonly Networks: Record<string, unknown> };
}

// Hundreds of packages are unpacked and read.
test(
  "the official servers answer in their own containers, hardened as those of agents",
  { timeout: 540_000 },
  async () => {
    await using registry = await npmRegistry();
    const servers = {
      everything: official("everything", "stdio"),
      files: official("filesystem", "/data"),
      memory: { ...official("memory"), env: { MEMORY_FILE_PATH: "/data/memory.jsonl" } },
    };
    await using rig = await mcpRig({ servers, variables: registry.variables });

    const listed = Object.keys(servers).map(async (name): Promise<[string, string[]]> => {
      const lines = new McpLines(await rig.open(name));
      await lines.initialize();
      const { tools: found } = (await lines.ask("tools/list")) as { tools: { name: string }[] };
      return [name, found.map((tool) => tool.name)];
    });
    const tools = new Map(await Promise.all(listed));

    expect(tools.get("everything")).toContain("echo");
    expect(tools.get("files")).toContain("read_text_file");
    expect(tools.get("memory")).toContain("create_entities");
    const users = new Set<string>();
    for (const { container, server } of rig.servers.list()) {
      const found = (await rig.engine.inspect(container)) as unknown as Inspected;
      expect(found.Config.Labels).toMatchObject({ "crabpot.mcp": server, "crabpot.group": "family" });
      expect(found.HostConfig).toMatchObject({
        CapDrop: ["ALL"],
        NetworkMode: "none",
        ReadonlyRootfs: true,
        LogConfig: { Type: "none" },
        PidsLimit: 256,
      });
      expect(JSON.stringify(found.HostConfig["SecurityOpt"])).toContain("no-new-privileges");
      expect(found.HostConfig["Memory"]).toBeGreaterThan(0);
      expect(found.Mounts.map(({ Destination, RW }) => `${Destination} ${RW ? "rw" : "ro"}`).toSorted()).toEqual([
        "/data rw",
        "/opt/mcp ro",
      ]);
      expect(Object.keys(found.NetworkSettings.Networks).filter((network) => network !== "none")).toEqual([]);
      users.add(found.Config.User);
    }
    expect(users.size).toBe(3);
    expect([...users].every((user) => Number(user.split(":")[0]) >= 300_000)).toBe(true);
    expect(rig.events.filter(({ type }) => type === "container.attested")).toHaveLength(3);
  },
);
