/** The first signal resolves `received`; the second one ends the process at once, as if it had been killed. */
export function listenForSignals(): Disposable & { readonly received: Promise<void> } {
  const first = Promise.withResolvers<void>();
  let count = 0;
  const onSignal = (): void => {
    count += 1;
    first.resolve();
    if (count > 1) process.exit(130);
  };
  const names = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  for (const name of names) process.on(name, onSignal);
  return {
    received: first.promise,
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}

/** Ends the process in a moment, even if something that was left in the middle still waits. */
export function endSoon(): void {
  setTimeout(() => process.exit(130), lingerMs).unref();
}

const lingerMs = 2_000;
