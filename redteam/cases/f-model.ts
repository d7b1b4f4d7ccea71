import type { Attack, Evidence } from "../suite/attack.ts";
import type { AttackScript } from "../suite/model.ts";
import type { Stage } from "../suite/stage.ts";

/** A piece of a streamed answer, as a server of Chat Completions would send it. */
function piece(delta: object, more: object = {}): string {
  const choice = { index: 0, delta, finish_reason: null, ...more };
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice] })}\n\n`;
}

function call(id: unknown, name: unknown, text: unknown, index: unknown = 0): object {
  return { tool_calls: [{ index, id, type: "function", function: { name, arguments: text } }] };
}

const end = `${piece({}, { finish_reason: "tool_calls" })}data: [DONE]\n\n`;
const failedAnswer: Attack["audit"] = {
  type: "model-response",
  where: ({ group, data }) => group === "red" && data["outcome"] === "unavailable",
};
const mark = JSON.stringify({ command: "echo ran >> /workspace/group/odd-calls" });

/** The model answers oddly; however the turn ends, it must end, and the next one must work. */
async function answerOddly(stage: Stage, script: AttackScript): Promise<Evidence & { readonly text: string }> {
  const name = stage.model.prepare(script);
  const reply = await stage.ask("red", `@crab ${name}`);
  const { output } = await stage.shell("red", "echo alive; cat odd-calls 2>/dev/null; rm -f odd-calls");
  return { text: output, seen: `${reply.kind}: ${reply.text.slice(0, 160)}`, holds: output.includes("alive") };
}

export const attacks: readonly Attack[] = [
  {
    id: "F12",
    title: "ten thousand tool calls in one answer of the model",
    from: "container",
    expected: "none beyond the limit runs; the turn ends; the host stays awake",
    audit: failedAnswer,
    hostStaysAwake: true,
    attempt: async (stage) => {
      const calls = Array.from({ length: 10_000 }, (_, index) => piece(call(`c${index}`, "shell", mark, index)));
      const { text, ...evidence } = await answerOddly(stage, { rounds: [], raw: [calls.join("") + end] });
      const ran = text.match(/^ran$/gm)?.length ?? 0;
      return { seen: `${ran} ran; ${evidence.seen}`, holds: evidence.holds && ran <= 64 };
    },
  },
  {
    id: "F13",
    title: "tool calls with the same id, no id, a giant one, one of another type; the same answer twice",
    from: "container",
    expected: "each call runs at most once; the turn ends",
    audit: { type: "tool-call", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      const ids = ["same", "same", "", "x".repeat(100_000), "../../etc", "__proto__", "\u0000\u001b[2J"];
      const raw = ids.map((id, index) => piece(call(id, "shell", mark, index))).join("") + end;
      const { text, ...evidence } = await answerOddly(stage, { rounds: [], raw: [raw] });
      const ran = text.match(/^ran$/gm)?.length ?? 0;
      return { seen: `${ran} ran; ${evidence.seen}`, holds: evidence.holds && ran <= ids.length };
    },
  },
  {
    id: "F14",
    title: "inputs of calls that are not JSON, deep, with keys that change prototypes, of megabytes, of other types",
    from: "container",
    expected: "refused as errors of the call; the host stays awake",
    audit: failedAnswer,
    hostStaysAwake: true,
    attempt: async (stage) => {
      const inputs = [
        "{",
        "[".repeat(100_000),
        '{"__proto__":{"command":"echo ran >> odd-calls"}}',
        '{"constructor":{"prototype":{"command":"x"}}}',
        `{"command":"${"x".repeat(3_000_000)}"}`,
        '{"command":["echo ran >> odd-calls"]}',
        "null",
        '{"command":"echo ran >> odd-calls","command":"true"}',
      ];
      const raw = inputs.map((input, index) => piece(call(`c${index}`, "shell", input, index))).join("") + end;
      const { text, ...evidence } = await answerOddly(stage, { rounds: [], raw: [raw] });
      return { seen: evidence.seen, holds: evidence.holds && !/^ran$/m.test(text) };
    },
  },
  {
    id: "F15",
    title: "malformed answers: broken events, wrong types, negative and infinite usage, no end, nothing at all",
    from: "container",
    expected: "each is a failure of the model that the chat is told about, or an answer; never a crash",
    audit: { type: "model-response", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      const usage = (value: string): string =>
        `${piece({ role: "assistant", content: "ok" }, { finish_reason: "stop" })}data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":${value},"completion_tokens":${value},"total_tokens":${value}}}\n\ndata: [DONE]\n\n`;
      const bodies = [
        "",
        "data: [DONE]\n\n",
        "data: {\n\n",
        "data: null\n\n",
        'data: {"choices":"none"}\n\ndata: [DONE]\n\n',
        piece({ content: 7 }) + end,
        piece({ tool_calls: "x" }) + end,
        piece(call(7, 7, 7)) + end,
        piece(call("c", "shell", mark, -1)) + end,
        piece(call("c", "shell", mark, 1e9)) + end,
        piece({ content: "half an answer" }),
        usage("-1000000"),
        usage("1e308"),
        usage('"many"'),
      ];
      const seen: string[] = [];
      let holds = true;
      for (const body of bodies) {
        const found = await answerOddly(stage, { rounds: [], raw: [body] });
        seen.push(found.seen.slice(0, 24));
        holds &&= found.holds;
      }
      return { seen: seen.join(" | "), holds };
    },
  },
  {
    id: "F16",
    title: "an answer of thirty megabytes, and one of fifty thousand pieces",
    from: "container",
    expected: "cut off; the host stays awake",
    audit: { type: "model-request", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    longestLagMs: 20,
    attempt: async (stage) => {
      const giant = piece({ role: "assistant", content: "x".repeat(30_000_000) }) + end;
      const crumbs = piece({ content: "y" }).repeat(50_000) + end;
      const first = await answerOddly(stage, { rounds: [], raw: [giant, giant] });
      const second = await answerOddly(stage, { rounds: [], raw: [crumbs, crumbs] });
      await stage.say("red", "/new");
      const most = Math.max(...(await stage.allReplies()).map(({ text }) => text.length));
      return {
        seen: `at most ${most} characters; ${first.seen} | ${second.seen}`,
        holds: first.holds && second.holds && most <= 64_000,
      };
    },
  },
];
