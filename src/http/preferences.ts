/** Whether a request prefers that, such as `handling=strict` (RFC 7240, 2). */
export function prefers({ headers }: Request, preference: 'handling=strict' | 'return=minimal'): boolean {
  const header = headers.get('prefer')
  if (header === null) return false
  const plain = header.toLowerCase().replace(/[\s"]/g, '')
  return plain.split(',').some((one) => one.split(';', 1)[0] === preference)
}
