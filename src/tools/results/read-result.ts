import * as z from "zod";

import { sourced } from "../../domain/rights/sourced.ts";
import { ToolError } from "../../protocol/tools.ts";
import { defineTool } from "../define-tool.ts";

const usualChars = 10_000;
const mostChars = 25_000;

/** Reads results of the same conversation, whose origins the turn already has. */
export const readResult = defineTool({
  name: "read_result",
  description: "Read an older result again that a note says was left out.",
  input: z.strictObject({
    id: z.string().min(1).max(64),
    from: z.number().int().min(0).max(99_999_999).default(0),
    chars: z.number().int().min(1).max(mostChars).default(usualChars),
  }),
  runs: "host",
  risk: "low",
  timeoutSeconds: 30,
  activity: { doing: "reading an earlier result" },
  needs: ["results"],
  run: async ({ id, from, chars }, { results }) => {
    const { text, chars: all } = await results.read(id, from, chars);
    if (from >= all && all > 0) throw new ToolError(`The result ${id} has ${all} characters; begin before its end.`);
    const end = from + text.length;
    const more = end < all ? `; go on with from ${end}` : "";
    return sourced(from === 0 && end === all ? text : `${text}\n[characters ${from} to ${end} of ${all}${more}]`, []);
  },
});
