import { distance } from 'fastest-levenshtein'

const nameCharsMax = 100
/** Of shorter names, one letter makes another word: `test` of `text`, `top` of `to`. */
const slipCharsMin = 5
const partCharsMin = 4
/** The share of other letters from which a name is no longer like another. */
const differenceMax = 2 / 3

/** Whether this is the name; one such as `analysis.KEY` stands for every name with that prefix. */
export function isNamed(name: string, pattern: string): boolean {
  const prefix = pattern.slice(0, pattern.indexOf('.') + 1)
  return name === pattern || (prefix !== '' && name.startsWith(prefix))
}

/** Returns the name most like this one: one that has it as a part, or shares more than a third of its letters. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const bare = bareName(name.slice(0, nameCharsMax))
  const byDistance = names.map((each) => {
    const other = bareName(each)
    const isPart = bare.length >= partCharsMin && other.includes(bare)
    return { each, share: isPart ? 0 : distance(bare, other) / Math.max(bare.length, other.length) }
  })
  const [nearest] = byDistance.sort((a, b) => a.share - b.share)
  return nearest && nearest.share < differenceMax ? nearest.each : undefined
}

/** What to say of a name that is not known. */
export function unknownName(nearest: string | undefined): string {
  return nearest ? `is not known; the nearest name is ${nearest}` : 'is not known'
}

/** Makes `caller_number` and `callerNumber` equal. */
export function bareName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Whether two letters exchanged make one name the other, or, of a longer one, a letter too many, too few or another. */
export function isOneSlip(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 1) return false
  const letters = distance(name, other)
  if (letters !== 2 || name.length !== other.length) return letters === 1 && other.length >= slipCharsMin
  const at = [...name].findIndex((letter, place) => letter !== other[place])
  return (
    name[at] === other[at + 1] && name[at + 1] === other[at] && name.slice(at + 2) === other.slice(at + 2)
  )
}
