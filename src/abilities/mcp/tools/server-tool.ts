import * as z from "zod";

import type { FilledForm, FormRequest } from "../../../domain/rights/form.ts";
import { sourced } from "../../../domain/rights/sourced.ts";
import { PausableTime } from "../../../lib/time/pausable-time.ts";
import { timedOut, ToolError } from "../../../protocol/tools.ts";
import { defineTool, type HostTool, type HostToolOutput } from "../../../tools/define-tool.ts";
import type { McpConnection } from "../connection/connection.ts";
import type { KeptConnection } from "../connection/kept-connection.ts";
import type { ListedTool } from "./listed-tool.ts";
import { toOutput } from "./result.ts";

/** Maximum seconds of a call, whatever progress the server reports; the clock stops while people are asked. */
export const callSeconds = 300;
/** Maximum seconds of all questions to people in a call. */
const askedSeconds = 3_600;
const timeoutMs = (callSeconds + askedSeconds) * 1_000;

/**
 * Wraps a server's tool: judged, recorded and bounded like any other, with words that are not ours. `isCurrent`: its
 * description is the one that was offered.
 */
export function serverTool(
  tool: ListedTool,
  connection: Pick<KeptConnection, "use" | "server">,
  isCurrent: () => boolean,
): HostTool {
  const { name: server } = connection.server;
  return defineTool({
    name: tool.fullName,
    description: tool.description,
    runs: "host",
    risk: tool.risk,
    timeoutSeconds: callSeconds + askedSeconds,
    input: z.looseObject({}),
    inputSchema: tool.inputSchema,
    origin: "mcp",
    server,
    needs: ["keepImage", "tellProgress", "askForm"],
    run: async (input, { keepImage, tellProgress, askForm, turn, signal: ended }) => {
      using time = new PausableTime(callSeconds * 1_000);
      const signal = AbortSignal.any([ended, time.over]);
      const ask = (form: FormRequest, until: AbortSignal): Promise<FilledForm> =>
        time.pausedWhile(() => askForm(form, AbortSignal.any([ended, until])));
      const work = async (open: McpConnection): Promise<HostToolOutput> => {
        if (!isCurrent()) throw new ToolError(`What ${tool.fullName} says of itself has changed: it was not called.`);
        const onProgress = (text: string): void => tellProgress(`${tool.fullName}: ${text}`);
        const result = await open.callTool(tool.name, input, { signal, timeoutMs, onProgress });
        return toOutput(result, keepImage);
      };
      try {
        return await connection.use(signal, work, { turn, tool: tool.fullName, ask });
      } catch (error) {
        if (!time.over.aborted || ended.aborted) throw error;
        const { output, isError: failed } = timedOut(tool.fullName, callSeconds);
        return { output: sourced(output, []), isError: failed };
      }
    },
  });
}
