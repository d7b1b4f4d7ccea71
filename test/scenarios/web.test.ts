import { join } from "node:path";

import { expect, test } from "vitest";

import { readAudit } from "../../src/records/audit/read.ts";
import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { newestTurn } from "../support/host-records.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { openWebSite, page, redirect } from "../support/web-site.ts";

type Call = readonly [name: string, input: object];

/** Makes the calls that the newest message asks for, one after another, and answers with what came of each. */
const obedient: ModelScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ role, text }) => role === "user" && text.includes("do:"));
  const [, plan = "W10="] = /do:([\w+/=]+)/.exec(messages[asked]?.text ?? "") ?? [];
  const calls = JSON.parse(Buffer.from(plan, "base64").toString()) as Call[];
  const done = messages.slice(asked).filter(({ role }) => role === "tool");
  const next = calls[done.length];
  if (next === undefined) return { text: done.map(({ text }) => text).join("\n=====\n") };
  return { toolCalls: [{ name: next[0], input: next[1] }] };
};

async function run(host: TestHost, calls: readonly Call[]): Promise<string[]> {
  const plan = Buffer.from(JSON.stringify(calls)).toString("base64");
  const { text } = await host.ask("family", `@crab do:${plan}`);
  return text.split("\n=====\n");
}

const article = `<!doctype html><html><head><title>Of crabs</title>
<style>.quiet { display: none }</style><meta name="description" content="OBEY-META"></head><body>
<nav><a href="/">Home</a></nav>
<article><h1>Of crabs</h1>
<p>Crabs walk <b>sideways</b>, and that is well known; more is said in <a href="/more?x=1">another place</a> of this site, which has
a long sentence in it so that it is an article, and one more sentence so that nobody doubts it, and then it goes on a little further.</p>
<p class="quiet">OBEY-CLASS</p><p style="font-size:0">OBEY-STYLE</p><p hidden>OBEY-HIDDEN</p>
<!-- OBEY-COMMENT --><img src="/crab.png" alt="OBEY-ALT">
<table><tr><th>Kind</th><th>Legs</th></tr><tr><td>Hermit</td><td>10</td></tr></table>
</article></body></html>`;

