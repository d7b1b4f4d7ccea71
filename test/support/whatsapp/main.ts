import { Console } from "node:console";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { json } from "node:stream/consumers";

import { makeCertificate } from "./certificate.ts";
import { operationsOf } from "./operations.ts";
import type { PersonFacts } from "./person.ts";
import { WhatsAppServer } from "./server.ts";

/** The first line on standard output. */
export interface Manifest {
  /** `waWebSocketUrl` for clients. */
  readonly url: string;
  readonly control: string;
  /** The root of the server's certificates, in hex. */
  readonly root: string;
  /** For NODE_EXTRA_CA_CERTS: files are served over HTTPS. */
  readonly caFile: string;
  readonly bot: PersonFacts;
}

const bot: PersonFacts = { name: "Crab", pn: "15550000001", lid: "90000000000001" };

/** The Signal library prints session records; standard output is for the manifest. */
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

async function main(): Promise<void> {
  silenceLibraries();
  const folder = await mkdtemp(join(tmpdir(), "fake-whatsapp-"));
  endWhenTold(folder);
  const credentials = await makeCertificate(folder);
  const server = await WhatsAppServer.start(credentials);
  server.world.addPerson(bot);
  const operations = operationsOf(server);
  const perform = async (name: string, input: unknown): Promise<unknown> => {
    const operation = Object.entries(operations).find(([candidate]) => candidate === name)?.[1] as
      | ((input: unknown) => Promise<unknown>)
      | undefined;
    if (!operation) throw new Error(`there is no operation ${name}`);
    return operation(input);
  };
  const control = createServer((request, response) => {
    void json(request)
      .then(async (input) => perform(request.url?.slice(1) ?? "", input))
      .then((output) => response.end(JSON.stringify(output)))
      .catch((error: unknown) => {
        response.writeHead(400).end(error instanceof Error ? error.message : String(error));
      });
  });
  // The client closes connections that it does not use. If both did, a request might meet one that is being closed.
  control.keepAliveTimeout = 0;
  control.listen(0, "127.0.0.1");
  await once(control, "listening");
  const manifest: Manifest = {
    url: server.url,
    control: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    root: server.rootPublicKey.toString("hex"),
    caFile: credentials.certificateFile,
    bot,
  };
  process.stdout.write(`${JSON.stringify(manifest)}\n`);
}

await main();
