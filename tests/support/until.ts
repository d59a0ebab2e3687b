const withinMs = 40_000

/** Waits until something is so; fails when it does not become so for long. */
export async function until(condition: () => Promise<boolean> | boolean, what = 'It'): Promise<void> {
  const started = performance.now()
  while (!(await condition())) {
    const waitedMs = performance.now() - started
    if (waitedMs > withinMs) throw new Error(`${what} did not happen in time`)
    // The longer it takes, the less often it is looked at: looking takes processor time from what is waited for.
    await Bun.sleep(Math.min(30 + waitedMs / 10, 200))
  }
}
