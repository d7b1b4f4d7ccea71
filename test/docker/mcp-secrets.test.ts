import { expect, test } from "vitest";

import { onLoopback } from "../support/egress-rig.ts";
import { McpLines, mcpRig, ownProgram } from "../support/mcp-rig.ts";
import { testAuthority, tlsServer } from "../support/tls-authority.ts";

const value = "tok-canary-77c1d0a9e2";

/** Asks an address, and then looks for the secret in all that it can read. */
const program = (url: string): string => `
import os, urllib.request
try:
    with urllib.request.urlopen("${url}", timeout=20) as answer:
        print(answer.read().decode())
except Exception as error:
    print("failed:", error)
found = []
for top in ("/data", "/opt", "/egress", "/tmp", "/etc", "/home", "/run"):
    for folder, _, names in os.walk(top):
        for name in names:
            try:
                if not os.path.isfile(os.path.join(folder, name)): continue
                with open(os.path.join(folder, name), "rb") as file:
                    if b"canary-77c1" in file.read(2**20): found.append(os.path.join(folder, name))
            except OSError: pass
print("found", [one for one in found if not one.startswith("/opt/mcp")], "canary-77c1" in str(os.environ))
input()`;

test("a secret of an MCP server is in the requests that the host lets out to its host alone, and nowhere that the server can read", async () => {
  const authority = await testAuthority();
  const seen: (string | undefined)[] = [];
  await using api = await tlsServer(authority, "api.test", (request, response) => {
    seen.push(request.headers.authorization);
    response.end(`you sent ${request.headers.authorization ?? "nothing"}`);
  });
  const elsewhere: (string | undefined)[] = [];
  await using other = await tlsServer(authority, "other.test", (request, response) => {
    elsewhere.push(request.headers.authorization);
    response.end("fine");
  });
  const allow = [`api.test:${api.port}`, `other.test:${other.port}`];
  const common = { ...ownProgram, network: { allow } };
  const secrets = { API_TOKEN: { value: "${API_TOKEN}", hosts: [`api.test:${api.port}`] } };
  await using rig = await mcpRig({
    servers: { weather: { ...common, secrets }, other: { ...common, secrets } },
    programs: {
      weather: program(`https://api.test:${api.port}/`),
      other: program(`https://other.test:${other.port}/`),
    },
    variables: { API_TOKEN: value },
    egress: { ...onLoopback, trusted: [authority.certificate] },
  });

  const said: string[][] = [];
  for (const name of ["weather", "other"]) {
    const lines = new McpLines(await rig.open(name));
    said.push([await lines.line(), await lines.line()]);
  }

  expect(said).toEqual([
    [`you sent Bearer ${"*".repeat(value.length)}`, "found [] False"],
    ["fine", "found [] False"],
  ]);
  expect(seen).toEqual([`Bearer ${value}`]);
  expect(elsewhere).toEqual([undefined]);
  const egress = rig.events.filter((event) => event.type === "egress.judged");
  expect(JSON.stringify(egress)).not.toContain("canary");
  expect(JSON.stringify(rig.events)).not.toContain(value);
});
