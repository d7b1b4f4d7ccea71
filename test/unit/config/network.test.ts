import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { resolveGroup } from "../../../src/config/resolve-group.ts";
import { checkConfig, describeFault } from "../../../src/config/loading/load.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function check(text: string, variables: Record<string, string> = {}) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, text, { mode: 0o600 });
  return await checkConfig(file, variables, builtInAdapters);
}

/** A group that may reach `a.b:443`, with these secrets. */
function withSecrets(secrets: string): string {
  return `groups: { a: { channel: terminal, chat: x, network: { allow: ["a.b:443"] }, secrets: ${secrets} } }`;
}

test.each<readonly [string, RegExp]>([
  [
    'sandbox: { network: { allow: ["Registry.example:443"] } }',
    /^sandbox\.network\.allow\[0\]: write host:port, such as registry\.example:443/,
  ],
  [
    'groups: { a: { channel: terminal, chat: x, network: { allow: ["registry.example"] } } }',
    /^groups\.a\.network\.allow\[0\]: write host:port/,
  ],
  [
    'sandbox: { network: { allow: ["a.b:443"], allowPrivate: ["c.d:443"] } }',
    /^sandbox\.network\.allowPrivate\[0\]: c\.d:443 is not in allow/,
  ],
  ['sandbox: { network: { allow: ["*.example.com:443"] } }', /^sandbox\.network\.allow\[0\]: write host:port/],
  ["sandbox: { network: bridge }", /^sandbox\.network: must be none or/],
  [
    withSecrets('{ T: { value: "12345678", hosts: ["c.d:443"] } }'),
    /^groups\.a\.secrets\.T\.hosts\[0\]: c\.d:443 is not in the network\.allow of this group/,
  ],
  [
    withSecrets('{ T: { value: "12345678", hosts: ["a.b:443"] }, U: { value: "12345678", hosts: ["a.b:443"] } }'),
    /^groups\.a\.secrets\.U\.hosts\[0\]: T already sets authorization for a\.b:443/,
  ],
  [
    withSecrets('{ T: { value: "1234567 8", hosts: ["a.b:443"] } }'),
    /^groups\.a\.secrets\.T\.value: holds white space/,
  ],
  [
    withSecrets('{ T: { value: "12345678", hosts: ["a.b:443"], header: host } }'),
    /^groups\.a\.secrets\.T\.header: this header is not one/,
  ],
  [
    withSecrets('{ T: { value: "12345678", hosts: ["a.b:443"], format: Bearer } }'),
    /^groups\.a\.secrets\.T\.format: must hold \{\} once/,
  ],
  [
    withSecrets('{ T: { value: "--1234-567--", hosts: ["a.b:443"] } }'),
    /^groups\.a\.secrets\.T\.value: has fewer than 8 letters and digits/,
  ],
  [
    withSecrets('{ T: { value: "12345678", hosts: ["a.b:443"], methods: [get] } }'),
    /^groups\.a\.secrets\.T\.methods\[0\]: a method in upper case/,
  ],
  [
    withSecrets('{ T: { value: "12345678", hosts: ["a.b:443"], methods: [TRACE] } }'),
    /^groups\.a\.secrets\.T\.methods\[0\]: is refused for every host/,
  ],
  ...["v1", "/v1/*/x", "/v1//x", "/v1/../x", "/v1/%2e%2e/x", "/v1?x", "/v1;x", "/a%2fb"].map(
    (path) =>
      [
        withSecrets(`{ T: { value: "12345678", hosts: ["a.b:443"], paths: ["${path}"] } }`),
        /^groups\.a\.secrets\.T\.paths\[0\]: write a path such as \/v1\/items/,
      ] as const,
  ),
  [
    'groups: { a: { channel: terminal, chat: x, network: { allow: [{ host: "a.b:443", reflects: true }] }, secrets: { T: { value: "12345678", hosts: ["a.b:443"] } } } }',
    /^groups\.a\.secrets\.T\.hosts\[0\]: a\.b:443 has reflects: true in network\.allow, so it gets no secret/,
  ],
  [
    'sandbox: { network: { allow: [{ host: "a.b", reflects: true }] } }',
    /^sandbox\.network\.allow\[0\]\.host: write host:port/,
  ],
  [
    'sandbox: { network: { allow: [{ host: "a.b:443", reflect: true }] } }',
    /^sandbox\.network\.allow\[0\]\.reflect: unknown key; did you mean reflects\?/,
  ],
  ['sandbox: { nameservers: ["dns.example"] }', /^sandbox\.nameservers\[0\]: write an address/],
])("%s is refused, and the fault says what to write", async (text, fault) => {
  const checked = await check(text);

  expect(checked.ok ? "" : checked.faults.map(describeFault)[0]).toMatch(fault);
});

test("a group's network is its own when it says one, otherwise that of the sandbox; its secrets count as such", async () => {
  const text = `
    sandbox: { network: { allow: ["a.b:443"] } }
    groups:
      own: { channel: terminal, chat: x, network: { allow: ["c.d:8443"] }, secrets: { T: { value: "\${TOKEN}", hosts: ["c.d:8443"] } } }
      none: { channel: terminal, chat: y, network: none }
      shared: { channel: terminal, chat: z }
  `;

  const checked = await check(text, { TOKEN: "a-token-1234" });

  if (!checked.ok) throw new Error(checked.faults.map(describeFault).join("\n"));
  const { config, secrets } = checked.loaded;
  expect(resolveGroup(config, { name: "own" }).network.allow).toEqual(["c.d:8443"]);
  expect(resolveGroup(config, { name: "own" }).network.secrets).toMatchObject([
    { name: "T", value: "a-token-1234", header: "authorization", format: "Bearer {}" },
  ]);
  expect(resolveGroup(config, { name: "none" }).network.allow).toEqual([]);
  expect(resolveGroup(config, { name: "shared" }).network.allow).toEqual(["a.b:443"]);
  expect(resolveGroup(config, { name: "added at run time" }).network.allow).toEqual(["a.b:443"]);
  expect(secrets).toContain("a-token-1234");
});

test("a host may be marked as one that reflects, and nameservers as addresses with ports", async () => {
  const checked = await check(
    'sandbox: { nameservers: ["192.0.2.53", "192.0.2.53:5353", "2001:db8::53", "[2001:db8::53]:5353"], network: { allow: ["a.b:443", { host: "c.d:443", reflects: true }, { host: "e.f:443" }], allowPrivate: ["c.d:443"] } }',
  );

  if (!checked.ok) throw new Error(checked.faults.map(describeFault).join("\n"));
  expect(resolveGroup(checked.loaded.config, { name: "any" }).network).toEqual({
    allow: ["a.b:443", "c.d:443", "e.f:443"],
    allowPrivate: ["c.d:443"],
    reflects: ["c.d:443"],
    secrets: [],
  });
});
