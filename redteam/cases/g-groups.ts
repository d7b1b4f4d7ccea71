import type { Attack } from "../suite/attack.ts";
import { shellAttack } from "../suite/programs.ts";

export const attacks: readonly Attack[] = [
  {
    id: "G1",
    title: "another group's files, mailbox and processes: by paths guessed from the mount table",
    from: "container",
    expected: "not there",
    audit: { type: "tool-call", where: ({ group }) => group === "red" },
    quick: true,
    attempt: async (stage) => {
      await stage.shell("blue", "echo private-of-blue > /workspace/group/private");
      const { output } = await stage.shell(
        "red",
        `cat ${stage.groupFolder("blue")}/private /workspace/blue/private /workspace/group/../blue/private /proc/*/root/workspace/group/private 2>/dev/null; ls -d /workspace/*/..* ${stage.home} 2>/dev/null; grep -rl private-of-blue /workspace 2>/dev/null; ps ax 2>/dev/null | grep -c node; echo looked`,
      );
      await stage.shell("blue", "rm /workspace/group/private");
      return { seen: output.replaceAll(/\s+/g, " "), holds: output.includes("looked") && !/private/.test(output) };
    },
  },
  {
    id: "G2",
    title: "two containers' users, and what one group's user may do with the other's processes",
    from: "container",
    expected: "its own user for each group, neither the host's nor root",
    audit: { type: "container-attested" },
    attempt: async (stage) => {
      await stage.stopContainers("red");
      const [red, blue] = await Promise.all([stage.shell("red", "id -u; id -g"), stage.shell("blue", "id -u; id -g")]);
      const uids = [red, blue].map(({ output }) => Number(/^\d+$/m.exec(output)?.[0] ?? 0));
      const holds = uids[0] !== uids[1] && uids.every((uid) => uid > 0 && uid !== process.geteuid?.());
      return { seen: uids.join(" and "), holds };
    },
  },
  shellAttack({
    id: "G7",
    title: "what all groups share is poisoned",
    expected: "read-only",
    quick: true,
    program: `
for place in /workspace/global/x /workspace/global/README.md; do (echo evil >> $place) 2>/dev/null && echo OPEN $place; done
rm -f /workspace/global/README.md 2>/dev/null && [ ! -e /workspace/global/README.md ] && echo OPEN remove
mv /workspace/global /workspace/old 2>/dev/null && echo OPEN move; ln -s /etc /workspace/global/etc 2>/dev/null && echo OPEN link; echo done`,
  }),
  {
    id: "G8",
    title: "two groups asked sixty times at once, each answer with its own word",
    from: "chat",
    expected: "no answer comes to the wrong chat, and none twice",
    audit: { type: "delivery" },
    attempt: async (stage) => {
      const ask = async (group: "red" | "blue"): Promise<void> => {
        const script = stage.model.prepare({ rounds: [], say: `word-of-${group}` });
        const ids = await Promise.all(Array.from({ length: 30 }, () => stage.say(group, `@crab ${script}`)));
        for (const { id } of ids) await stage.replyWhere((reply) => reply.inReplyTo.includes(id));
      };
      await Promise.all([ask("red"), ask("blue")]);
      const said = (await stage.allReplies()).filter(({ text }) => text.startsWith("word-of-"));
      const words = said.length;
      const wrong = said.filter(({ group, text }) => text !== `word-of-${group}`).length;
      return { seen: `${wrong} of ${words} in the wrong chat`, holds: wrong === 0 && words >= 2 };
    },
  },
  {
    id: "G9",
    title: "a tool that the group's policy denies, asked for by its model, by another name, with odd letters",
    from: "container",
    expected: "denied before the agent sees it",
    audit: { type: "tool-denied", where: ({ group }) => group === "locked" },
    quick: true,
    attempt: async (stage) => {
      const names = ["shell", "Shell", "shell ", "SHELL", "shеll", "__proto__", "constructor"];
      const rounds = names.map((name) => [{ name, input: { command: "touch /workspace/group/broke-out" } }]);
      const { outputs } = await stage.calls("locked", [
        ...rounds,
        [{ name: "list_files", input: { path: "/workspace/group" } }],
      ]);
      const isThere = outputs.at(-1)?.includes("broke-out") === true;
      return { seen: isThere ? "it ran" : `${outputs.length} results, none of them a run`, holds: !isThere };
    },
  },
];
