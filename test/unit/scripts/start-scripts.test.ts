import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { linkCommand } from "../../../scripts/steps/own-link.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const scripts = resolve(import.meta.dirname, "../../../scripts");

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface FreshCheckout extends AsyncDisposable {
  readonly path: string;
  /** Runs a program with the checkout's own machine: a Node 20 and an npm that installs Node 24 and nothing else. */
  run(program: string, ...words: string[]): Promise<Outcome>;
}

/** The scripts as they are, in a checkout whose programs only say what they were given. */
async function freshCheckout(npm = ""): Promise<FreshCheckout> {
  const folder = await temporaryFolder();
  const file = async (path: string, content: string): Promise<void> => {
    await mkdir(join(folder.path, path, ".."), { recursive: true });
    await writeFile(join(folder.path, path), content);
    await chmod(join(folder.path, path), 0o755);
  };
  await file("machine/node", "#!/bin/sh\necho v20.20.2\n");
  await file("machine/npm", `#!/bin/sh\n${npm || `echo "npm $*"; ${installNode}`}\n`);
  await file("package-lock.json", "{}");
  await file("src/main.ts", 'console.log("cli", ...process.argv.slice(2));');
  await file("scripts/setup.ts", 'console.error("set up by", process.version.split(".")[0], process.pid);');
  await file("scripts/build-program.ts", buildProgram);
  await file("redteam/case.ts", "");
  await file("container/agent/tool.ts", "");
  for (const name of ["setup", "crabpot", "find-node", "find-program"])
    await copyFile(join(scripts, name), join(folder.path, "scripts", name));
  return {
    path: folder.path,
    run: async (program, ...words) => {
      const env = { PATH: `${folder.path}/machine:/usr/bin:/bin` };
      const child = spawn(join(folder.path, program), words, { cwd: "/", env, stdio: ["ignore", "pipe", "pipe"] });
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "close"),
      ]);
      return { code: code as number, stdout, stderr };
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const buildProgram = `import { mkdirSync, writeFileSync } from "node:fs";
mkdirSync(import.meta.dirname + "/../dist/host", { recursive: true });
writeFileSync(import.meta.dirname + "/../dist/host/main.mjs", 'console.log("built cli", ...process.argv.slice(2));');
console.log("built by", process.version.split(".")[0]);`;

const installNode = `mkdir -p node_modules/.bin && ln -s "${process.execPath}" node_modules/.bin/node`;

test("the command line runs from any folder and through links, with Node 24 although the machine's is older", async () => {
  await using checkout = await freshCheckout();
  await checkout.run("scripts/setup");
  await mkdir(join(checkout.path, "links", "deep"), { recursive: true });
  await symlink("../scripts/crabpot", join(checkout.path, "links", "relative"));
  await symlink(join(checkout.path, "links", "relative"), join(checkout.path, "links", "deep", "absolute"));

  const outcome = await checkout.run("links/deep/absolute", "status", "two words");

  expect(outcome).toEqual({ code: 0, stdout: "built cli status two words\n", stderr: "" });
});

test("hints call the command line as it can be typed: by its name in PATH, or by its path", async () => {
  await using checkout = await freshCheckout();
  await checkout.run("scripts/setup");
  await writeFile(join(checkout.path, "src/main.ts"), "console.log(process.env.CRABPOT_COMMAND)");
  const bin = join(checkout.path, "home/.local/bin");
  await mkdir(bin, { recursive: true });
  const surroundings = { homeFolder: join(checkout.path, "home"), env: { PATH: `/nowhere:${bin}` } };
  const nameFrom = async (cwd: string, path = ""): Promise<string> => {
    const env = { PATH: `${path}:${checkout.path}/machine:/usr/bin:/bin` };
    return (await promisify(execFile)(join(checkout.path, "scripts/crabpot"), { cwd, env })).stdout.trim();
  };

  const link = (await linkCommand(checkout.path, surroundings)) ?? "";
  expect(link).toBe(`ln -s ${checkout.path}/scripts/crabpot ${bin}/crabpot`);
  expect(await nameFrom(checkout.path, bin)).toBe("scripts/crabpot");
  expect(await nameFrom(bin)).toBe(join(checkout.path, "scripts/crabpot"));

  await promisify(execFile)("sh", ["-c", link]);
  expect(await nameFrom("/", bin)).toBe("crabpot");
  expect(await linkCommand(checkout.path, surroundings)).toBeUndefined();
  const { stdout } = await promisify(execFile)(join(bin, "crabpot"), { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
  expect(stdout.trim()).toBe(join(checkout.path, "scripts/crabpot"));
});

test("sources that have changed since they were built are run themselves until they are built again", async () => {
  await using checkout = await freshCheckout();
  await checkout.run("scripts/setup");
  const source = join(checkout.path, "src", "main.ts");
  const lastYear = new Date("2025-01-01");

  // As a copy arrives that keeps the times of files and folders.
  await writeFile(`${source}.copy`, 'console.log("changed cli", ...process.argv.slice(2));');
  await rename(`${source}.copy`, source);
  await Promise.all([source, join(checkout.path, "src")].map((path) => utimes(path, lastYear, lastYear)));
  const changed = await checkout.run("scripts/crabpot", "status");
  const again = await checkout.run("scripts/setup");
  const built = await checkout.run("scripts/crabpot", "status");
  const unchanged = await checkout.run("scripts/setup");

  expect(changed).toEqual({ code: 0, stdout: "changed cli status\n", stderr: "" });
  expect(again).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("built by v2") });
  expect(built.stdout).toBe("built cli status\n");
  expect(unchanged.stderr).not.toContain("built by");
});

