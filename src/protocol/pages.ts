import * as z from "zod";

import { limits } from "./limits.ts";

/** Name of a file that the host gives to the agent, beside its messages: a counter and a type. */
export const givenFilePattern = /^\d{1,9}\.[a-z0-9]{1,8}$/;

/**
 * A page that the host has fetched and not looked into: the agent has it read, and puts what it says behind the output.
 */
export const givenPage = z.strictObject({
  file: z.string().regex(givenFilePattern),
  /** Type by its bytes. */
  kind: z.enum(["html", "text"]),
  show: z.enum(["markdown", "text", "raw", "results"]),
  /** Charset by the server. */
  charset: z.string().max(64).optional(),
  url: z.string().max(limits.addressChars),
  /** Number of search results in the page. */
  count: z.number().int().min(1).max(limits.searchResults).optional(),
  /** Maximum characters for the model. */
  maxChars: z.number().int().min(1).max(limits.toolOutputChars),
});

export type GivenPage = z.infer<typeof givenPage>;

/** The reader's task. */
export type ReaderTask = Pick<GivenPage, "kind" | "show" | "charset" | "url" | "count"> & { readonly path: string };

/** The reader's output, as JSON. */
export interface ReaderOutput {
  readonly title: string;
  readonly text: string;
  readonly charset: string;
  /** Characters that the page holds and does not show. */
  readonly hidden: number;
  /** Some of it was too much to be read. */
  readonly isCut: boolean;
}
