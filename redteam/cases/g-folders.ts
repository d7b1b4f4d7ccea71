import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { ownLog, OwnHome } from "../suite/own-host.ts";
import type { Stage } from "../suite/stage.ts";

function addGroup(stage: Stage, name: string, chat: string, ...more: readonly string[]) {
  return stage.command("groups", "add", name, "--channel", "http", "--chat", chat, ...more);
}

/** A group of this name with a message and a file that no other chat may have; removed again. */
async function leaveBehind(stage: Stage, name: string, chat: string): Promise<string> {
  const secret = `left-in-${name}`;
  await addGroup(stage, name, chat);
  await stage.say(chat, `the code is ${secret}`);
  await writeFile(join(stage.home, "groups", name, "NOTES.md"), secret);
  await stage.command("groups", "remove", name);
  return secret;
}

const somebody = { id: "mallory", name: "Mallory" };

export const attacks: readonly Attack[] = [
  {
    id: "G10",
    title: "a chat is added under the name of a group that was removed, to get its folder and its messages",
    from: "program",
    expected: "refused, and it is said whose they are",
    audit: {
      type: "control-request",
      where: ({ data }) => data["operation"] === "groups.add" && data["outcome"] === "conflict",
    },
    attempt: async (stage) => {
      await leaveBehind(stage, "heir", "heir-a");
      const { code, output } = await addGroup(stage, "heir", "heir-b");
      const again = await addGroup(stage, "heir", "heir-a");
      await stage.command("groups", "remove", "heir");
      return {
        seen: `exit ${code}: ${output.trim().slice(0, 120)}`,
        holds: code === 1 && output.includes('chat "heir-a"') && output.includes("--adopt") && again.code === 0,
      };
    },
  },
  {
    id: "G11",
    title:
      "the folder is handed over: what was said in the other chat, commands and turns that it left, a retry of one",
    from: "program",
    expected: "the handing over is on record; messages, commands and turns stay the other chat's",
    audit: { type: "folder-adopted", where: ({ group }) => group === "estate" },
    attempt: async (stage) => {
      const secret = await leaveBehind(stage, "estate", "estate-a");
      const { code } = await addGroup(stage, "estate", "estate-b", "--adopt");
      try {
        const script = stage.model.prepare({ rounds: [], say: "seen" });
        await stage.ask("estate-b", `@crab ${script}`);
        const shown = stage.model.shown(script);
        const told = `${shown?.lastUser ?? ""}${shown?.system ?? ""}`.includes(secret);
        return { seen: told ? "the old chat's words are shown" : "only its own words", holds: code === 0 && !told };
      } finally {
        await stage.stopContainers("estate");
        await stage.command("groups", "remove", "estate");
      }
    },
  },
  {
    id: "G12",
    title: "a folder that somebody has copied to where groups are, claimed by a chat that is added",
    from: "program",
    expected: "refused: nobody knows whose it is",
    audit: { type: "control-request", where: ({ data }) => data["outcome"] === "conflict" },
    attempt: async (stage) => {
      await mkdir(join(stage.home, "groups", "planted"));
      const { code, output } = await addGroup(stage, "planted", "planted");
      return { seen: `exit ${code}`, holds: code === 1 && output.includes("not known which chat") };
    },
  },
  {
    id: "G13",
    title: "names of other chats' folders, written to where every name becomes a group automatically",
    from: "chat",
    expected: "409, and nothing of the other chat is told; a fresh name becomes a group",
    audit: ownLog,
    attempt: async (stage) => {
      await using home = await OwnHome.open(stage);
      await mkdir(join(home.path, "groups"), { mode: 0o755 });
      await mkdir(join(home.path, "groups", "planted"));
      const family = { channel: "http", chat: "secret-chat" };
      const auto = { channels: { http: { autoRegister: true } } };
      await home.configure({ ...auto, groups: { family } });
      await home.live();
      await home.configure({ ...auto, groups: { other: { channel: "http", chat: "other" } } });
      const statuses: number[] = [];
      const { output } = await home.live(async (host) => {
        for (const name of ["family", "planted", "fresh"])
          statuses.push(await home.say(host, name, { id: name, sender: somebody }));
      });
      const refused = (await home.records("http-refused")).filter(({ data }) => data["status"] === 409).length;
      return {
        seen: `${statuses.join(" ")}; ${refused} records`,
        holds: statuses.join(" ") === "409 409 202" && refused === 2 && !output.includes("secret-chat"),
      };
    },
  },
  {
    id: "G14",
    title: "a group of config.yaml whose chat is another one than at the last start",
    from: "program",
    expected:
      "it goes on, as that is the operator's word; a warning and the record say from which chat the folder comes",
    audit: ownLog,
    attempt: async (stage) => {
      await using home = await OwnHome.open(stage);
      await home.configure({ groups: { family: { channel: "http", chat: "before" } } });
      await home.live();
      await home.configure({ groups: { family: { channel: "http", chat: "after" } } });
      const { output } = await home.live();
      await home.live();
      const records = await home.records("folder-adopted");
      const from = JSON.stringify(records[0]?.data["from"] ?? "nothing");
      const isWarned = output.includes("to another chat than before");
      return {
        seen: `${records.length} records, from ${from}`,
        holds: records.length === 1 && from.includes("before") && isWarned,
      };
    },
  },
];
