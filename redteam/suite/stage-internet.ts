import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createSecureContext, type SecureContext } from "node:tls";

import { openAuthority } from "../../src/sandbox/egress/inspection/authority.ts";
import { NameServer } from "./name-server.ts";
import type { NameAnswer } from "./name-server.ts";
import { servePage } from "./stage-pages.ts";

/**
 * Hosts of the internet as the host under attack knows it: real servers on the loopback, and who says that they are
 * there.
 */
export interface StageInternet extends AsyncDisposable {
  /** The authority that has signed the server's certificates: a file for NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string;
  readonly names: NameServer;
  /** Pages of the browser's attacks that were asked for, each with its name: `shop.localhost/quiet`. */
  readonly asked: readonly string[];
  /** Port of all names. */
  readonly port: number;
}

/** Served names below `.localhost`, each a separate destination. */
export const echoNames = {
  guess: "guess.localhost",
  three: "three.localhost",
  bound: "bound.localhost",
  strict: "strict.localhost",
  mirror: "mirror.localhost",
  /** One for each way to send a secret back. */
  forms: Array.from({ length: 4 }, (_, index) => `form${index}.localhost`),
} as const;

export const slowNames: readonly string[] = Array.from({ length: 40 }, (_, index) => `slow${index}.redteam.test`);
export const quickName = "quick.redteam.test";

/** `folder`: the suite's own. */
export async function openInternet(folder: string): Promise<StageInternet> {
  await using stack = new AsyncDisposableStack();
  const authority = await openAuthority(folder, Date.now());
  const authorityFile = join(folder, "authority.pem");
  await writeFile(authorityFile, authority.certificate);
  const asked: string[] = [];
  const issue = (name: string): { key: string; cert: string } => {
    const { key, certificate } = authority.issue(name, Date.now());
    return { key, cert: certificate };
  };
  const contexts = new Map<string, SecureContext>();
  const contextFor = (name: string): SecureContext => {
    const context = contexts.get(name) ?? createSecureContext(issue(name));
    contexts.set(name, context);
    return context;
  };
  const server = createServer(
    {
      ...issue(quickName),
      SNICallback: (name, done) => done(null, contextFor(name)),
    },
    (request, response) =>
      void (servePage(request, response, asked) || echo(request, response).catch(() => response.destroy())),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.defer(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  const names = stack.use(await NameServer.open(addressOf));
  const owned = stack.move();
  const { port } = server.address() as AddressInfo;
  return { authorityFile, names, port, asked, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function addressOf(name: string): NameAnswer {
  if (slowNames.includes(name)) return "silence";
  if (name === quickName) return ["127.0.0.1"];
  return name === "metadata.google.internal" ? ["169.254.169.254"] : 3;
}

/** Between two parts of a token, so that each is sent alone. */
const pauseMs = 300;

/**
 * A careless host: it says what it was sent. `/say/MS/TEXT`: that text, then a pause so long, then an end.
 * `/known/MS/TEXT`: the same with a length. `/token/FORM`: the token that came with the request, in this form.
 * Everything else: whether there was a token.
 */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, route = "", rest = ""] = /^\/(\w+)\/(.*)$/.exec(request.url ?? "") ?? [];
  const token = request.headers.authorization?.replace("Bearer ", "");
  const form = forms[rest];
  if (route === "token" && form) await form(token ?? "", response);
  else if (route === "say" || route === "known") await sayWithPause(response, rest, route === "known");
  else response.end(token === undefined ? "without" : "with a token");
}

async function sayWithPause(response: ServerResponse, wanted: string, hasLength: boolean): Promise<void> {
  const [pauseOfGuess, text = ""] = wanted.split("/");
  const [front, end] = ["x".repeat(4_000) + decodeURIComponent(text), "the end"];
  if (hasLength) response.setHeader("content-length", front.length + end.length);
  response.write(front);
  await delay(Number(pauseOfGuess));
  response.end(end);
}

const forms: Readonly<Record<string, (token: string, response: ServerResponse) => Promise<void> | void>> = {
  upper: (token, response) => void response.end(token.toUpperCase()),
  dotted: (token, response) => void response.end(Array.from(token).join(".")),
  reversed: (token, response) => void response.end(Array.from(token).toReversed().join("")),
  hex: (token, response) => void response.end(Buffer.from(token).toString("hex").match(/../g)?.join(":")),
  base32: (token, response) => void response.end(inBase32(`user:${token}`)),
  base64: (token, response) => void response.end(Buffer.from(`user:${token}`).toString("base64url")),
  name: (token, response) => void response.setHeader(`X-${token.toUpperCase()}`, "1").end(),
  json: (token, response) => void response.setHeader("x-echo", JSON.stringify({ token })).end(),
  url: (token, response) => void response.setHeader("location", `/?token=%${inHexPairs(token).join("%")}`).end(),
  status: (token, response) => void response.writeHead(200, token).end(),
  pieces: async (token, response) => {
    response.write(token.slice(0, 11));
    await delay(pauseMs);
    response.end(token.slice(11));
  },
};

/** Ways to send a token back. */
export const formNames: readonly string[] = Object.keys(forms);

function inHexPairs(text: string): string[] {
  return Buffer.from(text).toString("hex").match(/../g) ?? [];
}

function inBase32(text: string): string {
  const bits = Array.from(Buffer.from(text), (byte) => byte.toString(2).padStart(8, "0")).join("");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join("");
}

/** Groups that may use the suite's own servers. */
export function echoGroups(
  { injected, neighbour }: { readonly injected: string; readonly neighbour: string },
  port: number,
): object {
  const at = (name: string): string => `${name}:${port}`;
  const { guess, three, bound, strict, mirror, forms: ways } = echoNames;
  const withSecret = [guess, three, bound, strict, ...ways].map(at);
  const value = injected;
  return {
    echo: {
      channel: "http",
      chat: "echo",
      network: {
        allow: [...withSecret, ...slowNames.map(at), { host: at(mirror), reflects: true }],
        allowPrivate: [...withSecret, at(mirror)],
      },
      secrets: {
        GUESS: { value, hosts: [guess, three, strict, ...ways].map(at) },
        BOUND: { value, hosts: [at(bound)], methods: ["GET"], paths: ["/v1/*"] },
      },
    },
    neighbour: {
      channel: "http",
      chat: "neighbour",
      network: { allow: [at(quickName)], allowPrivate: [at(quickName)] },
      secrets: { OWN: { value: neighbour, hosts: [at(quickName)] } },
    },
  };
}
