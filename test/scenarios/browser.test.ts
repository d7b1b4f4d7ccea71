import { readFile, stat, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { crabpot, jsonLines, newHome } from "../support/crabpot.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { engineWithAgentImage } from "../support/engine.ts";
import { removeImagesWith } from "../support/package-mirror.ts";
import { programPath } from "../support/programs.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";
import { testAuthority, tlsServer } from "../support/tls-authority.ts";

const program = programPath("egress-host");
/** It is installed from Debian's mirror and npm's registry: some 200 MB. */
const buildMs = 600_000;

afterAll(async () => removeImagesWith("playwright-core", (await engineWithAgentImage()).image));

const page = `<title>Crab shop</title><h1>Crabs</h1>
<form action=/order><input name=n aria-label="How many"><button>Order</button></form>
<a href=/prices>Prices</a> <a href=/huge>Huge</a> <a href="file:///etc/passwd">Local</a>
<p id=seen>waiting</p>
<script>
const reach = (url) => fetch(url).then(() => url + " OPEN", () => url + " closed");
Promise.all(["http://127.0.0.1:3128/", "https://169.254.169.254/", "file:///etc/passwd"].map(reach)).then((all) => (seen.textContent = all.join(", ")));
</script>`;

function serve(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === "/prices")
    return void response
      .writeHead(200, { "content-disposition": "attachment; filename*=UTF-8''..%2F..%2F.run%20me%07.sh" })
      .end("crab,40\n");
  if (request.url === "/huge") {
    const head = {
      "content-disposition": "attachment; filename=huge.bin",
      "content-length": String(300 * 1024 * 1024),
    };
    response.writeHead(200, head);
    const pour = (): void => {
      while (response.writable && response.write(Buffer.alloc(256 * 1024)));
    };
    response.on("drain", pour);
    return pour();
  }
  response.writeHead(200, { "content-type": "text/html" }).end(page);
}

/**
 * Plays calls of the browser in order; `ref "Name"` in one is replaced by the ref of that element in the newest
 * snapshot.
 */
function plays(calls: readonly Record<string, unknown>[], outputs: string[]): ModelScript {
  return ({ messages }) => {
    const told = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
    outputs.splice(0, outputs.length, ...told);
    const call = calls[told.length];
    if (call === undefined) return { text: "seen" };
    const snapshot = told.findLast((text) => text.includes("[ref=")) ?? "";
    const wanted = typeof call["ref"] === "string" ? call["ref"] : undefined;
    const line = snapshot.split("\n").find((one) => wanted !== undefined && one.includes(`"${wanted}"`));
    const ref = /\[ref=(\w+)\]/.exec(line ?? "")?.[1];
    return { toolCalls: [{ name: call["command"] ? "shell" : "browser", input: { ...call, ...(ref && { ref }) } }] };
  };
}

test(
  "an agent uses a page in a browser of its group's image, and a hostile page and its downloads reach nothing else",
  async () => {
    const authority = await testAuthority();
    await using folder = await temporaryFolder(onDisk);
    const ca = join(folder.path, "ca.pem");
    await writeFile(ca, authority.certificate);
    await using server = await tlsServer(authority, "shop.test", serve);
    const target = `shop.test:${server.port}`;
    const outputs: string[] = [];
    const calls = [
      { action: "open", url: `https://${target}/` },
      { action: "snapshot" },
      { action: "type", ref: "How many", text: "40", submit: true },
      { action: "screenshot" },
      { action: "download", ref: "Prices" },
      { action: "download", ref: "Huge" },
      { action: "click", ref: "Local" },
      { action: "open", url: "https://other.test/" },
      { action: "open", url: "file:///etc/passwd" },
      { action: "click", ref: "e999" },
      { action: "close" },
      { action: "snapshot" },
      {
        command:
          "for i in $(seq 50); do pgrep chromium >/dev/null || break; sleep 0.1; done; pgrep -c chromium; ls -A downloads",
      },
    ];
    const groups = { family: { image: "browser", network: { allow: [target] } }, plain: {} };
    await using running = await startModelHost(plays(calls, outputs), {
      groups,
      program,
      models: { capabilities: { "gpt/test-model": { vision: true } } },
      variables: { NODE_EXTRA_CA_CERTS: ca },
    });
    const { host, model } = running;
    const built = await host.cli("image", "build", "--group", "family");
    expect(built.stdout).toMatch(/ ready\n$/);

    expect((await host.ask("family", "@crab shop")).text).toContain("seen");
    const answered = [...outputs];
    await host.ask("plain", "@crab hello");

    const [opened, looked, ordered, shot, prices, huge, local, other, file, stale, closed, none, left] = answered;
    expect(opened).toContain(`[page of the web, https://${target}/: Crab shop]`);
    expect(opened).toMatch(/textbox "How many" \[ref=e\d+\]/);
    expect(looked).toContain(
      "http://127.0.0.1:3128/ closed, https://169.254.169.254/ closed, file:///etc/passwd closed",
    );
    expect(ordered).toContain(`[page of the web, https://${target}/order?n=40: Crab shop]`);
    expect(shot).toContain("[an image, shown below]");
    expect(prices).toContain("Downloaded 8 bytes to /workspace/group/downloads/_.._.run me_.sh.");
    expect(huge).toContain("The file has more than 52428800 bytes, and was not kept.");
    expect(local).toContain(`[page of the web, https://${target}/order?n=40: Crab shop]`);
    expect(other).toContain("https://other.test/ cannot be reached: the group's way out refuses it");
    expect(file).toContain("begins with https://");
    expect(stale).toContain("The page has no e999 anymore: take a snapshot.");
    expect(closed).toContain("The browser is closed.");
    expect(none).toContain("open one first");
    expect(left).toMatch(/^0\n_\.\._\.run me_\.sh\n/);
    const kept = join(host.home, "groups/family/downloads/_.._.run me_.sh");
    expect(await readFile(kept, "utf8")).toBe("crab,40\n");
    expect((await stat(kept)).mode & 0o7111).toBe(0);

    expect(model.requests[0]?.tools).toContain("browser");
    expect(model.requests.at(-1)?.tools).not.toContain("browser");
    expect((await host.cli("policy", "origins", "family", "--json")).stdout).toContain("web");
    const records = jsonLines((await host.cli("audit", "export", "--json")).stdout).filter(
      ({ type }) => type === "egress",
    );
    const data = records.map((record) => record["data"]);
    // The page's request to the way out itself, and the one for another host.
    for (const refused of [{ rule: "method" }, { rule: "allowlist", host: "other.test" }])
      expect(data).toContainEqual(expect.objectContaining({ verdict: "refused", ...refused }));
  },
  buildMs,
);

test(
  "the red team's attacks on a browser are contained, with the image that is there by now",
  { timeout: buildMs },
  async () => {
    await using place = await newHome();

    const { code, stdout } = await crabpot(place, "redteam", "--only", "Z", "--json");

    const lines = jsonLines(stdout);
    expect(lines.filter(({ kind, verdict }) => kind === "case" && verdict !== "contained")).toEqual([]);
    expect(lines.filter(({ kind }) => kind === "case")).toHaveLength(7);
    expect(code).toBe(0);
  },
);
