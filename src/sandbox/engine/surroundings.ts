/**
 * Settings that select the container engine: the environment (DOCKER_HOST, DOCKER_CONTEXT …) and the user's home
 * folder.
 */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
}
