/** A model of the configuration's routes, or of which something was learned. */
export interface ModelView {
  /** `provider/model` */
  readonly name: string;
  /** Those that name it. */
  readonly routes: readonly string[];
  /** What holds: the learned window where that is smaller. */
  readonly windowTokens: number;
  /** As its server's refusals have told, and when; left out: they have not. */
  readonly learned?: { readonly windowTokens: number; readonly at: number } | undefined;
  /** What estimates of prompts are multiplied by, as it has counted them; left out: it has not. */
  readonly factor?: number | undefined;
}

/** What can be asked of a running host about models. */
export interface ModelOperations {
  listModels(): Promise<readonly ModelView[]>;
  /** Forgets what was learned of this model, or of all. Returns the models of which something was. Rejects with `not_found`. */
  forgetModels(name: string | undefined): Promise<readonly string[]>;
}
