import { distance } from 'fastest-levenshtein'

const nameCharsMax = 100
/** Of shorter names, one letter makes another word: `test` of `text`, `top` of `to`. */
const slipCharsMin = 5

/** Whether this is the name; one such as `analysis.KEY` stands for every name with that prefix. */
export function isNamed(name: string, known: string): boolean {
  const prefix = known.slice(0, known.indexOf('.') + 1)
  return name === known || (prefix !== '' && name.startsWith(prefix))
}

/** Of the names that are known, the one most like this. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = bareName(name.slice(0, nameCharsMax))
  const byDistance = known.map((each) => ({ each, letters: distance(wanted, bareName(each)) }))
  return byDistance.sort((a, b) => a.letters - b.letters)[0]?.each
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
export function isOneSlip(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > 1) return false
  const letters = distance(name, known)
  if (letters !== 2 || name.length !== known.length) return letters === 1 && known.length >= slipCharsMin
  const at = [...name].findIndex((letter, place) => letter !== known[place])
  return (
    name[at] === known[at + 1] && name[at + 1] === known[at] && name.slice(at + 2) === known.slice(at + 2)
  )
}
