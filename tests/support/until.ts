const withinMs = 40_000

/** Waits until something is so; fails when it does not become so for long. */
export async function until(condition: () => Promise<boolean> | boolean, what = 'It'): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen in time`)
    await Bun.sleep(30)
  }
}
