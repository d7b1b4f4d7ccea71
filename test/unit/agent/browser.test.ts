import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { Browser } from "../../../container/agent/browser/browser.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../fixtures/agent/browser-driver.cjs", import.meta.url));
const { signal } = new AbortController();

interface Opened {
  readonly driver: number;
  readonly pid: number;
  readonly profile: string;
}

/**
 * A browser of a group that may go out, with a program that answers with the numbers of itself and of its browser, and
 * its folder.
 */
async function open(idleMs: number) {
  const folder = await temporaryFolder();
  const environment = { https_proxy: "http://127.0.0.1:3128", PATH: process.env["PATH"] ?? "" };
  const browser = new Browser({ home: folder.path, workspace: folder.path, environment, program, idleMs });
  let last = 0;
  const ask = async (url: string): Promise<Opened> => {
    const { text } = await browser.ask({ action: "open", url }, signal);
    const [driver = "", pid = "", temporary = ""] = text.split(" ");
    last = Number(pid);
    return { driver: Number(driver), pid: Number(pid), profile: join(temporary, "profile") };
  };
  return {
    browser,
    ask,
    [Symbol.asyncDispose]: async () => {
      browser[Symbol.dispose]();
      await expect.poll(() => isRunning(last)).toBe(false);
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("a browser that nobody uses is closed, and what it knew is gone", async () => {
  await using opened = await open(20);

  const { profile } = await opened.ask("https://a.example/");
  await expect.poll(() => existsSync(profile)).toBe(false);

  expect(await opened.browser.close()).toBe(false);
  await expect(opened.browser.ask({ action: "snapshot" }, signal)).rejects.toThrow("open one first");
  // The next one begins anew.
  expect((await opened.ask("https://a.example/")).profile).not.toBe(profile);
});

test("a browser in use stays, and one whose page does not answer is replaced by the next open", async () => {
  await using opened = await open(60_000);

  const first = await opened.ask("https://a.example/");
  const same = await opened.ask("https://b.example/");
  const stuck = await opened.ask("https://stuck.example/");
  const next = await opened.ask("https://a.example/");

  expect(same).toEqual(first);
  expect(stuck).toEqual(first);
  expect(next.pid).not.toBe(first.pid);
  await expect.poll(() => existsSync(first.profile)).toBe(false);
  expect(existsSync(next.profile)).toBe(true);
  expect(await opened.browser.close()).toBe(true);
  // What comes next has its processes and its memory.
  expect([isRunning(next.driver), isRunning(next.pid), existsSync(next.profile)]).toEqual([false, false, false]);
});

test("a browser that goes on without its driver is ended before the next one starts, with all that it keeps", async () => {
  await using opened = await open(60_000);
  const { driver, pid, profile } = await opened.ask("https://a.example/");

  process.kill(driver, "SIGKILL");
  // Until its end is known: what is asked before that fails, and says so.
  await expect.poll(() => existsSync(`/proc/${driver}`)).toBe(false);
  const next = await opened.ask("https://a.example/");

  expect(isRunning(pid)).toBe(false);
  expect(existsSync(profile)).toBe(false);
  expect(next.pid).not.toBe(pid);
});

function isRunning(pid: number): boolean {
  try {
    // One that has ended may be there until it is reaped.
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
