import type { ToolResult } from "../../domain/turns/model.ts";
import type { Part } from "../../domain/chats/part.ts";
import { blobsPerStep, describePart, isBlob } from "../../domain/chats/part.ts";
import { limits } from "../../protocol/limits.ts";
import type { AgentToolResult } from "../../protocol/messages.ts";
import type { HotContainer } from "../../sandbox/pool/hot-container.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { TurnPictures } from "../collaborators.ts";

/**
 * The agent's results as they are stored, with what their tools show: what they refer to in the mailbox is taken from
 * there and kept. What cannot be kept, or is beyond what one step may have, is told in words.
 */
export async function keepAgentResults(
  results: readonly AgentToolResult[],
  from: {
    readonly group: Group;
    readonly container: Pick<HotContainer, "takeFile"> | undefined;
    readonly pictures: Pick<TurnPictures, "keepImage">;
    /** Parts shown after a host tool's result. */
    readonly shownBy: (callId: string) => readonly Part[];
  },
): Promise<ToolResult[]> {
  const taken: ToolResult[] = [];
  let left = blobsPerStep;
  for (const { callId, output, isError, parts: files = [] } of results) {
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
    taken.push(parts.length === 1 ? { callId, output, isError } : { callId, parts, isError });
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
