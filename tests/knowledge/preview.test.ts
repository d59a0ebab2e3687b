import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

interface ChunkPreview {
  position: number
  heading: string | null
  text: string
  characters: number
  overlapCharacters: number
}

const service = await startService({ env: { KNOWLEDGE_TEXT_MAX_BYTES: '200000' } })
const project = await service.mintProject()

const texts: Record<string, string> = {
  'one sentence': 'We refund orders.',
  'white space around it': '\r\n  We refund orders. \n\n',
  headings: `# Refunds\n\n${'We refund orders. '.repeat(40)}\n\n## When\n\n${'Within thirty days. '.repeat(40)}`,
  'a section that is cut up': 'We refund any order within thirty days of delivery. '.repeat(150),
  'Chinese without spaces': '我们在三十天内办理退款政策。'.repeat(300),
  'Thai with marks': 'ที่นี่เราคืนเงินภายในสามสิบวัน'.repeat(200),
  'characters of two code units': '🙂𠮷🏳️‍🌈'.repeat(700),
  'one long word': 'x'.repeat(5_000),
  'long enough for the worker': Array.from(
    { length: 60 },
    (_, n) => `## Part ${n}\n\n${'Some words. '.repeat(60)}`,
  ).join('\n\n'),
}

describe('POST /v1/knowledge/preview', () => {
  for (const [name, text] of Object.entries(texts))
    test(`shows exactly the chunks that are stored afterwards, and stores none: ${name}`, async () => {
      const before = await stored()
      const answer = await project.send('POST', '/v1/knowledge/preview', { text })
      expect(answer.status).toBe(200)
      const { data, ...rest }: { data: ChunkPreview[] } = await answer.json()
      expect(rest).toEqual({})
      expect(await stored()).toEqual(before)

      const { id } = await project.send('POST', '/v1/knowledge', { name, text }).then((made) => made.json())
      const chunks = (await stored()).filter(({ item }) => item === id)
      const shown = data.map(({ position, heading, text }) => ({ item: id, position, heading, text }))
      expect(chunks.map(({ overlap, ...chunk }) => chunk)).toEqual(shown)
      for (const [at, chunk] of data.entries()) {
        expect(Object.keys(chunk)).toEqual(['position', 'heading', 'text', 'characters', 'overlapCharacters'])
        expect(chunk.characters).toBe([...chunk.text].length)
        expect(chunk.overlapCharacters).toBe([...chunk.text.slice(0, chunks[at]?.overlap)].length)
      }
      const own = data.map(({ text, overlapCharacters }) => [...text].slice(overlapCharacters).join(''))
      expect(own.join('')).toBe(text)
    })

  test('is 413 for a text that is too long to be stored, with the same words', async () => {
    const text = '語'.repeat(70_000)
    const answers = [
      await project.send('POST', '/v1/knowledge/preview', { text }),
      await project.send('POST', '/v1/knowledge', { name: 'x', text }),
    ]
    const [preview, add] = [
      await expectProblem(answers[0] ?? new Response(), 'payload_too_large'),
      await expectProblem(answers[1] ?? new Response(), 'payload_too_large'),
    ]
    expect(preview.detail).toBe(add.detail)
  })
})

interface StoredChunk {
  item: string
  position: number
  heading: string | null
  text: string
  overlap: number
}

async function stored(): Promise<StoredChunk[]> {
  return await service.services.database.read.all(sql`
    select knowledge_items.id as item, position, heading, chunks.text as text, overlap_chars as overlap
    from chunks join knowledge_items on seq = item_seq order by label`)
}
