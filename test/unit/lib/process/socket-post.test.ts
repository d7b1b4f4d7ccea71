import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { postToSocket } from "../../../../src/lib/process/socket-post.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** Asks a server that answers with these pieces, one after the other, and then hangs up. */
async function ask(pieces: readonly string[]): Promise<{ readonly statusCode: number; readonly body: string }> {
  await using folder = await temporaryFolder();
  const socketPath = join(folder.path, "s.sock");
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.once("data", () => {
      for (const piece of pieces) socket.write(piece);
      socket.end();
    });
  }).listen(socketPath);
  await once(server, "listening");
  try {
    const answer = await postToSocket({
      socketPath,
      path: "/",
      body: "{}",
      authorization: "",
      silenceMs: 0,
      tooSilent: new Error("late"),
    });
    const body = await text(answer);
    answer.destroy();
    return { statusCode: answer.statusCode, body };
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  }
}

const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

test("an answer is read whole, however it is cut and whichever way its length is told", async () => {
  const sized = ["HTTP/1.1 404 Not Fo", "und\r\nContent-Length: 6\r", "\n\r\nab", "cdé"];
  const pieces = [chunked, "3\r\nab", "c\r\n", "a\r\n0123456789\r\n0", "\r\n\r\n"];

  expect(await ask(sized)).toEqual({ statusCode: 404, body: "abcdé" });
  expect(await ask(pieces)).toEqual({ statusCode: 200, body: "abc0123456789" });
  expect(await ask(`${chunked}2\r\nhi\r\n0\r\n\r\n`.split(""))).toEqual({ statusCode: 200, body: "hi" });
});

test("an answer that ends too early is none", async () => {
  for (const pieces of [[], ["HTTP/1.1 200"], ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"], [chunked, "3\r\nab"]])
    await expect(ask(pieces)).rejects.toThrow("socket hang up");
});

test("an answer whose head does not end is none", async () => {
  const pieces = Array.from({ length: 40 }, () => "x".repeat(1_000));

  await expect(ask(["HTTP/1.1 200 OK\r\nname: ", ...pieces])).rejects.toThrow("a head of more than");
  await expect(ask([chunked, "5;", ...pieces])).rejects.toThrow("a head of more than");
});
