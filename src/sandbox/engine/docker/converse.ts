import { type Duplex, finished, Writable } from "node:stream";

import type Docker from "dockerode";

import type { ContainerStreams } from "../engine.ts";
import { demultiplex } from "./demultiplex.ts";

const statusCodes = { 200: true, 404: "no such container", 500: "server error" };

/**
 * Takes over the connection to stdin and stdout of a container. Not by the library's `attach`, which sends its options
 * once more as the body of the request: Podman gives that to the container as the first that it reads.
 */
export function attachStreams({ modem }: Docker, id: string): Promise<Duplex> {
  const request = {
    path: `/containers/${id}/attach?`,
    method: "POST",
    options: { _query: { stream: true, stdin: true, stdout: true } },
    file: Buffer.alloc(0),
    hijack: true,
    isStream: true,
    statusCodes,
  };
  return new Promise((resolve, reject) => {
    modem.dial(request, (error, source) => (error ? reject(error) : resolve(source as Duplex)));
  });
}

/**
 * A connection that the engine has handed over: what is written to it the container reads as it is, what it writes
 * comes in frames.
 */
export function converseOver(source: Duplex): ContainerStreams {
  const input = new Writable({
    // Its end is not that of the connection, by which the container still answers.
    autoDestroy: false,
    write: (chunk, _encoding, done) => void source.write(chunk, done),
    final: (done) => void source.end(done),
    destroy: (error, done) => {
      source.destroy();
      done(error);
    },
  });
  // Whoever reads learns of the end; what is written after it is lost anyway.
  input.on("error", () => undefined);
  const output = demultiplex();
  finished(source, { writable: false }, () => {
    output.end();
    input.destroy();
  });
  finished(output, () => source.destroy());
  source.pipe(output);
  return { input, output };
}
