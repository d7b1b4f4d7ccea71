import { createHmac } from "node:crypto";

import type { Stage } from "./stage.ts";

/** Path of the hook of the group `called`. */
export const hookPath = "/v1/hooks/calls";

export function sign(secret: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** Calls a hook with these headers. */
export function callHook(
  stage: Stage,
  body: string,
  headers: Record<string, string>,
  hook = hookPath,
): Promise<Response> {
  return stage.request(hook, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
}

/** A call with the right signature. */
export function callSigned(stage: Stage, content: object): Promise<Response> {
  const body = JSON.stringify(content);
  return callHook(stage, body, { "x-crabpot-signature": sign(stage.canaries.webhook, body) });
}
