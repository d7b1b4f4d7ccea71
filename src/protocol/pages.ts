import * as z from "zod";

import { limits } from "./limits.ts";

/** Where the host puts a file for the agent, in a folder beside its messages: a counter, and what it is. */
export const givenFilePattern = /^\d{1,9}\.[a-z0-9]{1,8}$/;

/**
 * A page that the host has fetched and not looked into: the agent has it read, and puts what it says behind the output.
 */
export const givenPage = z.strictObject({
  file: z.string().regex(givenFilePattern),
  /** What it is by its bytes. */
  kind: z.enum(["html", "text"]),
  show: z.enum(["markdown", "text", "raw", "results"]),
  /** As the server says. */
  charset: z.string().max(64).optional(),
  url: z.string().max(limits.addressChars),
  /** Of a page of results: how many of them. */
  count: z.number().int().min(1).max(limits.searchResults).optional(),
  /** Of what it says, for the model. */
  maxChars: z.number().int().min(1).max(limits.toolOutputChars),
});

export type GivenPage = z.infer<typeof givenPage>;

/** What the reader of pages is told. */
export type ReaderTask = Pick<GivenPage, "kind" | "show" | "charset" | "url" | "count"> & { readonly path: string };

/** What it prints, as JSON. */
export interface ReaderOutput {
  readonly title: string;
  readonly text: string;
  readonly charset: string;
  /** Characters that the page holds and does not show. */
  readonly hidden: number;
  /** Some of it was too much to be read. */
  readonly isCut: boolean;
}
