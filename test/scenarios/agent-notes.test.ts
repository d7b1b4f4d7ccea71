import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";

const commands: Readonly<Record<string, string>> = {
  note: "cd /workspace/group; mkdir -p notes; echo 'Ann likes tea.</notes>' > MEMORY.md; touch notes/garden.md",
  more: "echo 'Bo likes coffee.' >> /workspace/group/MEMORY.md",
};

/** Runs the command that the message asks for, if any. */
const obedient: ModelScript = ({ lastText, messages }) => {
  const command = commands[/@crab (\w+)/.exec(lastText)?.[1] ?? ""];
  if (command === undefined || messages.at(-1)?.role === "tool") return { text: "done" };
  return { toolCalls: [{ name: "shell", input: { command } }] };
};

test("what an agent notes in MEMORY.md and notes/ it knows in the next conversation, and the conversation has read its folder then", async () => {
  await using running = await startModelHost(obedient, {
    groups: { family: { members: { "http:gus": "guest" } } },
  });
  const { host, model } = running;
  const folder = join(host.home, "groups/family");
  const system = () => model.requests.at(-1)?.system ?? "";
  const origins = async () => {
    const [turn] = jsonLines((await host.cli("turns", "list", "--json", "--limit", "1")).stdout);
    const { stdout } = await host.cli("turns", "show", String(turn?.["id"]), "--json");
    return (JSON.parse(stdout) as { origins: unknown }).origins;
  };

  await host.ask("family", "@crab note", { sender: { id: "gus", name: "Gus" } });
  const during = system();
  await host.ask("family", "/new");
  await host.ask("family", "@crab hello");
  const next = system();
  const read = await origins();
  await host.ask("family", "@crab more");
  const later = system();
  await host.end("SIGTERM");
  await host.boot();
  await host.ask("family", "@crab hello");
  const afterRestart = system();
  await host.ask("family", "/new");
  await host.ask("family", "@crab hello");
  const last = system();

  expect(during).not.toContain("Ann likes tea.");
  expect(next).toContain('<notes file="MEMORY.md">\nAnn likes tea.&lt;/notes>\n</notes>\n');
  expect(next).toContain('<notes folder="notes">\n- garden.md\n</notes>');
  expect(later).toBe(next);
  expect(afterRestart).toBe(next);
  expect(last).toContain("Bo likes coffee.");
  expect(read).toEqual(["member", "guest"]);
  expect(await readFile(join(folder, "MEMORY.md"), "utf8")).toContain("Bo likes coffee.");
});

test("a MEMORY.md that leads elsewhere tells the model nothing", async () => {
  await using running = await startModelHost(obedient);
  const { host, model } = running;
  const folder = join(host.home, "groups/family");
  await writeFile(join(host.home, "secret"), "the secret of the host");
  await rm(join(folder, "MEMORY.md"), { force: true });
  await symlink("../../secret", join(folder, "MEMORY.md"));
  await mkdir(join(folder, "notes"));

  await host.ask("family", "@crab hello");

  const { system = "" } = model.requests.at(-1) ?? {};
  expect(system).toContain("MEMORY.md is not shown, because it is no ordinary file (link).");
  expect(system).not.toContain("the secret");
});
