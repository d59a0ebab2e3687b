import type { Command } from 'commander'
import { invalidRequest } from '../../src/errors.ts'
import { readableFiles } from '../../src/knowledge/files/file-text.ts'
import type { Gaps } from '../../src/knowledge/questions/question-groups.ts'
import type { CheckSummary } from './knowledge-check.ts'
import type { ImportSummary } from './knowledge-import.ts'
import type { SyncSummary } from './knowledge-sync.ts'
import { type OfProject, projectOption } from './options.ts'
import { collect, columns, counted, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

export function addKnowledgeCommands(program: Command, shell: Shell): void {
  const knowledge = program.command('knowledge').description('The knowledge that agents retrieve from.')

  knowledge
    .command('import')
    .description(
      `Import ${readableFiles}, and folders of them, except names that start with a dot. An item is named ` +
        `after its file's title (in Markdown: the title in the front matter, otherwise the first heading), ` +
        `otherwise after the file. It has the tags of its front matter. A file that is already stored with the same ` +
        `name, text and tags is skipped.`,
    )
    .argument('<path...>', 'files and folders')
    .requiredOption(...projectOption)
    .option(...tagOption, collect, [])
    .option(
      '--json',
      'print {"imported","unchanged","failed","chunks","pendingChunks","seconds","items","errors","warnings"}',
    )
    .action(async (paths: string[], { project, tag, json }: OfProject & Tagging) => {
      const { KnowledgeImport } = await import('./knowledge-import.ts')
      const summary = await shell.inProject(project, (services, projectId) =>
        new KnowledgeImport(services, shell, projectId, tag).run(paths),
      )
      const again = 'Run the import again: files that are already stored are skipped.'
      await shell.answerRun(json, summary, { lines: textOf(summary), again })
    })

  knowledge
    .command('sync')
    .description(
      `Make a set of a project’s items match a folder of ${readableFiles}. Each file is an item, with an id ` +
        `made from the name of the set and the path. Unchanged files are left alone. Front matter may name tags, and ` +
        `questions that the file answers.`,
    )
    .argument('<folder>', 'the folder')
    .requiredOption(...projectOption)
    .option('--name <name>', 'name of the set of items (default: the name of the folder)')
    .option('--prune', 'delete the items of the set whose files are gone')
    .option(
      '--replace-imported',
      'delete items of equal text that no sync made, such as those of knowledge import',
    )
    .option('--yes', 'let --prune delete more than half of the set')
    .option(
      '--include <glob>',
      'read only these files, such as "guides/**" or "*.md"; can be repeated',
      collect,
    )
    .option('--exclude <glob>', 'leave out these files and folders, such as drafts; can be repeated', collect)
    .option(...tagOption, collect, [])
    .option(
      '--json',
      'print {"set","created","changed","unchanged","deleted","failed","imported","pendingChunks","seconds","skipped","errors","warnings"}',
    )
    .action(async (folder: string, { project, include, exclude, tag: tags, json, ...given }: SyncFlags) => {
      const { KnowledgeSync } = await import('./knowledge-sync.ts')
      const flags = { prune: false, yes: false, replaceImported: false, ...given }
      const { replaceImported } = flags
      const choice = { include, exclude }
      const summary = await shell.inProject(project, (services, projectId) =>
        new KnowledgeSync({ services, shell, projectId, folder, choice, tags, ...flags }).run(),
      )
      const again = 'Run the sync again: files that are already stored are skipped.'
      await shell.answerRun(json, summary, { lines: syncTextOf(summary, replaceImported), again })
    })

  knowledge
    .command('gaps')
    .description(
      'List what callers asked and no item answers, the most asked first. Their words are evidence, not text to copy.',
    )
    .requiredOption(...projectOption)
    .option('--limit <n>', 'at most so many, up to 200', '20')
    .option('--json', 'print an array')
    .action(async ({ project, limit, json }: GapsFlags) => {
      if (!/^(?:[1-9]\d?|1\d\d|200)$/.test(limit))
        throw invalidRequest([{ field: `--limit ${limit}`, message: 'must be from 1 to 200' }])
      const gaps = await shell.inProject(project, ({ questionGroups }, projectId) =>
        questionGroups.gaps(projectId, Number(limit)),
      )
      await shell.answer(json, gaps.data, gapsTextOf(gaps))
    })

  knowledge
    .command('check')
    .description(
      'Ask golden questions as an agent would, and measure how often search finds the item that answers ' +
        'each: in the first passage (hit1) or in one of the first five (hit5). One JSON object per line: ' +
        '{"query", "itemId"} or {"query", "name"}. Exits 1 if hit5 is below --min-hit5, or if an item does ' +
        'not exist.',
    )
    .argument('<file.jsonl>', 'the questions; - reads stdin')
    .requiredOption(...projectOption)
    .option('--min-hit5 <share>', 'the lowest hit5 that passes, from 0 to 1')
    .option('--json', 'print {"questions","hit1","hit5","misses"}')
    .action(async (file: string, { project, minHit5, json }: CheckFlags) => {
      const { KnowledgeCheck, shareOf } = await import('./knowledge-check.ts')
      const least = minHit5 === undefined ? 0 : shareOf(minHit5)
      const summary = await shell.inProject(project, (services, projectId) =>
        new KnowledgeCheck(services, shell, projectId).run(file),
      )
      if (summary.hit5 < least) shell.complain(`hit5 is ${summary.hit5.toFixed(3)}, below ${least}.`)
      await shell.answer(json, summary, checkTextOf(summary))
    })
}

interface Tagging {
  tag: string[]
}

const tagOption = [
  '--tag <tag>',
  'a tag of every file, beside those of its front matter; can be repeated',
] as const

interface GapsFlags extends OfProject {
  limit: string
}

/** A caller's words on one line, with how often they were asked. */
function gapsTextOf({ data, total, keepDays }: Gaps): string[] {
  if (keepDays === null)
    return ['The project keeps no questions: `project set P --keep-questions 30` switches that on.']
  const rows = data.map(({ count, coverage, nearest, query }) => [
    String(count),
    coverage === null ? '-' : coverage.toFixed(2),
    nearest?.name ?? '-',
    query,
  ])
  return [
    ...columns([['ASKED', 'COVERAGE', 'NEAREST', 'QUESTION'], ...rows]),
    `${data.length} of ${counted(total, 'gap')}.`,
  ]
}

interface CheckFlags extends OfProject {
  minHit5?: string
}

function checkTextOf({ questions, hit1, hit5, misses }: CheckSummary): string[] {
  return [
    ...misses.map(({ line, query, itemId, name, found }) => {
      const instead =
        found.length > 0 ? `found ${[...new Set(found.map((hit) => hit.name))].join(', ')}` : 'found nothing'
      return shown(`Line ${line}: ${query} (wanted ${itemId ?? name}, ${instead})`)
    }),
    `${counted(questions, 'question')}: hit1 ${hit1.toFixed(3)}, hit5 ${hit5.toFixed(3)}, ${misses.length} missed.`,
  ]
}

const skippedShownMax = 50

interface SyncFlags extends OfProject, Tagging {
  name?: string
  prune?: boolean
  yes?: boolean
  replaceImported?: boolean
  include?: string[]
  exclude?: string[]
}

function warningsOf({ warnings }: Pick<SyncSummary, 'warnings'>): string[] {
  const more = warnings.length - skippedShownMax
  return [
    ...warnings.slice(0, skippedShownMax).map(({ path, message }) => `${shown(path)}: ${shown(message)}.`),
    ...(more > 0 ? [`And ${counted(more, 'other warning')}: --json lists them.`] : []),
  ]
}

function syncTextOf(summary: SyncSummary, areReplaced: boolean): string[] {
  const { imported, set, created, changed, unchanged, deleted, failed, seconds, skipped } = summary
  const more = skipped.length - skippedShownMax
  const others = imported.slice(0, skippedShownMax).map(({ id, name }) => `${shown(name)} (${id})`)
  const rest = imported.length - others.length
  const named = [...others, ...(rest > 0 ? [counted(rest, 'other item')] : [])].join(', ')
  return [
    ...(imported.length === 0 || areReplaced
      ? []
      : [`No sync made these, which have the text of a file: ${named}. --replace-imported deletes them.`]),
    ...skipped.slice(0, skippedShownMax).map(({ path, reason }) => `Skipped ${shown(path)}: ${reason}`),
    ...(more > 0 ? [`Skipped ${counted(more, 'other file')}: --json lists them.`] : []),
    ...warningsOf(summary),
    `${shown(set)}: ${counted(created, 'item')} created, ${changed} changed, ${unchanged} unchanged, ${deleted} deleted` +
      `${failed > 0 ? `, ${counted(failed, 'bad file')}` : ''} (${seconds} s).`,
  ]
}

function textOf(summary: ImportSummary): string[] {
  const { imported, unchanged, failed, chunks, pendingChunks, seconds } = summary
  const lines = [
    ...warningsOf(summary),
    `Imported ${counted(imported, 'item')} with ${counted(chunks, 'chunk')}, skipped ${unchanged} that were already stored` +
      `${failed > 0 ? ` and ${counted(failed, 'bad file')}` : ''} (${seconds} s).`,
  ]
  if (pendingChunks > 0) {
    lines.push(
      `${counted(pendingChunks, 'chunk')} of the project pending: the service embeds them. Until then, ` +
        `keyword search finds them.`,
    )
  }
  return lines
}
