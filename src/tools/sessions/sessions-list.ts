import * as z from "zod";

import { sourced } from "../../domain/rights/sourced.ts";
import { escapeAttribute } from "../../lib/text/markup.ts";
import { defineTool } from "../define-tool.ts";

/** Longest list that the model is shown. */
const shown = 50;

export const sessionsList = defineTool({
  name: "sessions_list",
  description: "List the other conversations of agents that you may see: id, group, agent, kind.",
  input: z.strictObject({}),
  runs: "host",
  risk: "low",
  timeoutSeconds: 10,
  activity: { doing: "looking at other sessions" },
  needs: ["sessions"],
  run: async (_input, { sessions }) => {
    const all = await sessions.list();
    const lines = all.slice(0, shown).map(({ id, group, agent, kind, parent, isOwn }) => {
      const place = `id="${id}" group="${escapeAttribute(group)}" agent="${escapeAttribute(agent)}" kind="${kind}"`;
      return `<session ${place}${parent === undefined ? "" : ` parent="${parent}"`}${isOwn ? ' yours="yes"' : ""}/>`;
    });
    const more = all.length > shown ? [`<omitted count="${all.length - shown}"/>`] : [];
    // Ids and names that the operator or the host gave.
    return sourced([...lines, ...more].join("\n"), []);
  },
});
