/** A request of the agent to the browser's driver: one at a time, each a line of JSON. */
export interface BrowserRequest {
  readonly id: number;
  readonly action: BrowserAction;
  readonly url?: string | undefined;
  readonly ref?: string | undefined;
  readonly text?: string | undefined;
  readonly submit?: boolean | undefined;
  readonly full?: boolean | undefined;
}

export const browserActions = [
  "open",
  "snapshot",
  "click",
  "type",
  "select",
  "press",
  "back",
  "screenshot",
  "download",
] as const;

export type BrowserAction = (typeof browserActions)[number];

/** Its answer: text for the model, optionally a picture in base64. */
export interface BrowserAnswer {
  readonly id: number;
  readonly text: string;
  readonly isError?: boolean;
  readonly picture?: string;
  /** True when this browser cannot continue. */
  readonly isLast?: boolean;
}

/** Paths for starting the program. */
export interface DriverOptions {
  readonly proxy: string;
  readonly certificates: string | undefined;
  readonly home: string;
  /** Folder of unfinished downloads. */
  readonly folder: string;
  /** Folder of finished downloads. */
  readonly downloads: string;
}
