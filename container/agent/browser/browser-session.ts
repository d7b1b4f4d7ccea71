import { setTimeout as delay } from "node:timers/promises";

import { withoutOwnElements } from "../../../src/lib/text/own-elements.ts";
import { keepDownload } from "./downloads.ts";
import { launchBrowser } from "./launch.ts";
import type { BrowserContext, Download, LaunchedBrowser, Locator, Page } from "./playwright.ts";
import type { BrowserAnswer, BrowserRequest, DriverOptions } from "./requests.ts";

const navigationMs = 30_000;
const actionMs = 10_000;
/** Pages go on loading after a click; this long it is waited for. */
const settleMs = 2_000;
const downloadMs = 20_000;
const maxPages = 8;
/** Time after which a silent page is given up. */
const answerMs = 2_000;
const maxChars = 24_000;
const maxPictureBytes = 3_500_000;
const size = { width: 1280, height: 800 };
/** Maximum height of a full-page picture. */
const maxHeight = 4_000;

type Answer = Omit<BrowserAnswer, "id">;

interface SessionOptions extends DriverOptions {
  /** The browser has ended, as wanted or not. */
  readonly ended: () => void;
}

/** One browser with one page that is looked at: the newest of those that have opened. */
export class BrowserSession {
  readonly #options: SessionOptions;
  readonly #browser: LaunchedBrowser;
  readonly #context: BrowserContext;
  #page: Page | undefined;
  #wanted: ((download: Download) => void) | undefined;
  /** Events since the last snapshot, each once. */
  readonly #notes = new Set<string>();
  #hasCrashed = false;

