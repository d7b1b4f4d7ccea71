import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Mebibytes of this process's heap that are in use once everything is gone that can go: other tests leave garbage. */
export function heapUsedMb(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
