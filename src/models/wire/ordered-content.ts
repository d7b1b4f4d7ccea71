import type { ToolCall } from "../../domain/turns/model.ts";

/** Position in an answer. Vendors want reasoning returned in its place. */
type Place = { readonly chars: number } | "call" | "thought";

interface PutTogether<Item, Block> {
  readonly place: (item: Item) => Place;
  /** None for a text with nothing in it. */
  readonly text: (text: string, item: Item) => readonly Block[];
  readonly call: (call: ToolCall) => Block;
  readonly thought: (item: Item) => Block;
}

/**
 * An answer in the order in which it came, with what was thought; undefined where the items do not fit what was said,
 * because its words were changed since: then what was thought is no longer about it.
 */
export function inOrder<Item, Block>(
  { text = "", toolCalls }: { readonly text: string | undefined; readonly toolCalls: readonly ToolCall[] },
  items: readonly Item[],
  to: PutTogether<Item, Block>,
): Block[] | undefined {
  const blocks: Block[] = [];
  let [chars, calls] = [0, 0];
  for (const item of items) {
    const place = to.place(item);
    if (place === "thought") blocks.push(to.thought(item));
    else if (place === "call") {
      blocks.push(...toolCalls.slice(calls, calls + 1).map(to.call));
      calls += 1;
    } else {
      blocks.push(...to.text(text.slice(chars, chars + place.chars), item));
      chars += place.chars;
    }
  }
  const isWhole = (text === "" || chars === text.length) && calls === toolCalls.length;
  return isWhole ? blocks : undefined;
}
