/** `#turn-12` of an address names the turn of that index in the transcript, from 0 as in the API. */
export function turnOfHash(hash: string): number | null {
  const [, index] = /^#?turn-(\d{1,5})$/.exec(hash) ?? []
  return index === undefined ? null : Number(index)
}

export function hashOfTurn(index: number): string {
  return `turn-${index}`
}
