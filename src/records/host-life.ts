import type { Publish } from "../domain/events/event.ts";

/** Records that a host has started, before it does anything else. */
export function recordStart(
  publish: Publish<"host.started">,
  { version, instance }: { readonly version: string; readonly instance: string },
): Promise<void> {
  const data = { version, node: process.version, pid: process.pid, instance };
  return publish({ type: "host.started", actor: "host", data });
}

/** Records the configuration that a host has started with. */
export function recordConfig(
  publish: Publish<"config.loaded">,
  data: { readonly sha256: string; readonly fromFile: boolean },
): Promise<void> {
  return publish({ type: "config.loaded", actor: "host", data });
}

/** Records that a host has stopped. */
export function recordStop(publish: Publish<"host.stopped">): Promise<void> {
  return publish({ type: "host.stopped", actor: "host", data: {} });
}
