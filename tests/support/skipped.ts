/** Says why tests of the file that runs are skipped. `bun run test` lists it at its end. */
export function skipped(reason: string): null {
  console.log(`Skipped here: ${reason}`)
  return null
}
