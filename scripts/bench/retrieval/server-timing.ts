/** The durations of a `Server-Timing` header (W3C Server Timing) in milliseconds, by name. */
export function readServerTiming(header: string | null): Record<string, number> {
  const timing: Record<string, number> = {}
  for (const part of header?.split(',') ?? []) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const duration = parameters.map((parameter) => /^dur="?([\d.]+)"?$/i.exec(parameter)?.[1]).find(Boolean)
    if (name !== '' && duration !== undefined) timing[name] = Number(duration)
  }
  return timing
}
