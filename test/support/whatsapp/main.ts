import { Console } from "node:console";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { json } from "node:stream/consumers";

import { type Credentials, makeCertificate } from "./certificate.ts";
import { type Operations, operationsOf } from "./operations.ts";
import type { PersonFacts } from "./person.ts";
import { WhatsAppServer } from "./server.ts";

/** The first line on standard output: where a server is asked for, by `open`. */
export interface Welcome {
  readonly control: string;
}

/** One server. */
export interface Manifest {
  /** `waWebSocketUrl` for clients. */
  readonly url: string;
  /** Its operations are below it; `close` ends the server. */
  readonly control: string;
  /** The root of the server's certificates, in hex. */
  readonly root: string;
  /** For NODE_EXTRA_CA_CERTS: files are served over HTTPS. */
  readonly caFile: string;
  readonly bot: PersonFacts;
}

const bot: PersonFacts = { name: "Crab", pn: "15550000001", lid: "90000000000001" };

/** The Signal library prints session records; standard output is for the first line. */
function silenceLibraries(): void {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  globalThis.console = new Console({ stdout: nowhere, stderr: nowhere });
}

function endWhenTold(folder: string): void {
  const end = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true });
    process.exit(0);
  };
  process.on("SIGTERM", () => void end());
  // A server that a test has started does not outlive it.
  if (process.channel) process.once("disconnect", () => void end());
}

interface OpenServer {
  readonly server: WhatsAppServer;
  readonly operations: Operations;
}

/** The servers of this process, each of which knows nothing of the others. */
class Servers {
  readonly #credentials: Credentials;
  readonly #open = new Map<string, OpenServer>();

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  async open(control: string): Promise<Manifest> {
    const server = await WhatsAppServer.start(this.#credentials);
    server.world.addPerson(bot);
    const id = randomUUID();
    this.#open.set(id, { server, operations: operationsOf(server) });
    return {
      url: server.url,
      control: `${control}/${id}`,
      root: server.rootPublicKey.toString("hex"),
      caFile: this.#credentials.certificateFile,
      bot,
    };
  }

  async perform(id: string, name: string, input: unknown): Promise<unknown> {
    const open = this.#open.get(id);
    if (!open) throw new Error(`there is no server ${id}`);
    if (name === "close") {
      this.#open.delete(id);
      await open.server[Symbol.asyncDispose]();
      return {};
    }
    const operation = Object.entries(open.operations).find(([candidate]) => candidate === name)?.[1] as
      | ((input: unknown) => Promise<unknown>)
      | undefined;
    if (!operation) throw new Error(`there is no operation ${name}`);
    return operation(input);
  }
}

async function main(): Promise<void> {
  silenceLibraries();
  const folder = await mkdtemp(join(tmpdir(), "fake-whatsapp-"));
  endWhenTold(folder);
  const servers = new Servers(await makeCertificate(folder));
  const address = (): string => `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
  const control = createServer((request, response) => {
    const [, id = "", name = ""] = request.url?.split("/") ?? [];
    void json(request)
      .then(async (input) => (id === "open" ? servers.open(address()) : servers.perform(id, name, input)))
      .then((output) => response.end(JSON.stringify(output)))
      .catch((error: unknown) => {
        response.writeHead(400).end(error instanceof Error ? error.message : String(error));
      });
  });
  // The client closes connections that it does not use. If both did, a request might meet one that is being closed.
  control.keepAliveTimeout = 0;
  control.listen(0, "127.0.0.1");
  await once(control, "listening");
  process.stdout.write(`${JSON.stringify({ control: address() } satisfies Welcome)}\n`);
}

await main();
