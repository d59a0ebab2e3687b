import { uuidv7obj } from 'uuidv7'

/** A call's id. Never `.` or `..`, which have a meaning in paths. */
export const callIdPattern = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/

type IdPrefix =
  | 'prj'
  | 'key'
  | 'kn'
  | 'per'
  | 'inv'
  | 'wh'
  | 'era'
  | 'hold'
  | 'ana'
  | 'alr'
  | 'set'
  | 'acc'
  | 'msg'
  | 'imp'
  | 'case'

/** A new id such as `kn_0199…`: UUIDv7 (RFC 9562) in hex, so that ids sort by creation time. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${uuidv7obj().toHex()}`
}
