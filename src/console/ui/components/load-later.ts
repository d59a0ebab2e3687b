const againAfterMs = 5_000

/** Loads code that a page can do without for a while: after a delay, and again until the service answers. */
export async function loadLater<Module>(load: () => Promise<Module>, afterMs: number): Promise<Module> {
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  try {
    return await load()
  } catch {
    return await loadLater(load, againAfterMs)
  }
}
