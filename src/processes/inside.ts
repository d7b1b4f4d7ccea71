import { Socket } from "node:net";
import { isMainThread, parentPort, workerData } from "node:worker_threads";

import type { FailureCodec } from "./failures.ts";
import { type Answers, Line, type LineLimits, type Listeners } from "./line.ts";
import type { Encoding, Frame, Protocol } from "./protocol.ts";
import { streamWire, threadWire, type Wire, type WireReader } from "./wires.ts";

/** Handlers of a process or thread of ours for the host's calls. */
export interface ServeOptions<Messages extends Protocol> {
  readonly protocol: Messages;
  readonly answers: Answers<Messages["process"]>;
  readonly listeners: Listeners<Messages["process"]>;
  /** Ends what goes on, in good order; it has a moment for that. */
  readonly onEnd?: (() => unknown) | undefined;
  /** Hears of each error that nobody has caught, by kind and place; no data. Left out: Node prints it. */
  readonly onError?: ((place: string) => void) | undefined;
  readonly servedCalls?: number | undefined;
  readonly failures?: FailureCodec | undefined;
  /** File descriptors that the line comes in and goes out by; left out: 3 for both. */
  readonly line?: { readonly from: number; readonly to: number } | undefined;
}

const longest = 256 * 1024 * 1024;
const usualLimits: LineLimits = { servedCalls: 10_000, openCalls: 100_000, waitingBytes: Infinity };

/**
 * Opens the line of a process of ours to the host: file descriptors, or the port of a thread. The process ends with
 * the host.
 */
export function serveHost<Messages extends Protocol>(
  options: ServeOptions<Messages>,
): Line<Messages["process"], Messages["host"]> {
  const { protocol, answers, listeners, onError, servedCalls = usualLimits.servedCalls, failures } = options;
  const onFrame = (frame: Frame): void => {
    if ("beat" in frame) setInterval(() => wire.send({ beat: true }), Number(frame.beat));
    else if ("end" in frame) void end(options.onEnd);
    else line.receive(frame);
  };
  const wire = openWire(protocol.encoding, options.line, { onFrame, onFault: fail });
  const line: Line<Messages["process"], Messages["host"]> = new Line({
    wire,
    local: protocol.process,
    remote: protocol.host,
    answers,
    listeners,
    limits: { ...usualLimits, servedCalls },
    failures,
    onFault: fail,
    allowsStrays: true,
  });
  if (onError) tellErrors(wire, onError);
  if (isMainThread) wire.send({ beat: true });
  return line;
}

/** Data that a thread of ours begins with. */
export const threadData: unknown = workerData;

function fail(): never {
  process.exit(1);
}

function openWire(encoding: Encoding, line: ServeOptions<Protocol>["line"], reader: WireReader): Wire {
  if (parentPort) return threadWire(parentPort, reader);
  const [output, input] =
    line === undefined
      ? both(new Socket({ fd: 3, readable: true, writable: true }))
      : [
          new Socket({ fd: line.from, readable: true, writable: false }),
          new Socket({ fd: line.to, readable: false, writable: true }),
        ];
  for (const over of ["end", "close", "error"]) output.on(over, () => process.exit(0));
  input.on("error", () => process.exit(0));
  return streamWire({ input, output }, { encoding, longest }, reader);
}

function both(socket: Socket): [Socket, Socket] {
  return [socket, socket];
}

async function end(onEnd: ServeOptions<Protocol>["onEnd"]): Promise<void> {
  await onEnd?.();
  if (isMainThread) process.exit(0);
  parentPort?.close();
}

function tellErrors(wire: Wire, onError: (place: string) => void): void {
  process.on("unhandledRejection", (thrown) => onError(placeOf(thrown)));
  process.on("uncaughtException", (thrown) => {
    onError(placeOf(thrown));
    wire.send({ crash: placeOf(thrown) });
    process.exit(1);
  });
}

/** The kind of an error, and where it was thrown; not its message, which may hold what it failed with. */
function placeOf(thrown: unknown): string {
  const { name, stack = "" } = thrown instanceof Error ? thrown : new Error("no error was thrown");
  const place = /(?<![^()\s])([^()\s]+:\d+:\d+)\)?$/m.exec(stack)?.[1] ?? "an unknown place";
  return `${name} at ${place.replace(/^.*\/(?=[^/]+\/[^/]+$)/, "")}`;
}
