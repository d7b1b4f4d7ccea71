import type * as z from "zod";

import { AppError } from "../../lib/app-error.ts";

/** What is wrong with a request, in one line. */
export function sayWhatIsWrong(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join(".") || "request"}: ${issue.message}`).join("; ");
}

/** Faults of the caller that the web framework found keep their status; what is left is ours and is not told. */
export function describe(error: Error): { status: number; code: string; message: string } {
  if (error instanceof AppError) return { status: error.httpStatus, code: error.code, message: error.message };
  const status = "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 500;
  if (status < 500) return { status, code: "bad_input", message: error.message };
  return { status: 500, code: "failed", message: "The host failed to do this; its log says why." };
}
