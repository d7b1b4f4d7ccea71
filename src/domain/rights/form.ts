/** What a server asks people for while it works on a call: values for a form, or that somebody opens an address. */
export interface FormRequest {
  readonly server: string;
  /** The tool that was called. */
  readonly tool: string;
  /** In the server's words. */
  readonly message: string;
  /** JSON Schema of the values, as the server gives it; or the address. */
  readonly wants: { readonly schema: unknown } | { readonly url: string };
}

export type FormValue = string | number | boolean | string[];

/** What came of it: `decline` is a no, `cancel` that nobody said either. */
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
  /** Of a number; of a text, how long; of choices, how many. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  readonly format?: "email" | "uri" | "date" | "date-time" | undefined;
  /** Of `choice` and `choices`: what can be chosen, and what people see of it. */
  readonly options?: readonly { readonly value: string; readonly label: string }[] | undefined;
}
