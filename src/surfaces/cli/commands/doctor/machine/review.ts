import { randomBytes } from "node:crypto";

import { readInstance } from "../../../../../config/home/home.ts";
import { reviewFault } from "../../../../../sandbox/review/review-fault.ts";
import { sandboxSize } from "../../../../../sandbox/profile/profile.ts";
import type { CheckResult } from "../check.ts";
import { bad, good, warning } from "../check.ts";
import type { SandboxOptions } from "./sandbox.ts";

/** Tries a mount with review. Where none can be had that is a failure only if a group asks for one. */
export async function checkReview(
  { engine, imageId, sandbox, paths }: SandboxOptions,
  isWanted: boolean,
): Promise<CheckResult> {
  const image = await engine.image(imageId);
  if (image === undefined) return bad("review", `The image ${imageId} is missing.`);
  const instance = (await readInstance(paths.instance)) ?? randomBytes(8).toString("hex");
  const fault = await reviewFault({
    engine,
    instance,
    folder: paths.reviews,
    image: () => Promise.resolve(image),
    sandbox: () => sandboxSize(sandbox),
    looking: new Set(),
  });
  if (fault === undefined) return good("review", "A folder was mounted with review, and nothing got into it.");
  const fix = "Use access: ro, or rw where agents may change files at once; see docs/security.md.";
  return isWanted ? bad("review", fault, fix) : warning("review", fault, fix);
}