test("without anything built, and where nobody can tell whether it is what the sources say, the sources are run", async () => {
  await using checkout = await freshCheckout();
  await checkout.run("scripts/setup");
  await rename(join(checkout.path, "redteam"), join(checkout.path, "moved"));
  const unknown = await checkout.run("scripts/crabpot", "status");
  await rename(join(checkout.path, "moved"), join(checkout.path, "redteam"));
  await rename(join(checkout.path, "dist", "host"), join(checkout.path, "moved"));
  const nothing = await checkout.run("scripts/crabpot", "status");

  for (const outcome of [unknown, nothing]) expect(outcome).toEqual({ code: 0, stdout: "cli status\n", stderr: "" });
});

test("a program that cannot be built ends set-up with words", async () => {
  await using checkout = await freshCheckout();
  await writeFile(
    join(checkout.path, "scripts", "build-program.ts"),
    'console.error("no esbuild"); process.exitCode = 1;',
  );

  const outcome = await checkout.run("scripts/setup");

  expect(outcome).toMatchObject({
    code: 3,
    stdout: "",
    stderr: expect.stringMatching(/no esbuild\n[^]*program: could not/),
  });
  expect(outcome.stderr).not.toContain("set up by");
});

test("the command line says what to do when there is no Node 24 yet", async () => {
  await using checkout = await freshCheckout();

  const outcome = await checkout.run("scripts/crabpot", "status");

  expect(outcome).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("npm run setup") });
});

test("set-up installs the dependencies once, and again when the lock file has changed; stdout stays clean", async () => {
  await using checkout = await freshCheckout();

  const first = await checkout.run("scripts/setup");
  const second = await checkout.run("scripts/setup");
  await writeFile(join(checkout.path, "package-lock.json"), '{ "changed": true }');
  const third = await checkout.run("scripts/setup");

  expect(first).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/npm ci .*\nset up by v24|npm ci[^]*set up by v2\d/),
  });
  expect(second).toMatchObject({ code: 0, stdout: "", stderr: expect.not.stringContaining("npm ci") });
  expect(third.stderr).toContain("npm ci");
});

test("for a start, the tools for tests are left out, and come when a test needs them; then they stay", async () => {
  await using checkout = await freshCheckout(`echo "npm $*"; rm -rf node_modules; ${installNode}`);
  const installed = async (...words: string[]) => {
    const { code, stderr } = await checkout.run("scripts/setup", ...words);
    expect(code).toBe(0);
    const [, options] = /^npm ci (.*)$/m.exec(stderr) ?? [];
    return options === undefined ? "nothing" : options.includes("--omit=dev") ? "what running needs" : "everything";
  };
  const release = (version: number) => writeFile(join(checkout.path, "package-lock.json"), `{ "v": ${version} }`);

  const outcomes = [await installed("--omit=dev"), await installed("--omit=dev")];
  await release(2);
  outcomes.push(await installed("--omit=dev"), await installed(), await installed("--omit=dev"), await installed());
  await release(3);
  outcomes.push(await installed("--omit=dev"), await installed());

  // Whoever has tested here goes on to: the next release is installed whole.
  const [whole, least, none] = ["everything", "what running needs", "nothing"];
  expect(outcomes).toEqual([least, none, least, whole, none, none, whole, none]);
});

test("an argument that set-up does not know is not passed over", async () => {
  await using checkout = await freshCheckout();

  const { code, stderr } = await checkout.run("scripts/setup", "--omit=dve");

  expect(code).toBe(2);
  expect(stderr).toContain("usage: scripts/setup [--omit=dev]");
  expect(stderr).not.toContain("npm ci");
});

test("dependencies that cannot be installed end set-up with the command that mends it, and are tried again", async () => {
  await using checkout = await freshCheckout(`${installNode}; echo no registry >&2; exit 1`);

  const first = await checkout.run("scripts/setup");
  const second = await checkout.run("scripts/setup");

  const fix = `To fix it: cd ${checkout.path} && npm ci`;
  expect(first).toMatchObject({ code: 3, stdout: "", stderr: expect.stringMatching(/no registry\n[^]*npm ci failed/) });
  expect(first.stderr).toContain(fix);
  expect(second.stderr).toContain(fix);
});

test("set-ups at the same time go one after the other, and only one installs", async () => {
  const refuseCompany = `mkdir at-work || exit 1; echo run >>runs; sleep 0.3; ${installNode}; rmdir at-work`;
  await using checkout = await freshCheckout(refuseCompany);

  const outcomes = await Promise.all(Array.from({ length: 4 }, () => checkout.run("scripts/setup")));

  expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(await readFile(join(checkout.path, "runs"), "utf8")).toBe("run\n");
});

test("a lock that a dead set-up left behind is taken over", async () => {
  await using checkout = await freshCheckout();
  const dead = spawn("true");
  await once(dead, "close");
  await mkdir(join(checkout.path, "dist", "setup.lock"), { recursive: true });
  await writeFile(join(checkout.path, "dist", "setup.lock", String(dead.pid)), "");

  const { code, stderr } = await checkout.run("scripts/setup");

  const owners = await readdir(join(checkout.path, "dist", "setup.lock"));
  expect(code).toBe(0);
  expect(stderr).not.toContain("waiting");
  expect(owners).toEqual([/set up by v\d+ (\d+)/.exec(stderr)?.[1]]);
});
