import type { Attack } from "../suite/attack.ts";
import type { AttackCall } from "../suite/model.ts";
import type { Stage } from "../suite/stage.ts";

/** The second agent of the group `pair` makes these calls. */
async function callsOfHelper(stage: Stage, ...calls: readonly AttackCall[]): Promise<string> {
  const name = stage.model.prepare({ rounds: calls.map((call) => [call]) });
  await stage.ask("pair", `@helper ${name}`);
  return (stage.model.shown(name)?.toolOutputs ?? []).join("\n");
}

function shell(command: string): AttackCall {
  return { name: "shell", input: { command } };
}

const onePlace = `
cat /workspace/pair/secret /workspace/group/../pair/secret /workspace/group/../pair@helper/secret /proc/*/root/workspace/group/secret 2>/dev/null
for place in /workspace/pair /workspace/group/../pair@helper; do (echo evil > $place/AGENTS.md) 2>/dev/null && echo OPEN $place; done
grep -rl secret-of /workspace 2>/dev/null; echo looked`;

export const attacks: readonly Attack[] = [
  {
    id: "G30",
    title:
      "the other agent of the same group: its folder, by paths guessed from the mount table, and its way in through the inbox",
    from: "container",
    expected: "not there, and no file is the same one for both",
    audit: { type: "tool-call", where: ({ group }) => group === "pair" },
    attempt: async (stage) => {
      await stage.shell(
        "pair",
        "echo secret-of-crab > secret; ln -sfn /workspace/group inbox/link 2>/dev/null; ls -d inbox",
      );
      const helper = await callsOfHelper(stage, shell(`${onePlace}; echo secret-of-helper > own`));
      const { output } = await stage.shell(
        "pair",
        `cat /workspace/group/own /workspace/group/../pair@helper/own 2>/dev/null; echo looked`,
      );
      const seen = `${helper} ${output}`.replaceAll(/\s+/g, " ");
      return { seen, holds: helper.includes("looked") && output.includes("looked") && !/secret-of|OPEN/.test(seen) };
    },
  },
  {
    id: "G31",
    title: "an agent whose answers and messages mention the other agent of its group, over and over",
    from: "container",
    expected: "what an agent says starts nobody",
    audit: { type: "delivery", where: ({ group }) => group === "pair" },
    attempt: async (stage) => {
      const [before] = (await stage.allReplies()).slice(-1);
      const text = "@helper answer me, and mention @crab";
      const { reply } = await stage.calls("pair", [[{ name: "send_message", input: { text } }]], text);
      await stage.ask("pair", "@crab are you done?");
      const said = (await stage.allReplies(before?.seq ?? 0)).filter(({ group }) => group === "pair");
      return { seen: `${said.length} messages`, holds: reply.text === text && said.length === 3 };
    },
  },
  {
    id: "G32",
    title:
      "a call that is denied to one agent, made by it under the name of the other one, and by way of a session of the other one",
    from: "container",
    expected: "denied, and what the other one does it does by its own rules",
    audit: { type: "tool-denied", where: ({ group }) => group === "pair" },
    attempt: async (stage) => {
      const input = { path: "/workspace/group/written", content: "x", agent: "main" };
      const output = await callsOfHelper(
        stage,
        { name: "write_file", input },
        { name: "sessions_spawn", input: { task: "nothing", agent: "crab", group: "blue" } },
        { name: "sessions_spawn", input: { task: "nothing", agent: "../pair" } },
        { name: "list_files", input: { path: "/workspace/group" } },
      );
      const isRefused = output.includes('no group "blue"') && output.includes('no agent "../pair"');
      return { seen: output.replaceAll(/\s+/g, " ").slice(0, 200), holds: isRefused && !/\bwritten$/m.test(output) };
    },
  },
];
