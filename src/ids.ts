import { uuidv7obj } from 'uuidv7'

export type IdPrefix = 'prj' | 'key' | 'kn' | 'per' | 'inv' | 'wh' | 'era' | 'hold'

/** A new id such as `kn_0199…`: UUIDv7 (RFC 9562) in hex, so that ids sort by creation time. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${uuidv7obj().toHex()}`
}
