/** `customer-ended-call` as `Customer ended call`: platforms write end reasons as identifiers. */
export function asReason(reason: string): string {
  if (/\s/.test(reason)) return reason
  const words = reason
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[-_.\s]+/)
    .filter(Boolean)
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
    .join(' ')
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : reason
}
