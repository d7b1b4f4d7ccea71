import type { WebUse } from "../../settings/web.ts";

/**
 * Events about agents' web access. Addresses come without their query, which may be secret, searches without their
 * words.
 */
export interface WebEventData {
  /** Something is about to be asked for. `queryChars`: how long what is left out is. */
  "web.asked": { readonly use: WebUse; readonly address: string; readonly queryChars: number };
  /** It came, from this address in the end; the agent has nothing of it yet. */
  "web.answered": {
    readonly use: WebUse;
    readonly address: string;
    readonly status: number;
    readonly mimeType: string;
    readonly bytes: number;
    /** There was more. */
    readonly isCut: boolean;
    readonly sha256: string;
    readonly ms: number;
    readonly results?: number | undefined;
  };
  "web.refused": { readonly use: WebUse; readonly address: string; readonly reason: string; readonly ms: number };
}
