import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { DockerEngine } from "../../../../../src/sandbox/engine/docker/docker-engine.ts";

/** An engine that answers every request with this error. */
async function refusingEngine(status: number, message: string): Promise<{ engine: DockerEngine } & AsyncDisposable> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    engine: new DockerEngine({ url, namedBy: undefined }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test.each([
  "grpc: the client connection is closing: context canceled",
  'error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused: "unavailable"',
  "error reading from server: EOF",
])("an engine that lost its other half on its way down or up counts as away, not as refusing: %s", async (words) => {
  await using refusing = await refusingEngine(500, words);

  await expect(refusing.engine.start("f00")).rejects.toMatchObject({ code: "engine_unavailable" });
});

test("an engine that cannot make a container and says why has refused", async () => {
  await using refusing = await refusingEngine(500, "OCI runtime create failed: no such file or directory");

  await expect(refusing.engine.create("one", {})).rejects.toMatchObject({
    code: "engine_refused",
    message: expect.stringContaining("OCI runtime create failed"),
  });
});
