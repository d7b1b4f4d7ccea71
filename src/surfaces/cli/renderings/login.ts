import { renderUnicodeCompact } from "uqr";

import type { LoginEvent } from "../../../channels/channel.ts";
import type { Output } from "../output.ts";

export function showLogin(output: Output, event: LoginEvent): void {
  output.line(describeEvent(event));
}

function describeEvent(event: LoginEvent): string {
  if ("qr" in event) {
    const picture = renderUnicodeCompact(event.qr, { border: 2 });
    return `In the app on the phone: Settings, Linked devices, Link a device. Scan this code; a new one appears when it expires.\n${picture}`;
  }
  if ("pairingCode" in event) return `Type this code into the app: ${event.pairingCode}`;
  return event.detail ?? `The channel is ${event.state}.`;
}
