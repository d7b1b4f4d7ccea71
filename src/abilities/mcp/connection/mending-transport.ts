import type { JSONRPCMessage, MessageExtraInfo, Transport } from "@modelcontextprotocol/client";

import { mendResult } from "./mend-answer.ts";

/** Requests whose answers are awaited at once. */
const mostAwaited = 10_000;

/** Wraps a transport, whose answers are mended before the library looks at them: see `mendResult`. */
export function mending(transport: Transport): Transport {
  const methods = new Map<unknown, string>();
  const send: Transport["send"] = (message, options) => {
    if ("method" in message && "id" in message && methods.size < mostAwaited) methods.set(message.id, message.method);
    return transport.send(message, options);
  };
  const mend = (message: JSONRPCMessage): JSONRPCMessage => {
    if (!("id" in message) || "method" in message) return message;
    const method = methods.get(message.id);
    methods.delete(message.id);
    if (method === undefined || !("result" in message)) return message;
    return { ...message, result: mendResult(method, message.result) };
  };
  return new Proxy(transport, {
    get(target, key) {
      if (key === "send") return send;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
    set(target, key, value: Transport["onmessage"]) {
      if (key !== "onmessage" || value === undefined) return Reflect.set(target, key, value, target);
      return Reflect.set(target, key, (message: JSONRPCMessage, extra?: MessageExtraInfo) =>
        value(mend(message), extra),
      );
    },
  });
}
