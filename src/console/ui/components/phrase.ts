const anIdentifier = /^\p{L}[\p{L}\p{N}]*(?:[-_.]+[\p{L}\p{N}]+)*$/u

/**
 * `customer-ended-call` as `Customer ended call`: platforms write end reasons and evaluations as identifiers. Any other
 * text, such as `A-` and `7.5`, is left as it is.
 */
export function asPhrase(identifier: string): string {
  if (!anIdentifier.test(identifier)) return identifier
  const words = identifier
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[-_.\s]+/)
    .filter(Boolean)
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
    .join(' ')
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : identifier
}