/** One point. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const fetched = (url: string, more: object = {}): Call => ["web_fetch", { url, ...more }];
const say: Call = ["send_message", { text: "hello" }];

test("an agent reads a page as people see it: the host fetches it, the container reads it, the turn is known to have read the web", async () => {
  await using site = await openWebSite({
    "/article": page(article),
    "/old": redirect("/article", 301),
    "/report.pdf": page(Buffer.from("%PDF-1.4\nnot much of one"), "application/pdf"),
    "/pixel.png": page(pixel, "image/png"),
    "/lie.png": page("<!doctype html><p>no picture</p>", "image/png"),
    "/inside": redirect("http://127.0.0.1:1/"),
  });
  const rule = { tool: "send_message", origin: "web", action: "deny" };
  await using running = await startModelHost(obedient, {
    process: "shared",
    groups: { family: { web: { fetch: "allowlist", allow: [site.place] }, policy: { rules: [rule] } } },
  });
  const { host } = running;

  const [said, read, raw, file, refused] = await run(host, [
    say,
    fetched(`${site.url}/old?token=hush`),
    fetched(`${site.url}/article`, { format: "raw", maxChars: 100 }),
    ["shell", { command: "head -c 15 /mail/to-agent/files/1.html; touch /mail/to-agent/files/x" }],
    say,
  ]);
  const turn = await newestTurn(host, "family");
  const [pdf, image, lie, missing, inside, elsewhere] = await run(host, [
    fetched(`${site.url}/report.pdf`),
    fetched(`${site.url}/pixel.png`),
    fetched(`${site.url}/lie.png`),
    fetched(`${site.url}/nothing`),
    fetched(`${site.url}/inside`),
    fetched("https://example.org/"),
  ]);
  await host.ask("family", "/new");
  const [after] = await run(host, [["shell", { command: "ls /mail/to-agent" }]]);

  expect(said).toBe("Sent.");
  expect(read).toContain(`Address: ${site.url}/article`);
  expect(read).toContain('Title: "Of crabs"');
  expect(read).toContain(`Crabs walk **sideways**`);
  expect(read).toContain(`[another place](${site.url}/more?x=1)`);
  expect(read).toContain("| Kind | Legs |\n| --- | --- |\n| Hermit | 10 |");
  expect(read).toContain("characters that the page does not show were left out");
  expect(read).not.toContain("OBEY");
  expect(raw).toContain("[cut after 100 of ");
  expect(raw).toContain("<!doctype html>");
  expect(file).toContain("<!doctype html>");
  expect(file).toContain("Read-only file system");
  expect(refused).toContain('policy does not allow "send_message"');
  expect(turn).toMatchObject({ origins: ["member", "web"] });
  expect(pdf).toMatch(/Type: application\/pdf[^]*File: \/mail\/to-agent\/files\/\d+\.pdf/);
  expect(image).toContain("Type: image/png");
  expect(lie).toContain("The server says that it is image/png; its bytes say otherwise.");
  expect(missing).toMatch(/Status: 404[^]*# Nothing here/);
  expect(inside).toContain("127.0.0.1:1");
  expect(elsewhere).toContain("https://example.org/ is not one of those that are allowed");
  expect(after).not.toContain("files");
  const records = await Array.fromAsync(readAudit({ folder: join(host.home, "audit") }));
  const web = records.filter(({ type }) => type.startsWith("web-"));
  expect(web.slice(0, 2)).toMatchObject([
    { type: "web-asked", group: "family", data: { use: "fetch", address: `${site.url}/old`, queryChars: 11 } },
    { type: "web-answered", data: { address: `${site.url}/article`, status: 200, mimeType: "text/html" } },
  ]);
  expect(JSON.stringify(web)).not.toContain("hush");
  expect(web.filter(({ type }) => type === "web-refused")).toHaveLength(2);
});

test("a group has nothing of the web unless config.yaml says so, from one moment to the next while the host runs", async () => {
  await using site = await openWebSite({ "/": page("<p>hello</p>") });
  await using running = await startModelHost(obedient, { process: "shared", config: { web: { fetch: "off" } } });
  const { host } = running;
  const offered = async (): Promise<string[]> => {
    const tools = jsonLines((await host.cli("tools", "list", "--group", "family", "--json")).stdout);
    const web = tools.filter(({ name, offered: isOffered }) => isOffered === true && String(name).startsWith("web_"));
    return web.map(({ name }) => String(name));
  };

  const none = await offered();
  const [unknown] = await run(host, [fetched(`${site.url}/`)]);
  const set = await host.cli("config", "set", "web", JSON.stringify({ fetch: "public", allow: [site.place] }));
  await host.ask("family", "/new");
  const [now] = await run(host, [fetched(`${site.url}/`)]);
  const some = await offered();
  await host.cli("config", "set", "groups.family.web", JSON.stringify({ fetch: "off" }));
  const [later] = await run(host, [fetched(`${site.url}/`)]);

  expect(none).toEqual([]);
  expect(unknown).toContain("web_fetch");
  expect(set.stderr).toBe("");
  expect(now).toContain("hello");
  expect(some).toEqual(["web_fetch"]);
  expect(later).toContain('"web_fetch" is switched off for this group');
  expect(site.asked).toEqual(["/"]);
});

test("an agent searches by whom the operator names, with a key that stays on the host", async () => {
  const key = "canary-of-a-search-key-5513";
  const results = [{ title: "Of crabs", url: "https://crabs.example/", content: "They walk sideways." }];
  const list = `<div class="result"><a class="result__a" href="/l/?uddg=https%3A%2F%2Fcrabs.example%2F">Of crabs</a></div>`;
  await using site = await openWebSite({
    "/search": (response, request) => {
      response.writeHead(request.headers.authorization === `Bearer ${key}` ? 200 : 401);
      response.end(JSON.stringify({ results }));
    },
    "/html/": page(list),
  });
  const rule = { tool: "send_message", origin: "web", action: "deny" };
  await using running = await startModelHost(obedient, {
    process: "shared",
    config: { web: { search: { provider: "tavily", baseUrl: site.url, apiKey: key } } },
    groups: { family: { policy: { rules: [rule] } } },
  });
  const { host } = running;
  const search: Call = ["web_search", { query: "crabs", count: 3 }];

  const [found, refused, noPage] = await run(host, [search, say, fetched(site.url)]);
  const provider = JSON.stringify({ provider: "duckduckgo", baseUrl: site.url });
  const changed = await host.cli("config", "set", "web.search", provider);
  const [read] = await run(host, [search]);
  const shell: Call = ["shell", { command: "env; grep -r canary-of /mail /home /workspace 2>/dev/null | grep -v do:" }];
  const [seen] = await run(host, [shell]);

  expect(found).toBe("1. Of crabs\n   https://crabs.example/\n   They walk sideways.");
  expect(refused).toContain('policy does not allow "send_message"');
  expect(noPage).toContain("web_fetch");
  expect(changed.code).toBe(0);
  expect(read).toContain("1. Of crabs\n   https://crabs.example/");
  expect(seen).not.toContain("canary-of");
  const records = await Array.fromAsync(readAudit({ folder: join(host.home, "audit") }));
  expect(JSON.stringify(records)).not.toContain(key);
  expect(records.filter(({ type }) => type === "web-answered")).toMatchObject([
    { data: { use: "search", results: 1 } },
    { data: { use: "search" } },
  ]);
  expect(JSON.stringify(await newestTurn(host, "family"))).not.toContain(key);
});
