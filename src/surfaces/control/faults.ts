import { AppError } from "../../lib/app-error.ts";

interface Fault {
  readonly status: number;
  readonly body: { readonly error: { readonly code: string; readonly message: string; readonly fix?: string } };
}

/**
 * Describes an error to the caller. Faults of a request that the web framework found keep their status; a fault of ours
 * is not told.
 */
export function toControlFault(error: Error): Fault {
  if (error instanceof AppError) {
    const { httpStatus: status, code, message, fix } = error;
    return { status, body: { error: { code, message, ...(fix !== undefined && { fix }) } } };
  }
  const status = "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 500;
  if (status < 500) return { status, body: { error: { code: "bad_input", message: error.message } } };
  return { status: 500, body: { error: { code: "failed", message: "The host could not do this; see its log." } } };
}
