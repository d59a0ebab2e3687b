/** Returns the error that a promise rejects with. Fails if it resolves. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('It was expected to fail')
}

/** Whether a promise resolves. */
export async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  )
}
