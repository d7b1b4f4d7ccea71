import { withoutOwnElements } from "../../lib/text/own-elements.ts";

/**
 * What a model says of a picture, for a prompt: in brackets that the words themselves cannot end, and with no element
 * of ours.
 */
export function formatCaption(caption: string): string {
  return `[${withoutOwnElements(caption).replaceAll("[", "(").replaceAll("]", ")")}]`;
}
