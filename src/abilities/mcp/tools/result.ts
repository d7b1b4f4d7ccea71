import type { CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult } from "@modelcontextprotocol/client";

import { withoutOwnElements } from "../../../lib/text/own-elements.ts";
import type { Part } from "../../../domain/chats/part.ts";
import { ofHost, sourced } from "../../../domain/rights/sourced.ts";
import { canonicalJson } from "../../../lib/canonical-json.ts";
import { parseJson } from "../../../lib/text/parse-json.ts";
import { toError } from "../../../lib/app-error.ts";
import type { HostToolOutput } from "../../../tools/define-tool.ts";

/** Characters that fit into a message to the agent, which keeps long output in a file. */
const outputChars = 300_000;
const mostBlocks = 256;
const mostImages = 8;

type KeepImage = (content: Uint8Array, name: string) => Promise<Part>;

/** The result of a call as a model reads it: texts in which nothing hides, images behind them, all else in words. */
export async function toOutput(
  { content, structuredContent, isError = false }: CallToolResult,
  keepImage: KeepImage,
): Promise<HostToolOutput> {
  const { texts, parts } = await readBlocks(content, keepImage);
  if (structuredContent !== undefined && !content.some((block) => says(block, structuredContent)))
    texts.push(withoutOwnElements(JSON.stringify(structuredContent)));
  const output = join(texts);
  return { output: output === "" ? ofHost`(no output)` : sourced(output, ["mcp"]), isError, parts };
}

/** Is the text of this block the same data, as servers send it for clients that read texts alone? */
function says(block: ContentBlock, data: unknown): boolean {
  if (block.type !== "text" || !/^\s*[{[]/.test(block.text)) return false;
  return canonicalJson(parseJson(block.text)) === canonicalJson(data);
}

/** Converts a resource. */
export async function toResource({ contents }: ReadResourceResult, keepImage: KeepImage): Promise<HostToolOutput> {
  const blocks = contents.map((resource): ContentBlock => ({ type: "resource", resource }));
  const { texts, parts } = await readBlocks(blocks, keepImage);
  return { output: sourced(join(texts) || "(it is empty)", ["mcp"]), isError: false, parts };
}

/** Converts a prompt, with its speakers. */
export async function toPrompt({ messages }: GetPromptResult, keepImage: KeepImage): Promise<HostToolOutput> {
  const { texts, parts } = await readBlocks(
    messages.map(({ content }) => content),
    keepImage,
  );
  const said = texts.map((text, index) => `${messages[index]?.role ?? "more"}: ${text}`);
  return { output: sourced(join(said) || "(it is empty)", ["mcp"]), isError: false, parts };
}

async function readBlocks(
  blocks: readonly ContentBlock[],
  keepImage: KeepImage,
): Promise<{ texts: string[]; parts: Part[] }> {
  const texts: string[] = [];
  const parts: Part[] = [];
  for (const block of blocks.slice(0, mostBlocks)) {
    const image = imageOf(block);
    if (image === undefined) texts.push(wordsOf(block));
    else if (parts.length >= mostImages) texts.push(`[an image is not shown: at most ${mostImages} are]`);
    else {
      const kept = await keep(image, keepImage);
      if (typeof kept === "string") texts.push(kept);
      else {
        parts.push(kept);
        texts.push(`[image ${parts.length}, shown below]`);
      }
    }
  }
  if (blocks.length > mostBlocks) texts.push(`[${blocks.length - mostBlocks} more pieces]`);
  return { texts, parts };
}

function imageOf(block: ContentBlock): string | undefined {
  if (block.type === "image") return block.data;
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  return block.resource.mimeType?.startsWith("image/") === true ? block.resource.blob : undefined;
}

async function keep(base64: string, keepImage: KeepImage): Promise<Part | string> {
  try {
    return await keepImage(Buffer.from(base64, "base64"), "image");
  } catch (error) {
    return `[${toError(error).message}]`;
  }
}

function wordsOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return withoutOwnElements(block.text);
    case "resource_link":
      return `[resource ${oneLine(block.uri)}: ${oneLine(block.name)}; mcp_read reads it]`;
    case "resource":
      return "text" in block.resource
        ? `[resource ${oneLine(block.resource.uri)}]\n${withoutOwnElements(block.resource.text)}`
        : `[resource ${oneLine(block.resource.uri)}: ${bytesOf(block.resource.blob)} bytes of ${oneLine(block.resource.mimeType ?? "an unknown type")}, which cannot be shown]`;
    case "audio":
      return `[audio of ${bytesOf(block.data)} bytes (${oneLine(block.mimeType)}), which cannot be played here]`;
    case "image":
      break;
  }
  return "[something that cannot be shown]";
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function oneLine(text: string): string {
  return withoutOwnElements(text).replaceAll(/\s+/g, " ").replaceAll(/[[\]]/g, "_").slice(0, 500);
}

function join(texts: readonly string[]): string {
  const text = texts.join("\n");
  if (text.length <= outputChars) return text;
  return `${text.slice(0, outputChars).toWellFormed()}\n[cut here: ${text.length - outputChars} more characters were left out]`;
}
