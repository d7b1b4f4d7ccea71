import type { HostCalls } from "../process/calls.ts";
import type { CallOptions } from "../process/peer.ts";

/** Asks the host for something. */
export type AskHost = <Name extends keyof HostCalls>(
  name: Name,
  value: HostCalls[Name],
  options?: CallOptions,
) => Promise<unknown>;

/** Tells the host something about a call or a connection. */
export type TellHost = (name: string, of: number, value: unknown) => void;
