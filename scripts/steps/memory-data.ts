import * as z from "zod";
import type { NewMemory } from "../../src/processes/memory-schemas.ts";

/** Memories and questions about them. */
export interface Conversation {
  readonly name: string;
  /** Split; `tuning` may be used to choose settings. Undefined: both. */
  readonly split?: "test" | "tuning" | undefined;
  readonly memories: readonly NewMemory[];
  readonly questions: readonly {
    readonly query: string;
    readonly evidence: readonly string[];
    readonly kind: string;
  }[];
}

const tuning: ReadonlySet<string> = new Set(["conv-26", "conv-30", "conv-41"]);
const monthNames = "January February March April May June July August September October November December".split(" ");

const turn = z.object({
  speaker: z.string(),
  dia_id: z.string(),
  text: z.string(),
  blip_caption: z.string().optional(),
});
const locomo = z.array(
  z.object({
    sample_id: z.string(),
    conversation: z.record(z.string(), z.unknown()),
    qa: z.array(z.object({ question: z.string(), evidence: z.array(z.string()).default([]), category: z.number() })),
  }),
);

/** Questions whose evidence is not in the conversation do not count. */
export function readLocomo(text: string): Conversation[] {
  return locomo.parse(JSON.parse(text)).map(({ sample_id: name, conversation, qa }) => {
    const memories: NewMemory[] = [];
    for (let session = 1; ; session += 1) {
      const turns = conversation[`session_${session}`];
      if (turns === undefined) break;
      const begin = locomoTime(String(conversation[`session_${session}_date_time`]));
      for (const [place, said] of z.array(turn).parse(turns).entries()) {
        const { dia_id: id, speaker: sender, text: words, blip_caption: photo } = said;
        memories.push(asMemory(id, { sender, time: begin + place * 1000, text: words, photo }));
      }
    }
    const known = new Set(memories.map(({ id }) => id));
    const questions = qa.flatMap(({ question, evidence, category }) => {
      const ids = evidence.flatMap((each) => each.match(/D\d+:\d+/g) ?? []).filter((id) => known.has(id));
      return ids.length === 0 ? [] : [{ query: question, evidence: ids, kind: `category ${category}` }];
    });
    return { name, split: tuning.has(name) ? "tuning" : "test", memories, questions };
  });
}

/** `1:56 pm on 8 May, 2023` */
function locomoTime(text: string): number {
  const [, hour = "", minute = "", half, day = "", month = "", year = ""] =
    /(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)/.exec(text) ?? [];
  const hours = (Number(hour) % 12) + (half === "pm" ? 12 : 0);
  return Date.UTC(Number(year), monthNames.indexOf(month), Number(day), hours, Number(minute));
}

const memDaily = z.array(
  z.object({
    tid: z.number(),
    message_list: z.array(z.object({ mid: z.number(), message: z.string(), time: z.string(), place: z.string() })),
    question_list: z.array(
      z.object({ question: z.string(), answer: z.unknown(), target_step_id: z.array(z.number()) }),
    ),
  }),
);

export function readMemDaily(text: string, file: string): Conversation[] {
  return memDaily.parse(JSON.parse(text)).flatMap(({ tid, message_list: messages, question_list: questions }) => {
    const usable = questions.filter(
      ({ question, answer, target_step_id: ids }) => question !== "[ERRORQ]" && answer !== "[ERRORA]" && ids.length > 0,
    );
    if (usable.length === 0) return [];
    return [
      {
        name: `${file} ${tid}`,
        memories: messages.map(({ mid, message, time }) =>
          asMemory(String(mid), { sender: "", time: memDailyTime(time), text: message }),
        ),
        questions: usable.slice(0, 1).map(({ question, target_step_id: ids }) => ({
          query: question,
          evidence: ids.map(String),
          kind: file.replace(/^\d+_(\w+)_.*$/, "$1"),
        })),
      },
    ];
  });
}

/** `2024年04月01日 周一 08:30` */
function memDailyTime(text: string): number {
  const [, year = "", month = "", day = "", hour = "0", minute = "0"] =
    /(\d+)年(\d+)月(\d+)日\D*(\d+):(\d+)/.exec(text) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute));
}

const line = z.object({
  name: z.string(),
  split: z.enum(["test", "tuning"]).optional(),
  memories: z.array(z.object({ id: z.string(), sender: z.string(), time: z.string(), text: z.string() })),
  questions: z.array(z.object({ query: z.string(), evidence: z.array(z.string()).min(1) })),
});

export function readLines(text: string): Conversation[] {
  const lines = text.split("\n").filter((each) => each.trim() !== "");
  return lines.map((each) => {
    const { name, split, memories, questions } = line.parse(JSON.parse(each));
    return {
      name,
      split,
      memories: memories.map(({ id, time, ...rest }) => asMemory(id, { ...rest, time: Date.parse(time) })),
      questions: questions.map((one) => ({ ...one, kind: "questions" })),
    };
  });
}

function asMemory(id: string, rest: Pick<NewMemory, "sender" | "time" | "text" | "photo">): NewMemory {
  return { id, ...rest, category: "conversation", origin: "member", sources: [] };
}
