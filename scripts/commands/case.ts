import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type FormatName, formatNames, formats } from '../../src/cases/formats/formats.ts'
import type { Services } from '../../src/services/services.ts'
import { jsonOf, valueAt } from '../../src/validation.ts'
import { type OfProject, projectOption } from './options.ts'
import { collect, counted, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const wordsShown = 60

interface MakeOptions extends OfProject {
  turn: number
  expect?: string
  criterion?: string
  name?: string
  lastTurns?: number
}

interface ExportOptions extends OfProject {
  format: FormatName
  out?: string
  id?: string[]
  system?: string
}

export function addCaseCommands(program: Command, shell: Shell): void {
  const cases = program.command('case').description('Tests that are made of calls.')
  const command = (usage: string, description: string, json: string) =>
    cases
      .command(usage)
      .description(description)
      .requiredOption(...projectOption)
      .option('--json', json)

  command(
    'make <call>',
    'Make a test: the conversation of a call is cut before an answer of the agent.',
    'print the case',
  )
    .requiredOption(
      '--turn <turn>',
      'index of the turn, from 0, or #turn-8 as in the address of the console',
      readTurn,
    )
    .option('--expect <text>', 'what must hold of the answer (default: the note of the review)')
    .option('--criterion <id>', 'a criterion of the rubric, whose question is expected')
    .option('--name <name>', 'what the test is called')
    .option('--last-turns <turns>', 'keep only so many turns before the answer', Number)
    .action(async (call: string, { project, json, ...request }: MakeOptions) => {
      const { case: made, isNew } = await shell.inProject(project, ({ cases }, projectId) =>
        cases.create(projectId, { call, ...request }),
      )
      // The console counts turns from 1, so that the words show which one it is.
      const words = shown([...made.said].slice(0, wordsShown).join(''))
      await shell.answer(json, made, `${isNew ? 'Made' : 'There is already'} ${made.id}, of “${words}”.`)
    })

  command('list', 'List the cases, the newest first.', 'print an array')
    .option('--call <id>', 'those of this call alone')
    .action(async ({ project, json, call }: OfProject & { call?: string }) => {
      const all = await shell.inProject(project, async ({ cases }, projectId) =>
        Array.fromAsync((await cases.page(projectId, { call, limit: 1_000 })).cases),
      )
      const rows = all.map(({ id, call, turn, name, omitted }) => [
        id,
        call,
        String(turn),
        String(omitted),
        name,
      ])
      const head = ['ID', 'CALL', 'TURN', 'OMITTED', 'NAME']
      await shell.answerList(json, all, { head, rows, none: 'There are no cases yet.' })
    })

  command('show <id>', 'Print a case as JSON.', 'print it on one line').action(
    async (id: string, { project, json }: OfProject) => {
      const found = await shell.inProject(project, ({ cases }, projectId) => cases.get(projectId, id))
      await shell.answer(json, found, JSON.stringify(found, null, 2))
    },
  )

  command('remove <id>', 'Delete a case and every byte of it.', 'print {"id","deleted"}').action(
    async (id: string, { project, json }: OfProject) => {
      const done = await shell.inProject(project, ({ cases }, projectId) => cases.delete(projectId, id))
      await shell.answer(json, done, `Deleted the case ${shown(id)}.`)
    },
  )

  command(
    'export',
    'Write cases for a framework that tests agents.',
    'print {"file","format","about"} with --out',
  )
    .addOption(new Option('--format <format>', 'the framework').choices(formatNames).makeOptionMandatory())
    .option('--out <path>', 'a file, or a folder (default: standard output)')
    .option('--id <id>', 'only this case; can be repeated', collect)
    .option('--system <file>', "the agent's prompt, for Pipecat")
    .action(async (options: ExportOptions) => {
      await shell.inProject(options.project, (services, projectId) =>
        exportCases(services, { shell, projectId, ...options }),
      )
    })

  command(
    'prune <file>',
    'Take the lines of JSON lines whose case is gone out of a file.',
    'print {"kept","removed"}',
  ).action(async (file: string, { project, json }: OfProject) => {
    const lines = readFileSync(file, 'utf8').split('\n')
    const idOf = (line: string) => {
      const id = valueAt(jsonOf(line), 'id')
      return typeof id === 'string' && /^case_[0-9a-f]{32}$/.test(id) ? id : null
    }
    const ids = lines.flatMap((line) => idOf(line) ?? [])
    const known = await shell.inProject(project, ({ cases }) => cases.existing(ids))
    const kept = lines.filter((line) => {
      const id = idOf(line)
      return id === null || known.has(id)
    })
    // Written whole or not at all.
    writeFileSync(`${file}.part`, kept.join('\n'), { mode: statSync(file).mode })
    renameSync(`${file}.part`, file)
    const removed = lines.length - kept.length
    const summary = { kept: kept.filter((line) => line.trim() !== '').length, removed }
    await shell.answer(json, summary, `Took ${counted(removed, 'case')} out of ${shown(file)}.`)
  })
}

async function exportCases(
  { cases }: Services,
  {
    shell,
    projectId,
    format,
    out,
    id,
    system: systemFile,
    json,
  }: ExportOptions & { shell: Shell; projectId: number },
): Promise<void> {
  const { file, about, head, of } = formats[format]
  const system = systemFile === undefined ? undefined : readFileSync(systemFile, 'utf8')
  const all = await Array.fromAsync(await cases.exported(projectId, id))
  await cases.noteExport(projectId, format)
  shell.say(about)
  const texts = all.map((one) => of(one, { system }))
  const text = head({ system }) + texts.join('')
  if (out === undefined) {
    await shell.write(text)
    if (format === 'livekit') shell.say('With --out FOLDER, cases.jsonl is written beside it.')
    return
  }
  const isFolder = statSync(out, { throwIfNoEntry: false })?.isDirectory() === true
  if (format === 'livekit' && !isFolder)
    throw new Error('--out must be a folder for livekit, since it is two files.')
  const path = isFolder ? join(out, file) : out
  writeFileSync(path, text)
  if (format === 'livekit')
    writeFileSync(join(out, formats.jsonl.file), all.map((one) => formats.jsonl.of(one, {})).join(''))
  // In YAML, a comment says which case is left out.
  const leftOut = format === 'livekit' ? 0 : texts.filter((one) => /^\s*(#|$)/.test(one)).length
  const written = `Wrote ${counted(all.length - leftOut, 'case')} to ${shown(path)}.`
  await shell.answer(
    json,
    { file: path, format, about, leftOut },
    leftOut === 0 ? written : `${written} Left out ${counted(leftOut, 'case')} in which no caller speaks.`,
  )
}

/** `7`, or `#turn-8` as the console counts. */
function readTurn(text: string): number {
  const [, console] = /^#turn-([1-9][0-9]{0,8})$/.exec(text) ?? []
  if (console) return Number(console) - 1
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be an index from 0, or #turn- and a number from 1.')
}
