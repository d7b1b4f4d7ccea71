/**
 * Test files that take more than a minute on a quiet machine (`test/times.json`), each with why it cannot be shorter.
 */
export const slowFiles: Readonly<Record<string, string>> = {
  "test/docker/redteam.test.ts":
    "runs every attack against a real container; those of one scene, one after the other: each is judged by what it sees",
  "test/faults/containers.test.ts": "kills and starves real containers in the middle of turns",
  "test/faults/engine.test.ts": "stops, kills and freezes its own engine, and waits until it is back",
  "test/scenarios/browser.test.ts":
    "installs a browser of some 200 MB into an image, as an operator's group would get it",
  "test/docker/review/crash-points.test.ts":
    "kills a host before each step of decisions on a folder with review; each life starts containers",
  "test/faults/crash-points.test.ts": "kills a host at every step of a turn and starts it anew",
};
