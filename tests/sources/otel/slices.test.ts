import { expect, test } from 'bun:test'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { spansOfLogs } from '../../../src/sources/otel/livekit-report.ts'
import { spansOf } from '../../../src/sources/otel/otlp.ts'
import { decodeRequest } from '../../../src/sources/otel/protobuf.ts'

const records = 100

function message(field: number, ...parts: Uint8Array[]): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(Buffer.concat(parts)).finish()
}

/** A request of records with very many attributes of two bytes. @param attributes their field in a record */
function requestOf(scope: string, attributes: number): Uint8Array {
  const attribute = message(attributes)
  const record = Buffer.concat(Array.from({ length: 40_000 }, () => attribute))
  const name = message(1, Buffer.from(scope))
  return message(
    1,
    message(2, message(1, name), ...Array.from({ length: records }, () => message(2, record))),
  )
}

async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await work
  isDone = true
  return turns
}

test.each([
  ['spans', () => spansOf(decodeRequest(requestOf('livekit-agents', 9)), new Set(['livekit-agents']))],
  ['logs', () => spansOfLogs(requestOf('chat_history', 6))],
])('few %s of very many attributes let others have a turn in between', async (_, read) => {
  expect(await turnsDuring(read())).toBeGreaterThan(records / 4)
})
