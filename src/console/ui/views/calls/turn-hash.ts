/** `#turn-12` of an address names the twelfth turn. Indexes of turns count from 0. */
export function turnOfHash(hash: string): number | null {
  const [, index] = /^#?turn-(\d{1,5})$/.exec(hash) ?? []
  return index === undefined || Number(index) === 0 ? null : Number(index) - 1
}

export function hashOfTurn(index: number): string {
  return `turn-${index + 1}`
}
