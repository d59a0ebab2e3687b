import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ByteSearch, ByteSearchResult } from '../../scripts/torture/byte-search.ts'
import { vectorsOf } from '../../scripts/torture/vectors.ts'
import { freshFolder } from '../support/at-end.ts'
import { repository } from '../support/process.ts'

const folder = freshFolder()

const gone = { name: 'Item bcdfghjklmnpqrtvwx', text: 'Refunds take a week, invoices a day. '.repeat(60) }
const there = { name: 'Item xwvtrqpnmlkjhgfdcb', text: gone.text }
const vectors = await vectorsOf(gone)
const vectorFile = join(folder, 'vectors')
writeFileSync(vectorFile, Buffer.concat(vectors))

async function search(bytes: Buffer | string): Promise<ByteSearchResult> {
  const searched = join(folder, crypto.randomUUID())
  mkdirSync(join(searched, 'deep'), { recursive: true })
  writeFileSync(join(searched, 'deep', 'file'), bytes)
  const request: ByteSearch = {
    folder: searched,
    words: ['bcdfghjklmnpqrtvwx', '491234567890123'],
    vectorFile,
  }
  const child = Bun.spawn(['bun', join(repository, 'scripts/torture/byte-search.ts')], {
    stdin: Buffer.from(JSON.stringify(request)),
  })
  return await new Response(child.stdout).json()
}

const [, second = Buffer.alloc(0)] = vectors
const remains: [string, Buffer | string, string][] = [
  ['the end of a word, in capitals', '--XXLMNPQRTVWX--', 'bcdfghjklmnpqrtvwx'],
  ['the beginning of a word, cut off', 'rbcdfghjklm', 'bcdfghjklmnpqrtvwx'],
  ['a part of a phone number', 'tel:2345678901', '491234567890123'],
  ['a vector', second, 'vector 1'],
  [
    'two hundred bytes of a vector at an odd place',
    Buffer.concat([Buffer.alloc(4_099, 7), second.subarray(901, 1_101)]),
    'vector 1',
  ],
]

test.each(remains)('%s is found', async (_, bytes, what) => {
  const { found } = await search(bytes)
  expect(found).toEqual([{ file: 'file', what }])
})

test('nothing is found in other records', async () => {
  const others = Buffer.concat([
    ...(await vectorsOf(there)),
    Buffer.from('xwvtrqpnmlkjhgfdcb 419876543210123'),
  ])
  expect(await search(others)).toEqual({ bytes: others.length, found: [] })
})
