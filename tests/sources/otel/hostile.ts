import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** A field of a message that holds these parts. */
export function message(field: number, ...parts: Uint8Array[]): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(Buffer.concat(parts)).finish()
}

/** A request of one scope. @param part the spans or the log records, encoded */
export function requestIn(scope: string, ...part: Uint8Array[]): Uint8Array {
  return message(1, message(2, message(1, message(1, Buffer.from(scope))), ...part))
}

const skipped = new BinaryWriter().tag(15, WireType.Varint).uint32(1).finish()
const span = (...fields: Uint8Array[]) => message(2, ...fields)

/**
 * Requests of more fields than are read.
 * @param scope one that is read @param attributes the number of this field in a span or a log record
 */
export function hostileRequests(scope: string, attributes: number) {
  const many = (count: number, bytes: Uint8Array) => Buffer.alloc(count * bytes.byteLength, bytes)
  const requests: [string, Buffer | Uint8Array][] = [
    ['skipped', many(500_001, skipped)],
    ['empty lists', many(500_001, message(1))],
    ['overwritten', message(1, message(2, many(250_001, message(1, message(1)))))],
    ['skipped in a span', requestIn(scope, span(many(20_001, skipped)))],
    ['overwritten in a span', requestIn(scope, span(many(20_001, message(5))))],
    ['attributes of a span', requestIn(scope, span(many(20_001, message(attributes))))],
    ['of many spans', requestIn(scope, many(26, span(many(19_900, skipped))))],
    ['empty spans', requestIn(scope, many(50_001, span()))],
  ]
  return requests.map(([name, body]) => [name, new Uint8Array(body)] as const)
}
