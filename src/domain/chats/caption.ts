import { withoutOwnElements } from "../../lib/text/own-elements.ts";

/** Formats a model's caption for a prompt: in brackets that it cannot close, without our elements. */
export function formatCaption(caption: string): string {
  return `[${withoutOwnElements(caption).replaceAll("[", "(").replaceAll("]", ")")}]`;
}
