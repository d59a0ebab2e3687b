import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { integrations } from '../../../src/console/ui/views/settings/integrations.ts'

/** The service and the key of the guide's examples. */
const urls = ['https://callbook.example.com', 'http://127.0.0.1:3000', '$CALLBOOK']
const keys = ['ck_ingest_...', 'ck_live_...', 'ck_live_…', '$SEARCH_KEY']

test.each(integrations.map((each) => [each.name, each] as const))(
  'the lines of %s are those of the section of the guide that its page links to',
  (_, { guide, linesOf }) => {
    const [page, anchor] = guide.split('#')
    const text = readFileSync(`src/guide/${page}.md`, 'utf8')
    const sections = text.split(/^## /m)
    const section = sections.find((each) => anchorOf(each) === anchor)
    expect(section).toBeDefined()
    const examples = urls.flatMap((url) => keys.map((key) => linesOf({ url, key, project: 'default' })))
    const missing = (examples[0] ?? []).flatMap(({ label }, at) =>
      examples.some((lines) => section?.includes(lines[at]?.code ?? '\0')) ? [] : [label],
    )
    expect(missing).toEqual([])
  },
)

function anchorOf(section: string): string {
  return (section.split('\n')[0] ?? '').toLowerCase().replaceAll(' ', '-')
}
