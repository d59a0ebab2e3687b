/** `customer-ended-call` as `Customer ended call`: platforms write end reasons and evaluations as identifiers. */
export function asPhrase(identifier: string): string {
  if (/\s/.test(identifier)) return identifier
  const words = identifier
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[-_.\s]+/)
    .filter(Boolean)
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
    .join(' ')
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : identifier
}
