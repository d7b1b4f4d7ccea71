import { plainSentence } from "../lib/plain-words.ts";
import type { MountEvents, MountOwner } from "../sandbox/pool/mount-watch.ts";
import type { TellOperator } from "./alerts.ts";
import type { AppContext } from "./context.ts";

/** What is told one by one of what one look has found; the rest is counted. An agent can make as many as it likes. */
const mostTold = 100;
/** Names that one sentence holds. */
const mostNamed = 5;

type Parts = Pick<AppContext, "record" | "logger" | "store" | "clock">;

/** Puts what is found in mounts on record, and tells the operator: in the log by name, in a main group by number. */
export function createMountEvents({ record, logger, store, clock }: Parts, tell: TellOperator): MountEvents {
  // The host's own log is what `crabpot logs` shows of a group as well.
  const warn = (owner: MountOwner, text: string): void => logger.warn({ ...owner }, text);
  return {
    setIdRemoved: async (owner, files) => {
      const data = { files: files.slice(0, mostTold), count: files.length };
      await record({ type: "setuid-removed", ...owner, actor: "host", data });
      warn(
        owner,
        `setuid or setgid was taken away from ${named(files.map(({ folder, path }) => `${folder}/${path}`))}`,
      );
    },
    executionPoints: async (owner, turn, changes) => {
      const told = changes.slice(0, mostTold);
      for (const point of told) {
        await record({ type: "execution-point", ...owner, turn, actor: "agent", data: { ...point } });
      }
      const count = changes.length === 1 ? "a file" : `${changes.length} files`;
      const about = turn === undefined ? `crabpot logs --group ${owner.group}` : `crabpot turns show ${turn}`;
      tell({
        text: `The agent of group ${owner.group} has changed ${count} in a mounted folder that programs of yours may run by themselves. Look before you work there: ${about}`,
        hiddenFrom: owner.group,
      });
      const omitted = changes.length - told.length;
      if (omitted > 0) await record({ type: "execution-point", ...owner, turn, actor: "agent", data: { omitted } });
      if (turn !== undefined) await store.executionPoints.add(turn, told, clock.now());
      const places = changes.map(({ target, path, change }) => `${target}/${path} (${change})`);
      warn(owner, `look before you use these on the host, where programs run them by themselves: ${named(places)}`);
    },
    secretsAppeared: async (owner, files) => {
      const data = { secrets: files.slice(0, mostTold), count: files.length };
      await record({ type: "mount-verdict", ...owner, actor: "host", data });
      const places = files.map(({ target, path }) => `${target}/${path}`);
      warn(owner, `what looks like secrets has appeared where the agent can read it: ${named(places)}`);
    },
    refused: async (owner, reason) => {
      await record({ type: "mount-verdict", ...owner, actor: "host", data: { refused: reason } });
      warn(owner, reason);
      tell({ text: `Group ${owner.group} does not get one of its mounts any more: ${plainSentence(reason)}` });
    },
  };
}

function named(places: readonly string[]): string {
  const more = places.length - mostNamed;
  return `${places.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
