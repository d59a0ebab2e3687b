/** Milliseconds since 1970: `from` is included, `to` is not. */
export type Period = Record<'from' | 'to', number>

export const dayMs = 86_400_000
/** Until the year 10000: no call is created later. */
export const allTime: Period = { from: 0, to: Date.UTC(10_000, 0, 1) }
