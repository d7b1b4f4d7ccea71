import { registerHooks } from "node:module";
import { Socket } from "node:net";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";

import { readFrames } from "./frames.ts";
import { Inside } from "../inside/inside.ts";
import { Peer } from "./peer.ts";

/*
 * The process of a plugin. It has its own files to read, no keys and no environment to speak of: settings come from the
 * host, and it ends with the host. Whatever the plugin does here, the host sees only what comes over the line.
 */

const beatMs = 5_000;
const mostServed = 256;
const longest = 256 * 1024 * 1024;

const [, , entry = ""] = process.argv;
const api = new URL(`plugin-api${extname(import.meta.filename)}`, import.meta.url).href;
registerHooks({
  resolve: (wanted, context, next) =>
    wanted === "crabpot/plugin" ? { url: api, shortCircuit: true } : next(wanted, context),
});

const line = new Socket({ fd: 3, readable: true, writable: true });
const send = (frame: object): boolean => {
  if (line.destroyed) return false;
  line.write(`${JSON.stringify(frame)}\n`);
  return true;
};
const inside = new Inside(
  (name, value, options) => peer.call(name, value, options),
  (name, of, value) => peer.tell(name, of, value),
);
const peer: Peer = new Peer({
  send,
  serve: (name, value, served) => inside.serve(name, value, served),
  heard: () => undefined,
  mostServed,
  onFault: () => process.exit(1),
});
line.on("end", () => process.exit(0));
line.on("close", () => process.exit(0));
line.on("error", () => process.exit(0));

setInterval(() => send({ beat: true }), beatMs);
inside.load(import(pathToFileURL(entry).href));
readFrames(line, { longest, onFrame: (frame) => peer.receive(frame), onFault: () => process.exit(1) });
