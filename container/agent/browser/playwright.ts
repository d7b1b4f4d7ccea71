import { createRequire } from "node:module";

/** Used parts of playwright-core, which only images with a browser have; see its documentation. */
export interface Locator {
  count(): Promise<number>;
  ariaSnapshot(options: { mode: "ai"; timeout: number }): Promise<string>;
  click(options: { timeout: number }): Promise<void>;
  fill(text: string, options: { timeout: number }): Promise<void>;
  press(key: string, options: { timeout: number }): Promise<void>;
  selectOption(value: string, options: { timeout: number }): Promise<unknown>;
  screenshot(options: object): Promise<Buffer>;
}

export interface Download {
  suggestedFilename(): string;
  path(): Promise<string>;
  failure(): Promise<string | null>;
  cancel(): Promise<void>;
  delete(): Promise<void>;
}

export interface Page {
  url(): string;
  title(): Promise<string>;
  goto(url: string, options: { timeout: number; waitUntil: "load" | "domcontentloaded" }): Promise<unknown>;
  goBack(options: { timeout: number }): Promise<unknown>;
  getByRef(ref: string): Locator;
  ariaSnapshot(options: { mode: "ai"; timeout: number }): Promise<string>;
  screenshot(options: object): Promise<Buffer>;
  waitForLoadState(state: "load" | "networkidle", options: { timeout: number }): Promise<void>;
  readonly keyboard: { press(key: string): Promise<void> };
  isClosed(): boolean;
  close(): Promise<void>;
  on(event: "download", listener: (download: Download) => void): void;
  on(event: "crash", listener: () => void): void;
}

export interface BrowserContext {
  newPage(): Promise<Page>;
  pages(): Page[];
  setDefaultTimeout(ms: number): void;
  on(event: "page", listener: (page: Page) => void): void;
}

export interface LaunchedBrowser {
  newContext(options: object): Promise<BrowserContext>;
  close(): Promise<void>;
  on(event: "disconnected", listener: () => void): void;
}

interface Playwright {
  readonly chromium: { launch(options: object): Promise<LaunchedBrowser> };
}

/** Throws where the image has none. */
export function loadPlaywright(): Playwright {
  // Packages of an image are found from the root.
  try {
    return createRequire("/")("playwright-core") as Playwright;
  } catch (cause) {
    throw new Error("This container has no browser: its image is still being built, or could not be.", { cause });
  }
}
