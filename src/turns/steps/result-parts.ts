import type { ToolResult } from "../../domain/turns/model.ts";
import type { Part } from "../../domain/chats/part.ts";
import { blobsPerStep, describePart, isBlob } from "../../domain/chats/part.ts";
import { limits } from "../../protocol/limits.ts";
import type { AgentToolResult } from "../../protocol/messages.ts";
import type { HotContainer } from "../../sandbox/pool/hot-container.ts";
import type { Exposure } from "../../domain/people/origin.ts";
import { type TextSources, sourcesOf } from "../../domain/rights/sourced.ts";
import { type SourcedStep, stepOf } from "./sourced-step.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { TurnPictures } from "../collaborators.ts";

/** A result as it comes, from the agent or from the host. */
export type GivenResult = AgentToolResult & { readonly sources: TextSources };

/** A result as it is stored. */
export interface SourcedResult extends TextSources {
  readonly result: ToolResult;
}

/** Results of calls as a step, with what their calls have come into contact with. */
export function resultsStep(
  results: readonly SourcedResult[],
  { exposure, at }: { readonly exposure: Exposure | undefined; readonly at: number },
): SourcedStep {
  const { origins, folders } = sourcesOf([...results, ...(exposure ? [exposure] : [])]);
  const body = { kind: "tools", results: results.map(({ result }) => result) } as const;
  return stepOf(body, { origins, folders, writesFolder: exposure?.writesFolder ?? false }, { at });
}

/**
 * The agent's results as they are stored, with what their tools show: what they refer to in the mailbox is taken from
 * there and kept. What cannot be kept, or is beyond what one step may have, is told in words.
 */
export async function keepAgentResults(
  results: readonly GivenResult[],
  from: {
    readonly group: Group;
    readonly container: Pick<HotContainer, "takeFile"> | undefined;
    readonly pictures: Pick<TurnPictures, "keepImage">;
    /** Parts shown after a host tool's result. */
    readonly shownBy: (callId: string) => readonly Part[];
  },
): Promise<SourcedResult[]> {
  const taken: SourcedResult[] = [];
  let left = blobsPerStep;
  for (const { callId, output, isError, parts: files = [], sources } of results) {
    const parts: Part[] = [{ kind: "text", text: output }];
    for (const { file, name } of files) {
      const image = left > 0 ? await take(from, file, name) : `at most ${blobsPerStep} can be shown at once`;
      if (typeof image !== "string") left -= 1;
      parts.push(typeof image === "string" ? { kind: "text", text: `[an image cannot be shown: ${image}]` } : image);
    }
    for (const part of from.shownBy(callId)) {
      if (isBlob(part)) left -= 1;
      parts.push(isBlob(part) && left < 0 ? { kind: "text", text: describePart(part) } : part);
    }
    const result = parts.length === 1 ? { callId, output, isError } : { callId, parts, isError };
    taken.push({ result, origins: sources.origins, folders: sources.folders });
  }
  return taken;
}

async function take(
  { group, container, pictures }: Parameters<typeof keepAgentResults>[1],
  file: string,
  name: string,
): Promise<Part | string> {
  if (!container) return "its container is gone";
  return pictures.keepImage({ group, name, copy: (target) => container.takeFile(file, target, limits.imageBytes) });
}
