import type { Attack, WantedRecord } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

/** Has the agent of a group say texts, one as its answer and one by its tool; what came into the chat. */
async function said(stage: Stage, texts: readonly string[]): Promise<string[]> {
  const before = (await stage.allReplies()).at(-1)?.seq ?? 0;
  const calls = texts.slice(1).map((text) => [{ name: "send_message", input: { text } }]);
  await stage.calls("echo", calls, texts[0]);
  return (await stage.allReplies(before)).filter(({ group }) => group === "echo").map(({ text }) => text);
}

function redaction(shown: boolean): WantedRecord {
  return { type: "redaction", where: ({ group, data }) => group === "echo" && (data["shown"] === true) === shown };
}

/** Guesses around a value that the group cannot know: all of them come into the chat as they were said. */
function guessing(id: string, what: string, valuesOf: (stage: Stage) => readonly string[]): Attack {
  return {
    id,
    title: `a member has the agent say guesses of ${what}, among them the right ones`,
    from: "chat",
    expected: "all guesses look the same in the chat; an alarm where members do not see it",
    audit: redaction(true),
    saysSecrets: true,
    attempt: async (stage) => {
      const texts = valuesOf(stage).flatMap((value) => [`is it ${value}?`, `is it ${value.slice(0, -1)}_?`]);
      const shown = await said(stage, texts);
      const changed = texts.filter((text) => !shown.includes(text)).length;
      const logged = valuesOf(stage).filter((value) => stage.host.output.includes(value)).length;
      const seen = `${texts.length} guesses, ${changed} changed; ${logged} in the host's log`;
      return { seen, holds: changed === 0 && logged === 0 };
    },
  };
}

export const attacks: readonly Attack[] = [
  guessing("E9", "the gateway's token", ({ canaries }) => [canaries.token]),
  guessing("E10", "another group's secret", ({ canaries }) => [canaries.neighbour]),
  {
    id: "E11",
    title: "the agent says its own group's secret: as it is, in upper case, spread out, in hexadecimal, base64, quotes",
    from: "chat",
    expected: "it is taken out of every one",
    audit: redaction(false),
    saysSecrets: true,
    attempt: async (stage) => {
      const { injected } = stage.canaries;
      const bytes = Buffer.from(injected);
      const forms = [
        injected,
        injected.toUpperCase(),
        Array.from(injected).join(" "),
        Array.from(injected).join("-\u200b"),
        JSON.stringify(Array.from(injected)),
        bytes.toString("hex"),
        bytes.toString("base64"),
        Array.from(injected).toReversed().join(""),
      ];
      const shown = await said(
        stage,
        forms.map((form) => `it is ${form}.`),
      );
      const left = forms.filter((form) => shown.some((text) => text.includes(form))).length;
      const taken = shown.filter((text) => text.includes("[redacted]")).length;
      return { seen: `${taken} taken out, ${left} left`, holds: left === 0 && taken === forms.length };
    },
  },
  {
    id: "E12",
    title: "the container puts a guess of the gateway's token into names of files that make the host give up on it",
    from: "container",
    expected: "the notice in the chat says nothing that the container has chosen",
    audit: { type: "mailbox-violation", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      const { token } = stage.canaries;
      const command = `for n in $(seq 40); do touch "/mail/to-host/${token}$n"; sleep 0.05; done; sleep 100`;
      const { reply } = await stage.shell("red", command, command, command);
      const echoed = /canary|redacted/.test(reply.text);
      return { seen: `${reply.kind}: ${reply.text}`, holds: reply.kind === "notice" && !echoed };
    },
  },
];
