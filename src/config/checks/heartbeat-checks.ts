import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import type { Config } from "../schema/config.ts";
import { missing } from "./missing.ts";

interface Written {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly route?: string | undefined;
}

/** Hours with one end, or with none in them, and routes that lead nowhere. */
export function checkHeartbeats({ heartbeat, groups, models }: Config): ConfigFault[] {
  const routes = Object.keys(models.routes);
  const ofGroups = Object.entries(groups).flatMap(([name, { heartbeat: own }]) =>
    own === undefined || own === "off" ? [] : [{ path: ["groups", name, "heartbeat"], written: own }],
  );
  const ofAll = heartbeat === "off" ? [] : [{ path: ["heartbeat"], written: heartbeat }];
  return [...ofAll, ...ofGroups].flatMap(({ path, written }) => check(path, written, routes));
}

function check(path: readonly string[], { from, to, route }: Written, routes: readonly string[]): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const fault = (key: string, detail: string): void => void faults.push({ path: formatPath([...path, key]), detail });
  if (from !== undefined && to === undefined) fault("to", "is missing; from and to go together");
  if (to !== undefined && from === undefined) fault("from", "is missing; from and to go together");
  if (from !== undefined && from === to) fault("to", `is the same as from, ${from}; leave both out for the whole day`);
  if (route !== undefined && !routes.includes(route)) {
    faults.push(missing([...path, "route"], "route", route, routes));
  }
  return faults;
}
