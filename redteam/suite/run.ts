import { glob } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { AuditRecord } from "../../src/records/audit/record.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { AppError, toError } from "../../src/lib/app-error.ts";
import { endSoon, listenForSignals } from "../../src/lib/process/listen-for-signals.ts";
import type { Attack, Evidence, NoRecord, Verdict, WantedRecord } from "./attack.ts";
import { whyNoBrowser } from "./browsing.ts";
import { engineVariables } from "./host.ts";
import { clearLeftovers } from "./leftovers.ts";
import { ownLog } from "./own-host.ts";
import { Stage } from "./stage.ts";

/** The host's event loop must not be kept for longer, whatever the attacker does. */
const loopLagLimitMs = 200;
/** A record follows what it tells within moments, but the attacker may be faster. */
const recordWaitMs = 30_000;
const calmWaitMs = 30_000;
/** A small machine plays one attack after another, or they would make each other late, but for those that only wait. */
const isSmall = availableParallelism() < 4;
/** So many attacks on hosts of their own at once. */
const lanesBeside = isSmall ? 1 : 2;
const casesFolder = join(readEnvironment().checkout, "redteam", "cases");

export interface RunOptions {
  /** Variables of the process; those that name the engine count. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
  readonly attacks: readonly Attack[];
}

/** Every attack there is, by family and number. Each file in `redteam/cases` exports `attacks`. */
export async function loadAttacks(): Promise<readonly Attack[]> {
  const files = await Array.fromAsync(glob("*.ts", { cwd: casesFolder }));
  const found: Attack[] = [];
  for (const file of files.toSorted()) {
    // In this form the program that is built has them too.
    const name = basename(file, ".ts");
    const { attacks } = (await import(`../cases/${name}.ts`)) as { attacks: readonly Attack[] };
    found.push(...attacks);
  }
  const twice = found.find(({ id }, index) => found.findIndex((other) => other.id === id) !== index);
  if (twice) throw new AppError("bad_input", `Two attacks have the id ${twice.id}.`);
  return found;
}

/** `A,B3` → the family A and the attack B3. Throws `bad_input` for what names none. */
export function chooseAttacks(attacks: readonly Attack[], only: string): readonly Attack[] {
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
 * Plays the attacks against one host and tells each verdict as soon as it is there. The host and its home are gone at the
 * end, also when a signal ends it, which is `cancelled`; what a run that was killed has left is cleared first.
 */
export async function* runAttacks(options: RunOptions): AsyncGenerator<Verdict> {
  using signals = listenForSignals();
  const interrupted = signals.received.then(() => "interrupted" as const);
  for await (const verdict of playAll(options, interrupted)) {
    if (verdict !== "interrupted") {
      yield verdict;
      continue;
    }
    // An attack that was left in the middle may still wait for something.
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
    await using stage = await Stage.open(engine, environment);
    using over = new DisposableStack();
    const end = new AbortController();
    over.defer(() => end.abort());
    const greeted = Promise.all([stage.ask("red", "@crab hello"), stage.ask("blue", "@crab hello")]);
    let last: unknown = await Promise.race([greeted, interrupted]);
    const verdicts = playInLanes(stage, attacks, end.signal);
    while (last !== "interrupted") {
      const next = await Promise.race([verdicts.next(), interrupted]);
      if (next !== "interrupted" && next.done === true) return;
      last = next;
      if (next !== "interrupted") yield next.value;
    }
  }
  yield "interrupted";
}

/** Attacks on hosts of their own disturb nobody: they are played beside those on the shared host, which follow one another. */
async function* playInLanes(stage: Stage, attacks: readonly Attack[], end: AbortSignal): AsyncGenerator<Verdict, void> {
  const inTurn = attacks.filter((attack) => !isBeside(attack)).values();
  const beside = attacks.filter(isBeside).values();
  const lanes = [inTurn, ...Array.from({ length: lanesBeside }, () => beside)].map((left) =>
    playEach(stage, left, end),
  );
  const playing = new Map(lanes.map((lane) => [lane, nextOf(lane)]));
  while (playing.size > 0) {
    const { lane, result } = await Promise.race(playing.values());
    if (result.done === true) {
      playing.delete(lane);
      continue;
    }
    playing.set(lane, nextOf(lane));
    yield result.value;
  }
}

type Lane = AsyncGenerator<Verdict, void>;

async function nextOf(lane: Lane): Promise<{ lane: Lane; result: IteratorResult<Verdict, void> }> {
  return { lane, result: await lane.next() };
}

/** Takes what is left, as other lanes may do that have the same. */
async function* playEach(stage: Stage, left: Iterator<Attack>, end: AbortSignal): Lane {
  for (let next = left.next(); next.done !== true && !end.aborted; next = left.next()) {
    const attack = next.value;
    const skipped = attack.skip?.() ?? (attack.needsBrowser === true ? await whyNoBrowser(stage.engine) : undefined);
    if (skipped !== undefined) yield skip(attack, skipped);
    else if (isApart(attack)) yield await playApart(stage, attack);
    else yield await playFairly(attack.needsBrowser === true ? await stage.withBrowser() : stage, attack);
  }
}

function isApart({ audit }: Attack): boolean {
  return audit === ownLog;
}

/** Is it played while others are? */
function isBeside(attack: Attack): boolean {
  return isApart(attack) && (!isSmall || attack.waits === true);
}

/** What the shared host does meanwhile is no concern of this attack. */
async function playApart(stage: Stage, attack: Attack): Promise<Verdict> {
  const begun = performance.now();
  const { holds, seen } = await attempt(stage, attack);
  return judge(attack, begun, { seen, audit: `none: ${ownLog.none}`, faults: holds ? [] : [unexpected] });
}

/**
 * A busy machine keeps the host from the processor as an attack would: an attack that is contained but for that is played
 * up to four times more, when the machine leaves the host in peace, and the last time counts.
 */
async function playFairly(stage: Stage, attack: Attack): Promise<Verdict> {
  const lastBefore = (await stage.recordsAfter(0)).at(-1)?.seq ?? 0;
  let verdict = await play(stage, attack, lastBefore);
  for (let again = 0; again < 4 && isLagOnly(verdict); again += 1) {
    await untilCalm(stage);
    // The record of the first time counts: of refusals that come in bulk only some are told within a minute.
    verdict = await play(stage, attack, lastBefore);
  }
  return verdict;
}

/** Waits, but not for ever, for a second in which the host's event loop is not kept although nobody attacks. */
async function untilCalm(stage: Stage): Promise<void> {
  const limit = AbortSignal.timeout(calmWaitMs);
  do {
    await stage.takeLoopLagMs();
    await delay(1_000);
  } while (!limit.aborted && (await stage.takeLoopLagMs()) > loopLagLimitMs / 4);
}

function isLagOnly({ faults }: Verdict): boolean {
  return faults.length === 1 && faults[0]?.startsWith(lagFault) === true;
}

const unexpected = "the expected state is not there";
const lagFault = "the host's event loop was kept";

async function play(stage: Stage, attack: Attack, lastBefore: number): Promise<Verdict> {
  const begun = performance.now();
  await stage.takeLoopLagMs();
  const [evidence, bystander] = await Promise.all([attempt(stage, attack), watchBystander(stage, attack)]);
  const loopLagMs = await stage.takeLoopLagMs().catch(() => Number.NaN);
  const record = await findRecord(stage, attack.audit, lastBefore);
  const faults = [
    ...(evidence.holds ? [] : [unexpected]),
    ...(record === undefined ? ["there is no such record in the audit log"] : []),
    ...bystander,
    ...judgeLag(attack, loopLagMs),
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

function judgeLag({ hostStaysAwake }: Attack, lagMs: number): string[] {
  if (hostStaysAwake !== true || lagMs < loopLagLimitMs) return [];
  return [`${lagFault} for ${Math.round(lagMs)} ms`];
}

/** What stands in the log, shortly; undefined when the wanted record does not come. */
async function findRecord(stage: Stage, wanted: WantedRecord | NoRecord, after: number): Promise<string | undefined> {
  if ("none" in wanted) return `none: ${wanted.none}`;
  const hash = wanted.command === undefined ? undefined : await stage.hashOfCommand(wanted.command);
  const limit = AbortSignal.timeout(recordWaitMs);
  for (;;) {
    const found = (await stage.recordsAfter(after)).find((record) => fits(record, wanted, hash));
    if (found) return `${found.type} #${found.seq}`;
    if (limit.aborted) return undefined;
    await delay(50);
  }
}

function fits(record: AuditRecord, { type, where }: WantedRecord, hash: string | undefined): boolean {
  const tellsOfIt = hash === undefined || JSON.stringify(record.data["input"] ?? "").includes(hash);
  return record.type === type && tellsOfIt && (where?.(record) ?? true);
}

function skip({ id, title, from, expected }: Attack, why: string): Verdict {
  const nothing = { seen: why, audit: "", faults: [], loopLagMs: undefined, elapsedMs: 0 };
  return { id, title, from, expected, verdict: "skipped", ...nothing };
}
