/** The groups of digits after the calling code, for countries that do not write groups of three. */
const groups: Record<string, number[]> = {
  '1': [3, 3, 4],
  '7': [3, 3, 2, 2],
  '30': [3, 3, 4],
  '31': [2, 3, 4],
  '32': [3, 2, 2, 2],
  '33': [1, 2, 2, 2, 2],
  '41': [2, 3, 2, 2],
  '44': [4, 6],
  '45': [2, 2, 2, 2],
  '46': [2, 3, 2, 2],
  '47': [3, 2, 3],
  '52': [2, 4, 4],
  '55': [2, 5, 4],
  '61': [3, 3, 3],
  '65': [4, 4],
  '81': [2, 4, 4],
  '82': [2, 4, 4],
  '86': [3, 4, 4],
  '90': [3, 3, 2, 2],
  '91': [5, 5],
  '353': [2, 3, 4],
  '358': [2, 3, 4],
  '852': [4, 4],
}

/** Calling codes of two digits; besides these and 1 and 7, each has three. */
const ofTwo = /^(2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/

/**
 * `+15555644120` as `+1 555 564 4120`. Spaces are all it adds, so the number can be read and still be dialled; what is
 * not an international number stays as it is.
 */
export function formatNumber(number: string): string {
  const [, digits] = /^\+([1-9]\d{6,14})$/.exec(number) ?? []
  if (digits === undefined) return number
  const codeLength = /^[17]/.test(digits) ? 1 : ofTwo.test(digits) ? 2 : 3
  const code = digits.slice(0, codeLength)
  const rest = digits.slice(codeLength)
  const own = groups[code]
  const lengths =
    own && own.reduce((sum, length) => sum + length, 0) === rest.length ? own : inThrees(rest.length)
  let from = 0
  const parts = lengths.map((length) => {
    from += length
    return rest.slice(from - length, from)
  })
  return `+${[code, ...parts].join(' ')}`
}

/** `[3, 3, 4]` for ten: a single remaining digit joins the last group. */
function inThrees(length: number): number[] {
  const lengths = Array.from({ length: Math.max(1, Math.floor(length / 3)) }, () => 3)
  const rest = length - lengths.length * 3
  const last = lengths.length - 1
  return rest === 2 ? [...lengths, 2] : lengths.map((each, at) => (at === last ? each + rest : each))
}
