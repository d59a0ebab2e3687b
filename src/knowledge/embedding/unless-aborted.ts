/**
 * What the work comes to, or a rejection as soon as the signal aborts. The signal, which may live as long as the service,
 * keeps nothing of work that is done.
 */
export async function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  toError: () => Error,
): Promise<Value> {
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(toError())
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
