import { describe, expect, test } from "vitest";
import * as z from "zod";

import { announcedTool, ToolError } from "../../src/protocol/tools.ts";
import { type HostTool, toHostToolOutput } from "../../src/tools/define-tool.ts";

/** A tool that is opened for the contract, and what it is tried with. */
export interface ToolSubject extends Partial<AsyncDisposable> {
  readonly tool: HostTool;
  readonly settings?: unknown;
  /** Input that it can do something with. */
  readonly good: object;
  /** Input that its schema does not allow. */
  readonly bad: object;
}

type Place = Parameters<HostTool["run"]>[1];

async function run({ tool, settings }: ToolSubject, input: unknown, signal = new AbortController().signal) {
  const place = { group: "main", turn: "turn-1", signal, send: sent, settings } as unknown as Place;
  const { output, isError } = toHostToolOutput(await tool.run(input, place));
  return { output: output.text, isError };
}

/** Contract of every host tool. */
export function testTool(name: string, open: () => Promise<ToolSubject>): void {
  const withTool = (use: (subject: ToolSubject) => Promise<void>) => async (): Promise<void> => {
    const subject = await open();
    try {
      await use(subject);
    } finally {
      await subject[Symbol.asyncDispose]?.();
    }
  };

  describe(`${name} as a tool`, () => {
    test(
      "can be announced to an agent and told to a model",
      withTool(async ({ tool }) => {
        const { timeoutSeconds, resolvePaths } = tool;
        const announced = { name: tool.name, runs: "host", timeoutSeconds, resolvePaths: [...resolvePaths] };

        expect(announcedTool.safeParse(announced).error).toBeUndefined();
        expect(tool.description.trim()).not.toBe("");
        const schema = z.toJSONSchema(tool.input, { io: "input" });
        expect(schema).toMatchObject({ type: "object", additionalProperties: false });
      }),
    );

    test(
      "answers good input with text",
      withTool(async (subject) => {
        const { output, isError } = await run(subject, subject.good);

        expect(typeof output).toBe("string");
        expect(isError).toBe(false);
      }),
    );

    test(
      "tells the model what is wrong with bad input",
      withTool(async (subject) => {
        await expect(run(subject, subject.bad)).rejects.toBeInstanceOf(ToolError);
        await expect(run(subject, { ...subject.good, "an unknown key": 1 })).rejects.toBeInstanceOf(ToolError);
      }),
    );

    test(
      "has a risk for input that it understands",
      withTool(async ({ tool, good }) => {
        const risk = typeof tool.risk === "string" ? tool.risk : tool.risk(tool.input.parse(good));

        expect(["low", "medium", "high"]).toContain(risk);
      }),
    );

    test(
      "does not keep anybody waiting when its time is over before it begins",
      withTool(async (subject) => {
        const over = AbortSignal.abort(new Error("the turn has ended"));
        const ended = run(subject, subject.good, over).catch(() => "ended");

        await expect(Promise.race([ended, after(5_000)])).resolves.not.toBe("still at work");
      }),
    );
  });
}

/** Nobody reads what it sends. */
async function sent(): Promise<void> {}

function after(ms: number): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(() => resolve("still at work"), ms).unref();
  });
}
