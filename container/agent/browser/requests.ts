/** What the agent asks the program that drives the browser, one at a time, each a line of JSON. */
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

/** What it answers: text for the model, perhaps a picture in base64. */
export interface BrowserAnswer {
  readonly id: number;
  readonly text: string;
  readonly isError?: boolean;
  readonly picture?: string;
  /** Nothing more is to be had of this browser. */
  readonly isLast?: boolean;
}

/** How the program is started: where things are. */
export interface DriverOptions {
  readonly proxy: string;
  readonly certificates: string | undefined;
  readonly home: string;
  /** What is downloaded, while it comes in. */
  readonly folder: string;
  /** Where downloads go in the end. */
  readonly downloads: string;
}
