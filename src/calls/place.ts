import type { RecordHash } from '../db/record-hash.ts'

/** By the time of creation and then by id: newest first, or oldest first. */
export type CallOrder = typeof newestFirst | 'createdAt'
export const newestFirst = '-createdAt'

/** A call's place in the order. */
export interface Place {
  createdAt: number
  id: string
}

/** Reads a cursor that a client sends back. @returns undefined unless it was made for this project and order */
export type ReadCursor = (cursor: string, order: CallOrder) => Place | undefined

const markChars = 16
const cursorPattern = /^([0-9a-f]{16})(\d{1,15})\.([A-Za-z0-9._:-]{1,128})$/

/** Writes and reads the cursors of a project: a place, and a mark without which it could not be made. */
export class Cursors {
  readonly #mark: (text: string) => string

  constructor(recordHash: RecordHash, projectId: number) {
    this.#mark = (text) => recordHash(projectId, 'cursor', text).slice(0, markChars)
  }

  write({ createdAt, id }: Place, order: CallOrder): string {
    const place = `${createdAt}.${id}`
    return Buffer.from(this.#mark(order + place) + place).toString('base64url')
  }

  readonly read: ReadCursor = (cursor, order) => {
    const text = Buffer.from(cursor, 'base64url').toString()
    const [, mark, createdAt, id] = cursorPattern.exec(text) ?? []
    if (!createdAt || !id || mark !== this.#mark(`${order}${createdAt}.${id}`)) return undefined
    return { createdAt: Number(createdAt), id }
  }
}
