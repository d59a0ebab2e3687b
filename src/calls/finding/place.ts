import type { RecordHash } from '../../db/record-hash.ts'

export const newestFirst = '-createdAt' as const
/** By the time of creation and then by id: oldest first, or newest first. */
export const timeOrders = ['createdAt', newestFirst] as const

export type TimeOrder = (typeof timeOrders)[number]

/** A call's place in the order. */
export interface Place {
  createdAt: number
  id: string
  /** In the orders by a value: see value-order.ts. */
  value?: number
}

export function isDescending(order: TimeOrder): boolean {
  return order.startsWith('-')
}

/** The opposite of each order. */
export const reversed: Record<TimeOrder, TimeOrder> = { createdAt: newestFirst, [newestFirst]: 'createdAt' }

/** Reads a client's cursor. @returns undefined unless it was made for this project and order */
export type ReadCursor = (cursor: string, order: string) => Place | undefined

const markChars = 16
const cursorPattern = /^([0-9a-f]{16})(?:([\d.e+-]{1,24})@)?(\d{1,15})\.([A-Za-z0-9._:-]{1,128})$/

/** Writes and reads the cursors of a project. A cursor has a place and a signature. */
export class Cursors {
  readonly #mark: (text: string) => string

  constructor(recordHash: RecordHash, projectId: number) {
    this.#mark = (text) => recordHash(projectId, 'cursor', text).slice(0, markChars)
  }

  write({ createdAt, id, value }: Place, order: string): string {
    const place = `${value === undefined ? '' : `${value}@`}${createdAt}.${id}`
    return Buffer.from(this.#mark(order + place) + place).toString('base64url')
  }

  readonly read: ReadCursor = (cursor, order) => {
    const text = Buffer.from(cursor, 'base64url').toString()
    const [, mark, value, createdAt, id] = cursorPattern.exec(text) ?? []
    if (!createdAt || !id || mark !== this.#mark(order + text.slice(markChars))) return undefined
    return { createdAt: Number(createdAt), id, ...(value ? { value: Number(value) } : {}) }
  }
}
