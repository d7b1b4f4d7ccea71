import { isIP } from "node:net";

import * as z from "zod";

import { parseDestination } from "../domain/sandbox/egress.ts";
import { isCanonicalPath } from "../domain/sandbox/request-path.ts";

const howToWrite =
  "write host:port, such as registry.example:443: a lower-case name (no address, no wildcard) and always the port";

/** `host:port`; see `parseDestination`. */
const destination = z.string().refine((text) => parseDestination(text) !== undefined, howToWrite);

const allowed = z.union(
  [
    destination,
    z.strictObject({
      host: destination,
      reflects: z.boolean().default(false).describe("What is sent there may come back: it never gets a secret."),
    }),
  ],
  { error: 'write "host:port" or { host: "host:port", reflects: true }' },
);

const openNetwork = z
  .strictObject({
    allow: z.array(allowed).max(256),
    allowPrivate: z
      .array(destination)
      .max(256)
      .default([])
      .describe("Those of `allow` that may be on a private network or on this machine."),
  })
  .superRefine(({ allow, allowPrivate }, context) => {
    const hosts = allow.map((entry) => (typeof entry === "string" ? entry : entry.host));
    for (const [index, entry] of allowPrivate.entries()) {
      if (hosts.includes(entry)) continue;
      context.addIssue({ code: "custom", path: ["allowPrivate", index], message: `${entry} is not in allow` });
    }
  });

/** Network of groups' containers. */
export const networkSchema = z.union([z.literal("none"), openNetwork], {
  error: 'must be none or { allow: ["host:port", …] }',
});

/** Name servers for Node: an address, optionally with a port. */
export const nameserverSchema = z.string().refine((text) => {
  const [, address, port = "53"] = /^\[?([^\]]*?)\]?(?::(\d{1,5}))?$/.exec(isIP(text) === 6 ? `[${text}]` : text) ?? [];
  return isIP(address ?? "") !== 0 && Number(port) > 0 && Number(port) <= 65_535;
}, "write an address, such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353");

/** Those that say how a request is framed or where it goes. */
const forbiddenHeaders = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "range",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const method = z
  .string()
  .regex(/^[A-Z][A-Z-]{0,31}$/, "a method in upper case, such as GET")
  .refine((name) => !["CONNECT", "TRACE", "TRACK"].includes(name), "is refused for every host with a secret");

const path = z
  .string()
  .max(1024)
  .refine((pattern) => {
    const fixed = pattern.replace(/\*$/, "");
    return isCanonicalPath(fixed) && !fixed.includes("*");
  }, "write a path such as /v1/items, or /v1/* for all below: no query, no //, no . or .. segment, * only at its end");

/** A token that the host adds to requests for these hosts; the agent can use it and not read it. */
export const secretSchema = z.strictObject({
  value: z.string().min(8).max(4096),
  hosts: z.array(destination).min(1).max(32),
  header: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, "a header's name in lower case")
    .refine((header) => !forbiddenHeaders.has(header), "this header is not one that can carry a secret")
    .default("authorization"),
  format: z
    .string()
    .regex(/^[\x20-\x7e]{2,200}$/, "visible ASCII characters")
    .refine((format) => format.split("{}").length === 2, "must hold {} once, for the secret")
    .default("Bearer {}"),
  methods: z.array(method).min(1).max(32).optional().describe("Requests of other methods go without it."),
  paths: z.array(path).min(1).max(64).optional().describe("Requests for other paths go without it."),
});
