import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { DockerEngine } from "../../../../../src/sandbox/engine/docker/docker-engine.ts";
import { engineThat } from "../../../../support/pretend-engine.ts";

interface AttachedEngine extends AsyncDisposable {
  readonly engine: DockerEngine;
  /** Response for whoever attached, and its end. */
  readonly attached: Promise<ServerResponse>;
}

/** An engine that sends its streams in chunks, as proxies in front of one do, and leaves their end to the test. */
async function attachedEngine(): Promise<AttachedEngine> {
  const attached = Promise.withResolvers<ServerResponse>();
  const server = await engineThat((_request, response) => {
    response.writeHead(200).write(Buffer.from([1, 0, 0, 0, 0, 0, 0, 3]));
    response.write("up\n");
    attached.resolve(response);
  });
  return {
    ...server,
    engine: new DockerEngine({ url: server.url, namedBy: undefined }),
    attached: attached.promise,
  };
}

test("what a container printed ends, without an error, when the connection to the engine breaks", async () => {
  await using server = await attachedEngine();
  const output = await server.engine.attach("x");
  const response = await server.attached;
  await once(output, "readable");

  response.destroy();

  expect(await text(output)).toBe("up\n");
});

test("detaching closes the connection to the engine", async () => {
  await using server = await attachedEngine();
  const output = await server.engine.attach("x");
  const closed = once(await server.attached, "close");

  output.destroy();

  await expect(closed).resolves.toBeDefined();
});
