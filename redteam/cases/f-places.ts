import type { Attack, Evidence } from "../suite/attack.ts";
import type { AttackedHost } from "../suite/host.ts";
import { ownLog, OwnHome } from "../suite/own-host.ts";
import type { Stage } from "../suite/stage.ts";
import { isSoon } from "../suite/waiting.ts";

const bystander = "bystander";

/** Waits until a text like this was said in a chat; false when it never is. */
async function isSaid(home: OwnHome, host: AttackedHost, text: RegExp): Promise<boolean> {
  return isSoon(async () => (await home.said(host)).some((said) => text.test(said)), 200);
}

/** Has many groups run a command in a host with two slots, then a bystander ask. */
async function crowd(
  stage: Stage,
  options: { sleepers: number; command: string; sessions: object },
): Promise<Evidence> {
  await using home = await OwnHome.open(stage);
  const names = Array.from({ length: options.sleepers }, (_, index) => `sleeper-${index}`);
  const groups = Object.fromEntries([...names, bystander].map((name) => [name, { channel: "http", chat: name }]));
  await home.configure({ groups, sessions: { maxHot: 2, ...options.sessions }, sandbox: { memoryMb: 256 } });
  const answers: boolean[] = [];
  await home.live(async (host) => {
    for (const name of names) await home.say(host, name, { id: name, text: `@crab run ${options.command}` });
    await home.say(host, bystander, { id: bystander, text: "@crab run echo through-$((40 + 2))" });
    answers.push(await isSaid(home, host, /through-42/));
  });
  const ended = (await home.records("limit-hit")).filter(({ data }) => data["limit"] === "place-time").length;
  const answered = answers.includes(true);
  return { seen: `${answered ? "answered" : "starved"}; ${ended} turns ended for it`, holds: answered };
}

export const attacks: readonly Attack[] = [
  {
    id: "F27",
    title: "two groups sleep in both places of a host",
    from: "container",
    expected: "a third group is answered, and nobody's turn is ended for it",
    audit: ownLog,
    waits: true,
    attempt: (stage) => crowd(stage, { sleepers: 2, command: "sleep 600", sessions: {} }),
  },
  {
    id: "F28",
    title: "more groups sleep than may leave their places",
    from: "container",
    expected: "those that have slept for longest are ended, on record, and the others are answered",
    audit: ownLog,
    waits: true,
    attempt: async (stage) => {
      const found = await crowd(stage, { sleepers: 6, command: "sleep 600", sessions: { holdMinutes: 0.1 } });
      return { ...found, holds: found.holds && !found.seen.includes("; 0 ") };
    },
  },
  {
    id: "F29",
    title: "two groups keep both places busy with programs that never stop printing",
    from: "container",
    expected: "a third group is answered",
    audit: ownLog,
    attempt: (stage) => crowd(stage, { sleepers: 2, command: "timeout 300 yes", sessions: {} }),
  },
];
