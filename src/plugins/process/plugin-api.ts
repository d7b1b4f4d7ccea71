/**
 * `crabpot/plugin` as plugins get it in their process; beside `plugin-main` in the sources as in the program that
 * set-up builds.
 */
export * from "../plugin.ts";
