import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import * as z from "zod";

import { strictVendors } from "./strict/vendors.ts";

const folder = join(import.meta.dirname, "../../fixtures/wire");

const exchange = z.strictObject({
  request: z.record(z.string(), z.unknown()),
  status: z.number().int().default(200),
  headers: z.record(z.string(), z.string()).default({}),
  /** Events of a stream: strings as raw lines, everything else as data. */
  events: z.array(z.union([z.string(), z.looseObject({ type: z.string().optional() })])).optional(),
  /** Body of other responses. */
  body: z.unknown().optional(),
});

const result = z.strictObject({
  output: z.string(),
  isError: z.boolean().default(false),
  image: z.boolean().default(false),
});

const step = z.strictObject({
  /** Messages of people, … */
  user: z.string().optional(),
  /** … with a picture. */
  image: z.boolean().default(false),
  /** Results of the previous answer's calls. */
  results: z.array(result).default([]),
  /** Calls of another model, whose reasoning is its own. */
  others: z.array(z.strictObject({ id: z.string(), command: z.string(), output: z.string() })).default([]),
  exchanges: z.array(exchange),
  answer: z.record(z.string(), z.unknown()).optional(),
  /** Instead of an answer; what was said then is taken back. */
  failure: z.record(z.string(), z.unknown()).optional(),
});

const recording = z.strictObject({
  /** Source of the recording. */
  source: z.string().min(1),
  model: z.string(),
  asks: z
    .strictObject({
      thinking: z.enum(["off", "low", "medium", "high"]).optional(),
      temperature: z.number().optional(),
      maxOutputTokens: z.number().int().default(4_000),
    })
    .prefault({}),
  steps: z.array(step).min(1),
});

export type Recording = z.infer<typeof recording>;
export type Exchange = z.infer<typeof exchange>;

/** All of them, by vendor and name. */
export function readRecordings(): { readonly vendor: string; readonly name: string; readonly recording: Recording }[] {
  return readdirSync(folder).flatMap((vendor) =>
    readdirSync(join(folder, vendor)).map((file) => ({
      vendor,
      name: file.replace(".json", ""),
      recording: recording.parse(JSON.parse(readFileSync(join(folder, vendor, file), "utf8"))),
    })),
  );
}

export interface ReplayServer extends AsyncDisposable {
  readonly url: string;
  /** Received requests, with the verdict of the vendor's strict server. */
  readonly received: readonly { readonly body: unknown; readonly refused: string | undefined }[];
}

/** For what was not recorded. */
const unexpected: Exchange = { request: {}, status: 404, headers: {}, body: { error: { message: "not recorded" } } };

/** Answers as it was recorded, whatever is asked. */
export async function startReplayServer(vendor: string, exchanges: readonly Exchange[]): Promise<ReplayServer> {
  const strict = strictVendors[vendor];
  if (!strict) throw new Error(`There is no strict server of ${vendor}.`);
  const received: { body: unknown; refused: string | undefined }[] = [];
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
    const isPath = incoming.url === strict?.path;
    received.push({ body, refused: isPath ? strict?.refuse(body)?.message : `no such path: ${incoming.url}` });
    const next = exchanges[received.length - 1] ?? unexpected;
    if (next.events) {
      response.writeHead(next.status, { "content-type": "text/event-stream", ...next.headers });
      response.end(next.events.map(toLines).join(""));
      return;
    }
    response.writeHead(next.status, { "content-type": "application/json", ...next.headers });
    response.end(JSON.stringify(next.body));
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${strict.path.startsWith("/v1/messages") ? "" : "/v1"}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function toLines(event: string | { readonly type?: string | undefined }): string {
  if (typeof event === "string") return `${event}\n\n`;
  const name = event.type === undefined ? "" : `event: ${event.type}\n`;
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