  private constructor(options: SessionOptions, browser: LaunchedBrowser, context: BrowserContext) {
    this.#options = options;
    this.#browser = browser;
    this.#context = context;
    context.setDefaultTimeout(actionMs);
    context.on("page", (page) => this.#watch(page));
    browser.on("disconnected", options.ended);
  }

  static async start(options: SessionOptions): Promise<BrowserSession> {
    const browser = await launchBrowser(options);
    const context = await browser.newContext({
      viewport: size,
      acceptDownloads: true,
      serviceWorkers: "block",
      locale: "en-US",
    });
    return new BrowserSession(options, browser, context);
  }

  async do(request: BrowserRequest): Promise<Answer> {
    if (this.#hasCrashed) throw new Error("A page has crashed.");
    if (request.action === "open") return this.#open(request.url ?? "");
    const page = this.#current();
    if (request.action === "screenshot") return this.#screenshot(page, request);
    if (request.action === "download") return this.#download(page, request);
    if (request.action !== "snapshot") {
      await this.#act(page, request);
      await this.#settle();
    }
    return this.#describe(request.action === "snapshot" ? request.ref : undefined);
  }

  /**
   * A page has crashed, or the one that is looked at does not answer: a program of it runs without end. Others may have
   * the same process.
   */
  async isStuck(): Promise<boolean> {
    if (this.#hasCrashed) return true;
    const page = this.#page;
    if (page === undefined || page.isClosed()) return false;
    const answered = page.title().then(
      () => true,
      () => true,
    );
    return !(await Promise.race([answered, afterwards(false)]));
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  #watch(page: Page): void {
    if (this.#page !== undefined) this.#notes.add("a new page was opened");
    this.#page = page;
    page.on("crash", () => (this.#hasCrashed = true));
    page.on("download", (download) => {
      const wanted = this.#wanted;
      this.#wanted = undefined;
      if (wanted) return wanted(download);
      this.#notes.add("the page wanted to download a file, which was not kept: use the action download");
      // A small one may have come whole before it is cancelled.
      void download
        .cancel()
        .then(() => download.delete())
        .catch(() => undefined);
    });
    const tooMany = this.#context.pages().slice(0, -maxPages);
    if (tooMany.length > 0) this.#notes.add(`more than ${maxPages} pages were open, and the oldest were closed`);
    for (const old of tooMany) void old.close().catch(() => undefined);
  }

  #current(): Page {
    if (this.#page?.isClosed() === true) this.#page = this.#context.pages().at(-1);
    if (this.#page === undefined) throw new Error("No page is open: open one first.");
    return this.#page;
  }

  async #open(url: string): Promise<Answer> {
    const page = this.#context.pages().at(-1) ?? (await this.#context.newPage());
    this.#page = page;
    this.#notes.clear();
    await page.goto(url, { timeout: navigationMs, waitUntil: "domcontentloaded" });
    await this.#settle();
    return this.#describe(undefined);
  }

  async #act(page: Page, { action, ref, text = "", submit = false }: BrowserRequest): Promise<void> {
    const timeout = { timeout: actionMs };
    if (action === "back") return void (await page.goBack({ timeout: navigationMs }));
    if (action === "press")
      return ref === undefined ? page.keyboard.press(text) : (await find(page, ref)).press(text, timeout);
    const element = await find(page, ref);
    if (action === "click") await element.click(timeout);
    else if (action === "select") await element.selectOption(text, timeout);
    else await element.fill(text, timeout);
    if (submit) await element.press("Enter", timeout);
  }

  /** Some pages never come to rest. */
  async #settle(): Promise<void> {
    await this.#current()
      .waitForLoadState("networkidle", { timeout: settleMs })
      .catch(() => undefined);
  }

  async #describe(ref: string | undefined): Promise<Answer> {
    const page = this.#current();
    const options = { mode: "ai", timeout: actionMs } as const;
    const whole = await (ref === undefined ? page : await find(page, ref)).ariaSnapshot(options);
    const cut = `${whole.slice(0, maxChars)}\n[cut; a snapshot with the ref of a part shows that part]`;
    const notes = [...this.#notes].map((note) => `\n[${note}]`);
    this.#notes.clear();
    const shown = withoutOwnElements(whole.length > maxChars ? cut : whole);
    return { text: `${await heading(page)}${notes.join("")}\n${shown}` };
  }

  async #screenshot(page: Page, { ref, full = false }: BrowserRequest): Promise<Answer> {
    const clip = { x: 0, y: 0, width: size.width, height: maxHeight };
    const shape = { type: "jpeg", quality: 80, scale: "css", animations: "disabled", timeout: actionMs };
    const picture = await (ref === undefined
      ? page.screenshot({ ...shape, ...(full && { fullPage: true, clip }) })
      : (await find(page, ref)).screenshot(shape));
    if (picture.length > maxPictureBytes) throw new Error("The picture is too large: take one of a part (ref).");
    return { text: await heading(page), picture: picture.toString("base64") };
  }

  async #download(page: Page, { ref, url }: BrowserRequest): Promise<Answer> {
    const { folder, downloads } = this.#options;
    const { promise: begun, resolve, reject } = Promise.withResolvers<Download>();
    const giveUp = setTimeout(() => reject(new Error("Nothing was downloaded: there came no file.")), downloadMs);
    this.#wanted = resolve;
    try {
      const trigger =
        ref === undefined
          ? page.goto(url ?? "", { timeout: navigationMs, waitUntil: "load" })
          : (await find(page, ref)).click({ timeout: actionMs });
      // A page that becomes a download ends its navigation with an error.
      trigger.catch((error: unknown) => ref !== undefined && reject(error));
      return { text: await keepDownload(await begun, folder, downloads) };
    } finally {
      clearTimeout(giveUp);
      this.#wanted = undefined;
    }
  }
}

/** Finds an element; one that a page change removed is not waited for. */
async function find(page: Page, ref: string | undefined): Promise<Locator> {
  if (ref === undefined) throw new Error("This needs a ref of the last snapshot, such as e12.");
  const found = page.getByRef(ref);
  if ((await found.count()) === 0) throw new Error(`The page has no ${ref} anymore: take a snapshot.`);
  return found;
}

/** Marks what follows as what it is. */
async function heading(page: Page): Promise<string> {
  const said = await Promise.race([page.title().catch(() => ""), afterwards("")]);
  const title = withoutOwnElements(said).replaceAll(/\s+/g, " ").slice(0, 200);
  return `[page of the web, ${page.url().slice(0, 1_000)}: ${title}]`;
}

/** This, when a page has had its time. */
async function afterwards<T>(value: T): Promise<T> {
  return delay(answerMs, value, { ref: false });
}
