import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { describeOperationList } from "../../../scripts/steps/operation-list.ts";
import { isAtLeast } from "../../../src/domain/people/role.ts";
import { commandsOf } from "../../../src/surfaces/chat/catalog.ts";
import { commandNamesOf } from "../../../src/surfaces/cli/leaves/operation-leaf.ts";
import { crabpot, newHome } from "../../support/crabpot.ts";
import { checkoutFolder } from "../../support/engine.ts";

import type { AnyOperation } from "../../../src/operations/definition/define-operation.ts";
import { loadOperations } from "../../../src/surfaces/operations.ts";
import { describeOperations } from "../../../src/surfaces/http/openapi.ts";
import { addFailedTurn, startControlledHost } from "../../support/crabpot-control.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const operations = await loadOperations();
const all: readonly AnyOperation[] = operations;

interface Document {
  readonly paths: Readonly<
    Record<string, Record<string, { operationId: string; parameters: { name: string; in: string; schema: object }[] }>>
  >;
}

const document = (await describeOperations("1.2.3")) as Document;

test("every operation has its own name, and a summary that fits into a list", () => {
  const names = all.map(({ name }) => name);

  expect(names.length).toBeGreaterThan(60);
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  expect(names.filter((name) => !/^[a-z]+(?:\.[a-z]+)?$/.test(name))).toEqual([]);
  expect(all.filter(({ summary }) => !/^[a-z].*[^.]$/.test(summary)).map(({ name }) => name)).toEqual([]);
});

test("what only looks may be done with the scope for reading, and nothing else may", () => {
  const mixed = all.filter(({ may, effect }) => (may.scope === "read") !== (effect === "none"));

  expect(mixed.map(({ name }) => name)).toEqual([]);
});

test("the OpenAPI document has every operation with a path, each parameter once", () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters }]) => {
      const names = parameters.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `{${name}}`);
      expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath);
      return `${method.toUpperCase()} ${path} ${operationId}`;
    }),
  );
  const withPath = all.flatMap(({ name, rest }) => {
    const [method, path] = rest?.split(" ") ?? [];
    return path === undefined
      ? []
      : [`${method} /v1${path} ${name.replaceAll(/\.(.)/g, (_, c: string) => c.toUpperCase())}`];
  });

  expect(withPath.length).toBeGreaterThan(20);
  expect(described.toSorted()).toEqual(withPath.toSorted());
});

test("the OpenAPI document says of a parameter what the command line and the host hold it to", () => {
  const parameters = document.paths["/v1/turns"]?.["get"]?.parameters ?? [];

  expect(parameters).toMatchObject([
    { name: "group", in: "query", required: false, schema: { type: "string", maxLength: 256 } },
    { name: "state", in: "query", schema: { enum: ["running", "done", "failed", "cancelled"] } },
    { name: "limit", in: "query", schema: { default: 20, maximum: 1_000 } },
  ]);
});

test("every operation has the commands that its definition says, and their help says what it takes", async () => {
  await using place = await newHome();

  const faults: string[] = [];
  for (const operation of all) {
    for (const words of commandNamesOf(operation)) {
      const { code, stdout } = await crabpot(place, ...words.split(" "), "--help");
      if (code !== 0 || !stdout.startsWith(`Usage: crabpot ${words} `)) faults.push(words);
    }
  }

  expect(faults).toEqual([]);
});

test("what can be done in a chat is a command of /help there, for those who may do it", () => {
  const commands = commandsOf({ main: true, agents: ["main", "scout"], mounts: [] }, true);
  const forms = all.flatMap(({ chat, may }) => [chat ?? []].flat().map(({ form }) => ({ form, role: may.role })));

  const faults = forms.filter(({ form, role = "guest" }) => {
    const [name, ...words] = form.split(" ");
    const command = commands.find((known) => `/${known.name}` === name);
    const [takes = ""] = words;
    return !command || !(command.takes ?? "").includes(takes.replace("…", "")) || !isAtLeast(role, command.needs);
  });

  expect(forms.length).toBeGreaterThan(5);
  expect(faults).toEqual([]);
});

/** Rows of a table, whatever its columns are padded with. */
function rowsIn(page: string): string[] {
  return page.split("\n").flatMap((line) => (line.startsWith("| `") ? [line.replaceAll(/ +/g, " ")] : []));
}

test("docs/operations.md lists every operation as `node scripts/list-operations.ts` writes it", async () => {
  const page = readFileSync(join(checkoutFolder, "docs", "operations.md"), "utf8");
  const listed = page.slice(page.indexOf("<!-- operations:"));

  expect(rowsIn(listed)).toEqual(rowsIn(await describeOperationList()));
});

test("an answer is what its definition says of it, for everything that can be looked at without parameters", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  await addFailedTurn(host.store, "t1");
  const looking = operations.filter(
    (operation) =>
      operation.follow === undefined && operation.effect === "none" && operation.input.safeParse({}).success,
  );

  const faults: string[] = [];
  for (const operation of looking as readonly AnyOperation[]) {
    if (operation.follow !== undefined) continue;
    const answer: unknown = await host.client.call(operation, {});
    const parsed = operation.output.safeParse(answer);
    if (!parsed.success) faults.push(`${operation.name}: ${parsed.error.message}`);
  }

  expect(looking.length).toBeGreaterThan(15);
  expect(faults).toEqual([]);
});
