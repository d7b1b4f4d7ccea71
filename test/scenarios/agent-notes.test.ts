import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { ModelScript } from "../support/model-servers/model-server.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { listTurns, showTurn } from "../../src/operations/turns/operations.ts";

const hosts = shareModelHost({
  process: "shared",
  groups: { noting: { members: { "http:gus": "guest" } }, linked: {} },
  withoutContainers: ["linked"],
});

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
  const group = hosts.group("noting", obedient);
  const { host } = group;
  const system = () => group.requests.at(-1)?.system ?? "";
  const origins = async () => {
    const [turn] = await host.control.call(listTurns, { group: "noting", state: undefined, limit: 1 });
    return (await host.control.call(showTurn, { id: turn?.id ?? "", maxChars: 400 })).origins;
  };

  await group.ask("@crab note", { sender: { id: "gus", name: "Gus" } });
  const during = system();
  await group.ask("/new");
  await group.ask("@crab hello");
  const next = system();
  const read = await origins();
  await group.ask("@crab more");
  const later = system();
  await host.end("SIGTERM");
  await host.boot();
  await group.ask("@crab hello");
  const afterRestart = system();
  await group.ask("/new");
  await group.ask("@crab hello");
  const last = system();

  expect(during).not.toContain("Ann likes tea.");
  expect(next).toContain('<notes file="MEMORY.md">\nAnn likes tea.&lt;/notes>\n</notes>\n');
  expect(next).toContain('<notes folder="notes">\n- garden.md\n</notes>');
  expect(later).toBe(next);
  expect(afterRestart).toBe(next);
  expect(last).toContain("Bo likes coffee.");
  expect(read).toEqual(["member", "guest"]);
  expect(await group.readFile("MEMORY.md")).toContain("Bo likes coffee.");
});

test("a MEMORY.md that leads elsewhere tells the model nothing", async () => {
  const group = hosts.group("linked", obedient);
  const { host } = group;
  const folder = join(host.home, "groups/linked");
  await writeFile(join(host.home, "secret"), "the secret of the host");
  await rm(join(folder, "MEMORY.md"), { force: true });
  await symlink("../../secret", join(folder, "MEMORY.md"));
  await mkdir(join(folder, "notes"));

  await group.ask("@crab hello");

  const { system = "" } = group.requests.at(-1) ?? {};
  expect(system).toContain("MEMORY.md is not shown, because it is no ordinary file (link).");
  expect(system).not.toContain("the secret");
});
