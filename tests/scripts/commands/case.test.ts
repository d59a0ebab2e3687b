import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder } from '../../support/at-end.ts'
import { CommandLine, fileOf, linesOf } from '../../support/command-line.ts'

const command = new CommandLine()
const project = await command.project()
const turns = [
  { role: 'user', content: 'Will you refund it?' },
  { role: 'assistant', content: 'Sure, I will refund it today.' },
]
const file = fileOf(linesOf([{ id: 'refund', status: 'completed', transcript: turns }]))
await command.run(['calls', 'import', file, '--project', project])

const run = (...args: string[]) => command.run(['case', ...args, '--project', project])
const json = async (...args: string[]) => (await command.json(['case', ...args, '--project', project])).value
const make = (expect: string) => json('make', 'refund', '--turn', '#turn-2', '--expect', expect)

describe('case', () => {
  test('make counts turns as the console or from 0, and shows the words of the turn', async () => {
    const ran = await run('make', 'refund', '--turn', '1', '--expect', 'No refund.')
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toMatch(/^Made case_[0-9a-f]{32}, of “Sure, I will refund it today\.”\.\n$/)
    const again = await make('No refund.')
    expect(again).toMatchObject({ turn: 1, expect: 'No refund.', createdBy: null })
    const refused = await run('make', 'refund', '--turn', 'second', '--expect', 'x')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('#turn-')])
  })

  test('list, show and remove work on what there is', async () => {
    const { id } = await make('Listed.')
    expect((await run('list')).out).toContain(id)
    expect(await json('list', '--call', 'none')).toEqual([])
    expect(JSON.parse((await run('show', id)).out)).toEqual(await json('show', id))
    expect((await run('remove', id)).code).toBe(0)
    const gone = await run('show', id)
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('No case')])
  })

  test('export writes a file, into a folder, or to standard output; of LiveKit the cases beside the test', async () => {
    const made = await make('Exported.')
    const ofThis = ['--id', made.id]
    const printed = await run('export', '--format', 'jsonl', ...ofThis)
    expect(JSON.parse(printed.out)).toEqual(made)
    expect(printed.err).toContain('Tests the next turn')
    const folder = freshFolder()
    const prompt = fileOf('You are Ada.', 'prompt.md')
    await run('export', '--format', 'pipecat', '--system', prompt, '--out', folder, ...ofThis)
    expect(readFileSync(join(folder, 'callbook_scenarios.yaml'), 'utf8')).toContain('You are Ada.')
    await run('export', '--format', 'livekit', '--out', folder, ...ofThis)
    expect(readFileSync(join(folder, 'test_callbook_cases.py'), 'utf8')).toContain('async def test_next_turn')
    expect(JSON.parse(readFileSync(join(folder, 'cases.jsonl'), 'utf8'))).toEqual(made)
    const single = await run('export', '--format', 'livekit', '--out', join(folder, 'one.py'))
    expect([single.code, single.err]).toEqual([1, expect.stringContaining('must be a folder')])
  })

  test('prune takes the lines whose case is gone out of a file, and no others', async () => {
    const [kept, gone] = [await make('Kept.'), await make('Gone.')]
    const folder = join(freshFolder(), 'tests')
    mkdirSync(folder)
    const path = join(folder, 'cases.jsonl')
    const own = { id: 'by-hand', messages: turns.slice(0, 1), expect: 'x' }
    writeFileSync(path, `${linesOf([kept, gone, own])}no json\n`)
    await run('remove', gone.id)
    expect(await json('prune', path)).toEqual({ kept: 3, removed: 1 })
    // A file may have the cases of several projects.
    const other = await command.json(['case', 'prune', path, '--project', await command.project('other')])
    expect(other.value).toEqual({ kept: 3, removed: 0 })
    expect(readFileSync(path, 'utf8')).toBe(`${linesOf([kept, own])}no json\n`)
    expect(existsSync(`${path}.part`)).toBe(false)
  })
})
