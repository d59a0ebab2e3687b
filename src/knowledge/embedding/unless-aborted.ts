/**
 * The result of the work, or a rejection as soon as the signal aborts. Leaves no listener on the signal, which may live
 * as long as the service.
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
