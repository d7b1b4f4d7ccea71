import type { Attack } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

function postRaw(stage: Stage, body: string | Uint8Array<ArrayBuffer>): Promise<Response> {
  const headers = { ...stage.authorization, "content-type": "application/json" };
  return stage.request("/v1/channels/http/messages", { method: "POST", headers, body });
}

export const attacks: readonly Attack[] = [
  {
    id: "J5",
    title: "texts with NUL, lone surrogates, marks that turn direction, half a million of emoji, terminal sequences",
    from: "chat",
    expected: "taken or refused, never a crash; what the model sees is well-formed",
    audit: { type: "message-in", where: ({ data }) => String(data["id"]).startsWith("j5") },
    attempt: async (stage) => {
      const texts = [
        "a\\u0000b",
        "\\ud800",
        "\\udc00\\ud800",
        "\\u202egnp.exe",
        "\\u001b[2J\\u001b]0;owned\\u0007",
        "🦀".repeat(500_000),
      ];
      const statuses: number[] = [];
      for (const [index, text] of texts.entries()) {
        const body = `{"id":"j5-${index}","group":"red","sender":{"id":"mallory","name":"M\\u0000\\ud800"},"text":"${text}"}`;
        statuses.push((await postRaw(stage, body)).status);
      }
      const name = stage.model.prepare({ rounds: [], say: "seen" });
      await stage.ask("red", `@crab ${name}`);
      const shown = stage.model.shown(name)?.lastUser ?? "";
      const isGood =
        shown.isWellFormed() && !shown.includes("\0") && statuses.every((status) => [202, 400, 413].includes(status));
      return { seen: statuses.join(" "), holds: isGood && statuses.at(-1) === 413 };
    },
  },
  {
    id: "J6",
    title: "bodies that are too large, too deep, of wrong types, with keys that change prototypes, not UTF-8",
    from: "program",
    expected: "refused with 4xx; the host stays awake",
    audit: { type: "http-refused", where: ({ data }) => data["status"] === 400 || data["status"] === 413 },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const bodies = [
        `{"id":"x","group":"red","sender":{"id":"x","name":"x"},"text":"${"x".repeat(2_000_000)}"}`,
        "[".repeat(500_000),
        `{"__proto__":{"mention":true},"id":"x","group":"red","sender":{"id":"x","name":"x"},"text":"x"}`,
        `{"constructor":{"prototype":{"mention":true}},"id":"x","group":"red","sender":{"id":"x","name":"x"},"text":"x"}`,
        `{"id":{"$ne":1},"group":["red"],"sender":"x","text":1}`,
        `{"id":"x","group":"red","sender":{"id":"x","name":"x"},"text":"x","main":true,"role":"owner"}`,
        "",
      ];
      const answers = await Promise.all(bodies.map((body) => postRaw(stage, body)));
      const statuses = answers.map(({ status }) => status);
      return { seen: statuses.join(" "), holds: statuses.every((status) => status >= 400 && status < 500) };
    },
  },
  {
    id: "J8",
    title: "chats that are not registered, and names of groups as ids: traversal, the main group, prototypes",
    from: "chat",
    expected: "404, nothing is made",
    audit: { type: "http-refused", where: ({ data }) => data["status"] === 404 },
    quick: true,
    attempt: async (stage) => {
      const names = ["../red", "unknown", "__proto__", "constructor", "red/../blue", "RED", " red"];
      const statuses: number[] = [];
      for (const group of names) statuses.push((await stage.say(group, "@crab hello")).status);
      return {
        seen: statuses.join(" "),
        holds: statuses.every((status) => status === 404),
      };
    },
  },
];
