/** Stands for a verb that is still being built. */
export function notBuilt<Answer>(): Promise<Answer> {
  return Promise.reject(new Error('Not built yet'))
}
