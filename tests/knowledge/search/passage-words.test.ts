import { beforeAll, describe, expect, test } from 'bun:test'
import { KeptPassageWords, PassageWords } from '../../../src/knowledge/search/passage-words.ts'
import { labelsOfItems, type Passage } from '../../../src/knowledge/search/passages.ts'
import { readTerms } from '../../../src/knowledge/search/query.ts'
import { WordForms } from '../../../src/knowledge/search/word-forms.ts'
import { startService, type TestProject, type TestService } from '../../support/service.ts'

function passage(label: number, text: string): Passage {
  const place = { itemId: `kn_${label}`, itemSeq: label, position: 0, overlapChars: 0 }
  return { label, name: 'Shop', heading: 'On refunds', text, ...place }
}

describe('the words of passages', () => {
  test('are those of the text, without where links lead, and of the title', () => {
    const kept = new PassageWords()
    kept.add(passage(1, 'We [pay](https://x.example) Café 退款。'))
    const [read] = kept.of([1])
    const textsOf = (words: Uint32Array = new Uint32Array()) =>
      [...words].map((word) => kept.forms.textOf(word))
    expect(textsOf(read?.words)).toEqual(['We', 'pay', 'Café', '退款', '款'])
    expect(textsOf(read?.title)).toEqual(['Shop', 'On', 'refunds'])
  })

  test('come in the order of the labels, without those that are missing', () => {
    const kept = new PassageWords()
    for (const label of [1, 2, 3]) kept.add(passage(label, `number ${label}`))
    expect(kept.of([3, 9, 1]).map(({ label }) => label)).toEqual([3, 1])
  })
})

describe('kept words', () => {
  let project: TestProject
  let service: TestService
  const labelsOf = (itemId: string) =>
    labelsOfItems(service.services.database.read, project.projectId, [itemId])

  beforeAll(async () => {
    service = await startService()
    project = await service.mintProject()
  })

  async function add(text: string): Promise<number[]> {
    const { item } = await service.services.knowledge.store(project.projectId, { name: 'Shop', text })
    return await labelsOf(item.id)
  }

  test('are read once, and not for another project', async () => {
    const { read } = service.services.database
    const [one, two] = [await add('A refund.'), await add('An order.')]
    const kept = new KeptPassageWords()
    const had = (words: PassageWords, labels: number[]) => words.of(labels).map(({ label }) => label)
    expect(had(await kept.with(read, project.projectId + 1, one), one)).toEqual([])
    const words = await kept.with(read, project.projectId, one)
    expect(had(words, one)).toEqual(one)
    const [known] = words.of(one)
    expect(had(await kept.with(read, project.projectId, [...one, ...two]), two)).toEqual(two)
    expect(words.of(one)[0]).toBe(known)
  })

  test('take bounded memory: too many are forgotten', async () => {
    const { read } = service.services.database
    const labels = await add('A refund.')
    const kept = new KeptPassageWords()
    const words = await kept.with(read, project.projectId, labels)
    expect(await kept.with(read, project.projectId, labels)).toBe(words)
    words.add(passage(-1, 'a '.repeat(18_000_000)))
    const later = await kept.with(read, project.projectId, labels)
    expect(later).not.toBe(words)
    expect(later.of(labels)).toHaveLength(1)
  })
})

describe('word forms', () => {
  test('are shared by all texts that have them, and tell capitals apart', () => {
    const forms = new WordForms()
    expect([...forms.read('refund refund Refund REFUND')]).toEqual([0, 0, 1, 2])
    expect([...forms.read('Refund, a refund')]).toEqual([1, 3, 0])
  })

  test('that a later text adds are found too', () => {
    const forms = new WordForms()
    const [term] = readTerms('refund')
    if (!term) throw new Error('no term')
    forms.read('refund')
    expect(forms.othersOf(term)).toMatchObject({ related: [], like: [] })
    forms.read('Refund refunds refunf')
    expect(forms.othersOf(term)).toMatchObject({ related: [2], like: [{ form: 3 }] })
    expect(forms.variantsOf('refund')).toEqual([1, 0])
  })
})
