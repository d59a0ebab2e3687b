import type { RecordHash } from '../../db/record-hash.ts'

export const newestFirst = '-createdAt'
/** By the time of creation and then by id: oldest first, or newest first. */
export const timeOrders = ['createdAt', newestFirst] as const
/** Also by duration, shortest or longest first, and then by time and id in the same direction. */
export const callOrders = [...timeOrders, 'duration', '-duration'] as const

export type TimeOrder = (typeof timeOrders)[number]
export type CallOrder = (typeof callOrders)[number]

/** A call's place in the order. */
export interface Place {
  createdAt: number
  id: string
  /** In the orders by duration. */
  duration?: number
}

export function isByDuration(order: CallOrder): order is Exclude<CallOrder, TimeOrder> {
  return order.endsWith('duration')
}

export function isDescending(order: CallOrder): boolean {
  return order.startsWith('-')
}

/** The opposite of each order. */
export const reversed: Record<CallOrder, CallOrder> = {
  createdAt: newestFirst,
  [newestFirst]: 'createdAt',
  duration: '-duration',
  '-duration': 'duration',
}

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

  write({ createdAt, id, duration }: Place, order: string): string {
    const place = `${duration === undefined ? '' : `${duration}@`}${createdAt}.${id}`
    return Buffer.from(this.#mark(order + place) + place).toString('base64url')
  }

  readonly read: ReadCursor = (cursor, order) => {
    const text = Buffer.from(cursor, 'base64url').toString()
    const [, mark, duration, createdAt, id] = cursorPattern.exec(text) ?? []
    if (!createdAt || !id || mark !== this.#mark(order + text.slice(markChars))) return undefined
    return { createdAt: Number(createdAt), id, ...(duration ? { duration: Number(duration) } : {}) }
  }
}
