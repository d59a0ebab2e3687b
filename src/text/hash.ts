/** One step of FNV-1a over UTF-16 code units. */
export function nextHash(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}
