import { glob } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";

import type { AuditRecord } from "../../src/records/audit/record.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { AppError, toError } from "../../src/lib/app-error.ts";
import { endSoon, listenForSignals } from "../../src/lib/process/listen-for-signals.ts";
import type { Attack, Evidence, NoRecord, Verdict, WantedRecord } from "./attack.ts";
import { whyNoBrowser } from "./browsing.ts";
import { Commands } from "./commands.ts";
import { engineVariables } from "./host.ts";
import { together } from "../../src/lib/together.ts";
import { clearLeftovers } from "./leftovers.ts";
import { ownLog } from "./own-host.ts";
import { Stage, type SharedByStages } from "./stage.ts";
import { endWaits, waitFor } from "./waiting.ts";

/** The host's event loop must not be kept for longer, whatever the attacker does. */
const loopLagLimitMs = 200;
/** Maximum parallel scenes, each on a separate stage: most attacks wait, and the host's own time is judged. */
const mostLanes = Math.min(availableParallelism() + 1, 4);
/** Few attacks are not worth another host. */
const attacksPerLane = 40;
/** Maximum parallel waiting attacks, beside the scenes. */
const lanesBeside = 2;
const casesFolder = join(readEnvironment().checkout, "redteam", "cases");

export interface RunOptions {
  /** Variables of the process; those that name the engine count. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
  readonly attacks: readonly LoadedAttack[];
}

/** An attack with its scene: attacks of a file follow one another on the same stage. */
export interface LoadedAttack extends Attack {
  readonly scene: string;
}

/** Every attack there is, by family and number. Each file in `redteam/cases` exports `attacks`. */
export async function loadAttacks(): Promise<readonly LoadedAttack[]> {
  const files = await Array.fromAsync(glob("*.ts", { cwd: casesFolder }));
  const found: LoadedAttack[] = [];
  for (const file of files.toSorted()) {
    // In this form the program that is built has them too.
    const name = basename(file, ".ts");
    const { attacks } = (await import(`../cases/${name}.ts`)) as { attacks: readonly Attack[] };
    found.push(...attacks.map((attack) => ({ ...attack, scene: file })));
  }
  const twice = found.find(({ id }, index) => found.findIndex((other) => other.id === id) !== index);
  if (twice) throw new AppError("bad_input", `Two attacks have the id ${twice.id}.`);
  return found;
}

/** `A,B3` → the family A and the attack B3. Throws `bad_input` for what names none. */
export function chooseAttacks(attacks: readonly LoadedAttack[], only: string): readonly LoadedAttack[] {
  const names = only.split(",").map((name) => name.trim().toLowerCase());
  for (const name of names) {
    if (attacks.some((attack) => isNamed(attack, name))) continue;
    const known = attacks.map(({ id }) => id).join(", ");
    throw new AppError("bad_input", `There is no attack "${name}". There are: ${known}.`);
  }
  return attacks.filter((attack) => names.some((name) => isNamed(attack, name)));
}

function isNamed({ id }: Attack, name: string): boolean {
  return id.toLowerCase() === name || (name.length === 1 && id.toLowerCase().startsWith(name));
}

/**
 * Plays the attacks and tells each verdict as soon as it is there. The hosts and their homes are gone at the end, also
 * when a signal ends it, which is `cancelled`; what a run that was killed has left is cleared first.
 */
export async function* runAttacks(options: RunOptions): AsyncGenerator<Verdict> {
  using signals = listenForSignals();
  const interrupted = signals.received.then(() => "interrupted" as const);
  for await (const verdict of playAll(options, interrupted)) {
    if (verdict !== "interrupted") {
      yield verdict;
      continue;
    }
    endWaits();
    // An attack that was left in the middle may still wait for something else.
    endSoon();
    throw new AppError("cancelled", "The suite was interrupted; what it had started is ended and removed.");
  }
}

async function* playAll(
  { variables, homeFolder, attacks }: RunOptions,
  interrupted: Promise<"interrupted">,
): AsyncGenerator<Verdict | "interrupted"> {
  {
    await using engine = await openEngine({ env: variables, homeFolder });
    await clearLeftovers(engine);
    const folder = join(homeFolder, ".docker");
    const environment = { PATH: "/usr/bin:/bin", DOCKER_CONFIG: folder, ...engineVariables(variables) };
    await using commands = new Commands();
    await using stages = new Stages(() => openGreeted({ engine, environment, commands }));
    using over = new DisposableStack();
    const end = new AbortController();
    over.defer(() => end.abort());
    let last: unknown;
    const verdicts = playInLanes(stages, attacks, end.signal);
    while (last !== "interrupted") {
      const next = await Promise.race([verdicts.next(), interrupted]);
      if (next !== "interrupted" && next.done === true) return;
      last = next;
      if (next !== "interrupted") yield next.value;
    }
  }
  yield "interrupted";
}

/** Hosts under attack, each started for the lane that plays on it. */
class Stages implements AsyncDisposable {
  readonly #open: () => Promise<Stage>;
  readonly #opened: (Promise<Stage> | undefined)[] = [];

