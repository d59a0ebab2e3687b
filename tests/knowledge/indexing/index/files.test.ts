import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { meta } from '../../../../src/db/schema.ts'
import { loadAddon } from '../../../../src/knowledge/indexing/index/addon.ts'
import { IndexFiles } from '../../../../src/knowledge/indexing/index/files.ts'
import { dimensions, Knowledge, labelsOf, space } from './knowledge.ts'

const knowledge = await Knowledge.open()
const files = new IndexFiles(knowledge.indexFolder)
const project = await knowledge.addProject()
await project.insertRandom(60)
const index = knowledge.openIndex()
await index.reconcile(project.id)
const gone = project.labels.slice(0, 5)
await project.delete(gone)
await index.remove(project.id, gone)
await index.close()
/** A sound file of 60 vectors, of which 5 are gone. */
const sound = readFileSync(knowledge.file(project))

const expected = { generation: '', space, dimensions }

function check() {
  return files.check(project.id, expected)
}

/** The next start must find everything, say why it did not use the file, and leave a sound one. */
async function expectBuiltAnew(problem: RegExp | null, options: { space?: string } = {}): Promise<void> {
  knowledge.log.length = 0
  const index = knowledge.openIndex(options)
  const state = await index.reconcile(project.id)
  expect(state).toMatchObject({ vectors: project.labels.length, tombstones: 0 })
  for (const [label, vector] of project.vectors)
    expect(labelsOf(await index.search(project.id, vector, 1))).toEqual([label])
  await index.close()
  if (problem) expect(String(knowledge.log[0]?.fields.problem)).toMatch(problem)
  expect(knowledge.log).toHaveLength(problem ? 1 : 0)
}

test('a saved file is sound, names its labels, and is a file of hnswlib', async () => {
  writeFileSync(knowledge.file(project), sound)
  const { saved, problem } = await check()
  expect(problem).toBeNull()
  expect(saved?.labels.toSorted((a, b) => a - b)).toEqual(project.labels)
  expect(saved?.deadLabels).toHaveLength(5)
  expect(saved?.dimensions).toBe(dimensions)

  const { hnswlib } = loadAddon()
  if (!hnswlib) throw new Error('no addon')
  const plain = new hnswlib.HierarchicalNSW('ip', dimensions)
  plain.readIndexSync(knowledge.file(project))
  expect(plain.getCurrentCount()).toBe(60)
  for (const [label, vector] of project.vectors) expect(plain.searchKnn(vector, 1).neighbors).toEqual([label])
})

test('a file truncated at any offset is refused', async () => {
  for (let length = 0; length < sound.length; length += 61) {
    writeFileSync(knowledge.file(project), sound.subarray(0, length))
    const { saved, problem } = await check()
    expect({ length, saved, refused: problem !== null }).toEqual({ length, saved: null, refused: true })
  }
})

test('a file with one bit flipped at any offset is refused', async () => {
  for (let place = 0; place < sound.length; place += place < 200 || place > sound.length - 200 ? 1 : 13) {
    const damaged = Buffer.from(sound)
    damaged.writeUInt8(damaged.readUInt8(place) ^ (1 << (place % 8)), place)
    writeFileSync(knowledge.file(project), damaged)
    const { saved, problem } = await check()
    expect({ place, saved, refused: problem !== null }).toEqual({ place, saved: null, refused: true })
  }
})

test('a file of zeros or noise, with appended bytes or with swapped parts is refused', async () => {
  const noise = Buffer.from(Array.from({ length: sound.length }, () => Math.floor(knowledge.random() * 256)))
  const swapped = Buffer.from(sound)
  sound.copy(swapped, 96, 400, 700)
  for (const damaged of [
    Buffer.alloc(sound.length),
    noise,
    Buffer.concat([sound, Buffer.alloc(1)]),
    swapped,
  ]) {
    writeFileSync(knowledge.file(project), damaged)
    expect((await check()).problem).not.toBeNull()
  }
})

test('a file of another database, space or dimension is refused', async () => {
  writeFileSync(knowledge.file(project), sound)
  expect((await files.check(project.id, { ...expected, generation: 'restored' })).problem).toMatch(/database/)
  expect((await files.check(project.id, { ...expected, space: 'other' })).problem).toMatch(/space/)
  expect((await files.check(project.id, { ...expected, dimensions: 48 })).problem).toMatch(/24 dimensions/)
  expect((await files.check(project.id, { ...expected, dimensions: null })).problem).toBeNull()
})

test('a save that a full disk has cut off at any offset says so', async () => {
  const header = { ...expected, knowledgeVersion: 1 }
  for (let length = 0; length < sound.length - 200; length += 1_013) {
    const write = async (path: string) => writeFileSync(path, sound.subarray(0, length))
    const failed = await files.save(project.id, header, { write, isLive: () => true }).catch(String)
    expect(failed).toContain('is the disk full?')
  }
})

test('a missing file is no fault', async () => {
  rmSync(knowledge.file(project), { force: true })
  expect(await check()).toEqual({ saved: null, problem: null })
  await expectBuiltAnew(null)
})

test('a truncated file is rebuilt from the rows', async () => {
  writeFileSync(knowledge.file(project), sound.subarray(0, sound.length / 2))
  await expectBuiltAnew(/truncated/)
})

test('a damaged file is rebuilt from the rows', async () => {
  const damaged = Buffer.from(sound)
  damaged.fill(255, 200, 260)
  writeFileSync(knowledge.file(project), damaged)
  await expectBuiltAnew(/digest/)
})

test('an empty file is rebuilt from the rows', async () => {
  writeFileSync(knowledge.file(project), '')
  await expectBuiltAnew(/truncated/)
})

test('a folder at the path of a file is replaced', async () => {
  rmSync(knowledge.file(project))
  mkdirSync(join(knowledge.file(project), 'inside'), { recursive: true })
  await expectBuiltAnew(/not a file|EISDIR/)
})

test('a file of another generation of the database is rebuilt from the rows', async () => {
  await knowledge.database.write.insert(meta).values({ name: 'generation', value: 'restored' })
  await expectBuiltAnew(/another database/)
  await knowledge.database.write.delete(meta)
})

test('the temporary file of an interrupted save is deleted at the start', async () => {
  const left = `${knowledge.file(project)}.tmp`
  writeFileSync(left, 'vectors')
  const follower = knowledge.openIndex({ savesFiles: false })
  await follower.reconcile(project.id)
  expect(existsSync(left)).toBe(true)
  const owner = knowledge.openIndex()
  await owner.reconcile(project.id)
  expect(readdirSync(knowledge.indexFolder).filter((name) => name.endsWith('.tmp'))).toEqual([])
})
