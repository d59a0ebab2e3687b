/** The first letter of a name, for a small square that stands for it. */
export function initialOf(name: string): string {
  return (Array.from(name.trim())[0] ?? '?').toUpperCase()
}