  constructor(open: () => Promise<Stage>) {
    this.#open = open;
  }

  ofLane(lane: number): Promise<Stage> {
    return (this.#opened[lane] ??= this.#open());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.all(this.#opened.map(async (stage) => stage?.catch(() => undefined)));
    await Promise.all(opened.map(async (stage) => stage?.[Symbol.asyncDispose]()));
  }
}

/** Both groups that most attacks speak in have their containers. */
async function openGreeted(shared: SharedByStages): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const stage = stack.use(await Stage.open(shared));
  await Promise.all([stage.ask("red", "@crab hello"), stage.ask("blue", "@crab hello")]);
  stack.move();
  return stage;
}

/** Plays scenes in parallel lanes, each with a stage, and beside them the waiting attacks. */
async function* playInLanes(
  stages: Stages,
  attacks: readonly LoadedAttack[],
  end: AbortSignal,
): AsyncGenerator<Verdict, void> {
  const scenes = scenesOf(attacks.filter(({ waits }) => waits !== true)).values();
  const waiting = attacks.filter(({ waits }) => waits === true).map((attack) => [attack]);
  const lanesOfScenes = Math.max(1, Math.min(mostLanes, Math.ceil(attacks.length / attacksPerLane)));
  const beside = waiting.values();
  const lanes = [
    ...Array.from({ length: lanesOfScenes }, (_, lane) => playEach(() => stages.ofLane(lane), scenes, end)),
    ...Array.from({ length: lanesBeside }, () => playEach(() => stages.ofLane(0), beside, end)),
  ];
  yield* together(lanes);
}

type Scene = readonly Attack[];

/**
 * Those with a browser and those with the most attacks first, so that no lane has long to play when the others have
 * ended; but those by which secrets are said have to wait until all others have begun.
 */
function scenesOf(attacks: readonly LoadedAttack[]): readonly Scene[] {
  const rank = (scene: Scene): number => {
    if (scene.some(({ saysSecrets }) => saysSecrets === true)) return 0;
    return scene.some(({ needsBrowser }) => needsBrowser === true) ? 1_000 : scene.length;
  };
  const scenes = Map.groupBy(attacks, ({ scene }) => scene).values();
  return scenes.toArray().toSorted((one, other) => rank(other) - rank(one));
}

/** Takes scene after scene of what is left, as other lanes do. */
async function* playEach(
  open: () => Promise<Stage>,
  left: Iterator<Scene>,
  end: AbortSignal,
): AsyncGenerator<Verdict, void> {
  let stage: Stage | undefined;
  for (let next = left.next(); next.done !== true; next = left.next()) {
    for (const attack of next.value) {
      if (end.aborted) return;
      stage ??= await open();
      yield await playOn(stage, attack);
    }
  }
}

async function playOn(stage: Stage, attack: Attack): Promise<Verdict> {
  const skipped = attack.skip?.() ?? (attack.needsBrowser === true ? await whyNoBrowser(stage.engine) : undefined);
  if (skipped !== undefined) return skip(attack, skipped);
  if (attack.audit === ownLog) return playApart(stage, attack);
  if (attack.needsBrowser === true) return playFairly(await stage.withBrowser(), attack);
  return playFairly(attack.needsMemory === true ? await stage.withMemory() : stage, attack);
}

/**
 * Replays an attack whose only fault is a busy host, up to twice; the last time counts. A real fault repeats, effects
 * of other programs do not.
 */
async function playFairly(stage: Stage, attack: Attack): Promise<Verdict> {
  const lastBefore = (await stage.recordsAfter(0)).at(-1)?.seq ?? 0;
  let verdict = await play(stage, attack, lastBefore);
  // The record of the first time counts: of refusals that come in bulk only some are recorded within a minute.
  for (let again = 0; again < 2 && isLagOnly(verdict); again += 1) verdict = await play(stage, attack, lastBefore);
  return verdict;
}

function isLagOnly({ faults }: Verdict): boolean {
  return faults.length === 1 && faults[0]?.startsWith(lagFault) === true;
}

const lagFault = "the host's event loop was kept";

/** Plays an attack without watching the shared host. */
async function playApart(stage: Stage, attack: Attack): Promise<Verdict> {
  const begun = performance.now();
  const { holds, seen } = await attempt(stage, attack);
  return judge(attack, begun, { seen, audit: `none: ${ownLog.none}`, faults: holds ? [] : [unexpected] });
}

const unexpected = "the expected state is missing";

async function play(stage: Stage, attack: Attack, lastBefore: number): Promise<Verdict> {
  const begun = performance.now();
  const limitMs = await lagLimitFor(stage, attack);
  await stage.takeLoopLagMs();
  const [evidence, bystander] = await Promise.all([attempt(stage, attack), watchBystander(stage, attack)]);
  const loopLagMs = await stage.takeLoopLagMs().catch(() => Number.NaN);
  const record = await findRecord(stage, attack.audit, lastBefore);
  const faults = [
    ...(evidence.holds ? [] : [unexpected]),
    ...(record === undefined ? ["there is no such record in the audit log"] : []),
    ...bystander,
    ...(attack.hostStaysAwake === true ? judgeLag(loopLagMs, limitMs) : []),
    ...(stage.host.running ? [] : ["the host process has ended"]),
  ];
  const lag = Number.isFinite(loopLagMs) ? Math.round(loopLagMs) : undefined;
  return judge(attack, begun, { seen: evidence.seen, audit: record ?? "missing", faults, loopLagMs: lag });
}

function judge(
  { id, title, from, expected }: Attack,
  begun: number,
  found: Pick<Verdict, "seen" | "audit" | "faults"> & Partial<Pick<Verdict, "loopLagMs">>,
): Verdict {
  const verdict = found.faults.length === 0 ? "contained" : "FAILED";
  const elapsedMs = Math.round(performance.now() - begun);
  return { id, title, from, expected, verdict, loopLagMs: undefined, ...found, elapsedMs };
}

async function attempt(stage: Stage, attack: Attack): Promise<Evidence> {
  try {
    return await attack.attempt(stage);
  } catch (error) {
    return { seen: toError(error).message, holds: false };
  }
}

/** Under attacks that are meant to keep the host busy another group is spoken to; it must be answered. */
async function watchBystander(stage: Stage, { hostStaysAwake }: Attack): Promise<string[]> {
  if (hostStaysAwake !== true) return [];
  try {
    const { output } = await stage.shell("blue", "echo unharmed");
    return output.includes("unharmed") ? [] : ["another group got a wrong answer meanwhile"];
  } catch (error) {
    return [`another group was not answered meanwhile: ${toError(error).message}`];
  }
}

function judgeLag(lagMs: number, limitMs: number): string[] {
  return lagMs < limitMs ? [] : [`${lagFault} for ${Math.round(lagMs)} ms`];
}

/** The limit for an attack. Its own limit is raised to at least twice what an ordinary turn takes now. */
async function lagLimitFor(stage: Stage, { longestLagMs }: Attack): Promise<number> {
  if (longestLagMs === undefined) return loopLagLimitMs;
  await stage.takeLoopLagMs();
  // Where that is not answered, the attack itself will show it.
  await stage.ask("red", "@crab hello").catch(() => undefined);
  return Math.max(longestLagMs, 2 * (await stage.takeLoopLagMs()));
}

/** Finds the wanted record; returns a short description, or undefined. */
async function findRecord(stage: Stage, wanted: WantedRecord | NoRecord, after: number): Promise<string | undefined> {
  if ("none" in wanted) return `none: ${wanted.none}`;
  const hash = wanted.command === undefined ? undefined : await stage.hashOfCommand(wanted.command);
  const look = async () => (await stage.recordsAfter(after)).find((record) => fits(record, wanted, hash));
  const found = await waitFor(look);
  return found && `${found.type} #${found.seq}`;
}

function fits(record: AuditRecord, { type, where }: WantedRecord, hash: string | undefined): boolean {
  const tellsOfIt = hash === undefined || JSON.stringify(record.data["input"] ?? "").includes(hash);
  return record.type === type && tellsOfIt && (where?.(record) ?? true);
}

function skip({ id, title, from, expected }: Attack, why: string): Verdict {
  const nothing = { seen: why, audit: "", faults: [], loopLagMs: undefined, elapsedMs: 0 };
  return { id, title, from, expected, verdict: "skipped", ...nothing };
}
