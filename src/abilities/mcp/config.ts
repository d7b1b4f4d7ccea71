import * as z from "zod";

import { networkSchema, secretSchema } from "../network.ts";

/** Stands before two underscores in the names of its tools, which have 64 characters at most. */
const serverName = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]|_(?!_)){0,30}[a-z0-9]$|^[a-z0-9]$/,
    "lower case letters, digits, - and single _, at most 32, beginning and ending with a letter or digit",
  );

const risk = z.enum(["low", "medium", "high"]);

const shared = {
  forms: z
    .enum(["choices", "text"])
    .default("choices")
    .describe("What it may ask people for: choices, dates and small numbers, or also texts. Never passwords or codes."),
  tools: z.array(z.string().min(1).max(128)).max(512).optional().describe("The only tools of it that may be used."),
  risk: z
    .union([risk, z.record(z.string().min(1).max(128), risk)])
    .optional()
    .describe(
      "Of all its tools, or by their names. Left out: medium, or high where the server says that a tool destroys.",
    ),
};

const stdio = z
  .strictObject({
    command: z.string().min(1).max(256).optional().describe("npx, uvx, node, python3, or a program of the image."),
    args: z.array(z.string().max(4096)).max(128).default([]),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string().max(8192)).default({}),
    image: z.string().min(1).max(256).optional().describe("An image that the engine has, instead of the agent's."),
    network: networkSchema.default("none"),
    secrets: z
      .record(z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, "upper case, digits and _"), secretSchema)
      .default({})
      .describe("Added by the host to requests for the hosts that they name; the server never sees them."),
    scope: z.enum(["group", "shared"]).default("group").describe("A container for each group, or one for all."),
    sampling: z
      .boolean()
      .default(true)
      .describe("It may have models of its group answer, within the group's budget; not where groups share it."),
    folder: z.enum(["none", "ro", "rw"]).default("none").describe("How it sees the group's folder."),
    ...shared,
  })
  .refine(({ command, image }) => command !== undefined || image !== undefined, "needs a command or an image")
  .refine(({ scope, folder }) => scope === "group" || folder === "none", {
    path: ["folder"],
    error: "a server that groups share sees no group's folder",
  });

const http = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2048),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/), z.string().max(8192))
    .default({})
    .describe("Sent with each request."),
  allowPrivate: z
    .array(z.string().max(260))
    .max(16)
    .default([])
    .describe("host:port that may be on a private network or on this machine."),
  ...shared,
});

/**
 * One that has an address is judged by what such a server may have, any other one by what a program may: so a wrong key
 * is named.
 */
const server = z.union([stdio, http]);

const mcp = z
  .strictObject({
    servers: z
      .record(serverName, server)
      .refine((all) => Object.keys(all).length <= 64, "at most 64 servers")
      .default({}),
    idleMinutes: z
      .number()
      .min(0.1)
      .max(24 * 60)
      .default(30)
      .describe("After so long without use a server is ended, until it is needed again."),
    maxTools: z.number().int().min(0).max(512).default(128).describe("Tools of servers in one turn, at most."),
  })
  .prefault({})
  .describe("Servers of the Model Context Protocol; see docs/mcp.md.");

const groupMcp = z.array(serverName).max(64).default([]).describe("Servers whose tools this group has.");

export type McpSettings = z.output<typeof mcp>;

/** The key `mcp`: servers of the Model Context Protocol, and which of them groups have. */
export const mcpConfig = { top: { mcp }, ofGroup: { mcp: groupMcp }, effects: { mcp: "now" } } as const;
