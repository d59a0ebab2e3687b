import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { keptFolders } from '../../scripts/kept-folder.ts'
import { pythonCommands } from '../../scripts/python.ts'
import { repository } from '../support/process.ts'
import { startService } from '../support/service.ts'

// The retrievers for agent frameworks, in the real frameworks against a real service.

const python = pythonCommands(join(repository, 'scripts/python/retrievers.txt'))

const service = await startService()
const project = await service.mintProject()
for (const [name, text] of [
  ['Refunds', '## Period\n\nWe refund any order within 30 days.'],
  ['Hours', '## Week\n\nWe open at nine.'],
])
  await project.send('POST', '/v1/knowledge', { name, text })

/** What the program prints, with `retriever` made for the project. */
async function printed(module: string, program: string): Promise<unknown> {
  const { url } = service
  const made = `from ${module} import CallbookRetriever\nimport json\ndef made(**options): return CallbookRetriever(url=${JSON.stringify(url)}, key=${JSON.stringify(project.key)}, **options)\n`
  const child = Bun.spawn([join(python ?? '', 'python'), '-c', made + program], {
    cwd: join(repository, 'scripts', 'examples'),
    // What Python compiles of the frameworks is kept, and not in the repository.
    env: { ...process.env, PYTHONPYCACHEPREFIX: join(keptFolders, 'python-bytecode') },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([await child.exited, err]).toEqual([0, expect.any(String)])
  return JSON.parse(out)
}

describe.skipIf(python === null)('an example retriever', () => {
  // One process asks both questions: what takes long is to load the framework.
  const printBoth =
    'print(json.dumps([ask("refund of an order", limit=1), ask("which insurance covers an order from abroad", coverage_min=0.9)]))'
  const both = [[['Refunds', 'Period', expect.stringContaining('30 days')]], []]

  test('of LangChain finds passages, and nothing below a coverage', async () => {
    const program = [
      'def ask(query, **options):',
      '  return [[d.metadata["name"], d.metadata["heading"], d.page_content] for d in made(**options).invoke(query)]',
      printBoth,
    ].join('\n')
    expect(await printed('langchain_retriever', program)).toEqual(both)
  })

  test('of LlamaIndex finds passages, and nothing below a coverage', async () => {
    const program = [
      'def ask(query, **options):',
      '  return [[n.metadata["name"], n.metadata["heading"], n.text] for n in made(**options).retrieve(query)]',
      printBoth,
    ].join('\n')
    expect(await printed('llamaindex_retriever', program)).toEqual(both)
  })

  test('of LlamaIndex lets the event loop go on while it waits', async () => {
    const program = [
      'import asyncio, threading',
      'turned = threading.Event()',
      'retriever = made(limit=1)',
      'retrieve = retriever._retrieve',
      // Without the loop's next turn there is no answer.
      'retriever._retrieve = lambda query: turned.wait(10) and retrieve(query)',
      'async def main():',
      '  found = asyncio.create_task(retriever.aretrieve("refund of an order"))',
      '  await asyncio.sleep(0)',
      '  turned.set()',
      '  return (await found)[0].metadata["name"]',
      'print(json.dumps(asyncio.run(main())))',
    ].join('\n')
    expect(await printed('llamaindex_retriever', program)).toEqual('Refunds')
  })
})
