import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { pythonCommands } from '../../scripts/python.ts'
import { repository } from '../support/process.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'

// The retrievers for agent frameworks, in the real frameworks against a real service.

setDefaultTimeout(120_000)
const python = pythonCommands(join(repository, 'scripts/python/retrievers.txt'))
let service: TestService
let project: TestProject

beforeAll(async () => {
  service = await startService()
  project = await service.mintProject()
  for (const [name, text] of [
    ['Refunds', '## Period\n\nWe refund any order within 30 days.'],
    ['Hours', '## Week\n\nWe open at nine.'],
  ])
    await project.send('POST', '/v1/knowledge', { name, text })
})
afterAll(() => service.stop())

/** What the program prints, with `retriever` made for the project. */
async function printed(module: string, program: string): Promise<unknown> {
  const { url } = service
  const made = `from ${module} import CallbookRetriever\nimport json\ndef made(**options): return CallbookRetriever(url=${JSON.stringify(url)}, key=${JSON.stringify(project.key)}, **options)\n`
  const child = Bun.spawn([join(python ?? '', 'python'), '-c', made + program], {
    cwd: join(repository, 'scripts', 'examples'),
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([await child.exited, err]).toEqual([0, expect.any(String)])
  return JSON.parse(out)
}

describe.skipIf(python === null)('an example retriever', () => {
  test('of LangChain finds passages, and nothing below a coverage', async () => {
    const ask = (options: string, query: string) =>
      printed(
        'langchain_retriever',
        `print(json.dumps([[d.metadata["name"], d.metadata["heading"], d.page_content] for d in made(${options}).invoke("${query}")]))`,
      )
    expect(await ask('limit=1', 'refund of an order')).toEqual([
      ['Refunds', 'Period', expect.stringContaining('30 days')],
    ])
    expect(await ask('coverage_min=0.9', 'which insurance covers an order from abroad')).toEqual([])
  })

  test('of LlamaIndex finds passages, and nothing below a coverage', async () => {
    const ask = (options: string, query: string) =>
      printed(
        'llamaindex_retriever',
        `print(json.dumps([[n.metadata["name"], n.metadata["heading"], n.text] for n in made(${options}).retrieve("${query}")]))`,
      )
    expect(await ask('limit=1', 'refund of an order')).toEqual([
      ['Refunds', 'Period', expect.stringContaining('30 days')],
    ])
    expect(await ask('coverage_min=0.9', 'which insurance covers an order from abroad')).toEqual([])
  })

  test('of LlamaIndex lets the event loop go on while it waits', async () => {
    const program = [
      'import asyncio',
      'async def main():',
      '  found = asyncio.create_task(made(limit=1).aretrieve("refund of an order"))',
      '  turns = 0',
      '  while not found.done():',
      '    turns += 1',
      '    await asyncio.sleep(0.0001)',
      '  return [turns > 3, found.result()[0].metadata["name"]]',
      'print(json.dumps(asyncio.run(main())))',
    ].join('\n')
    expect(await printed('llamaindex_retriever', program)).toEqual([true, 'Refunds'])
  })
})
