/** A server's request during a call: values for a form, or an address to open. */
export interface FormRequest {
  readonly server: string;
  /** The tool that was called. */
  readonly tool: string;
  /** In the server's words. */
  readonly message: string;
  /** The operator lets this server ask for texts and for numbers of any size. */
  readonly mayAskText: boolean;
  /** JSON Schema of the values, as the server gives it; or the address. */
  readonly wants: { readonly schema: unknown } | { readonly url: string };
}

export type FormValue = string | number | boolean | string[];

/** Outcome of a form: `decline` is a refusal, `cancel` no answer. */
export interface FilledForm {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, FormValue> | undefined;
}

/** A value that a form asks for. */
export interface FormField {
  readonly name: string;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly label: string;
  readonly required: boolean;
  readonly default?: FormValue | undefined;
  /** Minimum value of a number, length of a text or number of choices. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  readonly format?: "email" | "uri" | "date" | "date-time" | undefined;
  /** Options with their labels, for `choice` and `choices`. */
  readonly options?: readonly { readonly value: string; readonly label: string }[] | undefined;
}
