import { expect, test } from 'bun:test'

// The client takes the page's origin as it is loaded.
Object.assign(globalThis, { location: { origin: 'http://127.0.0.1' } })
const { api, pathOf, read, readPages } = await import('../../../src/console/ui/api.ts')
const { sentenceOf } = await import('../../../src/console/ui/components/field-errors.ts')
Reflect.deleteProperty(globalThis, 'location')

const of = api.projects({ project: 'prj_1' })

test('an address knows its path, with the ids in it', () => {
  expect(pathOf(of.keys)).toEqual(['projects', 'prj_1', 'keys'])
  expect(pathOf(of.webhooks({ id: 'whk_1' }).attempts)).toEqual([
    'projects',
    'prj_1',
    'webhooks',
    'whk_1',
    'attempts',
  ])
})

test('an answer is cached below its address, so that a change of that reaches it, and apart by its query', () => {
  const { attempts } = of.webhooks({ id: 'whk_1' })
  const { queryKey } = read(attempts, { failed: 'true' })
  expect(queryKey.slice(0, 3)).toEqual([...pathOf(of.webhooks)])
  expect(queryKey).not.toEqual(read(attempts).queryKey)
  expect(read(of.keys).queryKey).not.toEqual(read(api.projects({ project: 'prj_2' }).keys).queryKey)
})

test('the pages of a list are cached below its address, apart from its first page alone', () => {
  const { queryKey } = readPages(of.audit, { limit: '50' })
  expect(queryKey.slice(0, 3)).toEqual([...pathOf(of.audit)])
  expect(queryKey).not.toEqual(read(of.audit, { limit: '50' }).queryKey)
})

test.each([
  ['newPerson.email', 'is already in use here', 'The email address is already in use here'],
  ['allowedIps.3', 'is no address', 'An allowed address is no address'],
  ['isOn', 'needs another', 'This needs another'],
  ['odd.field', 'must be whole', 'odd.field must be whole'],
])("an error of the field %s uses the field's name on the page", (field, message, sentence) => {
  expect(sentenceOf(field, message)).toBe(sentence)
})
