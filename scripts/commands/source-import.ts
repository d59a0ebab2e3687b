import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { invalidRequest } from '../../src/errors.ts'
import type { Services } from '../../src/services/services.ts'
import type { ImportReport } from '../../src/sources/history/imports.ts'
import { ImportRequest } from '../../src/sources/history/schemas.ts'
import { compileCheck } from '../../src/validation.ts'
import type { AsJson } from './options.ts'
import { startProgress } from './progress.ts'
import { counted, namingOptions, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const lookEveryMs = 250

interface ImportFlags extends AsJson {
  project?: string
  since?: string
  until?: string
  limit?: string
  rate?: string
  recordings?: true
  dryRun?: true
  status?: true
  stop?: true
}

export function addImport(source: Command, shell: Shell): void {
  source
    .command('import')
    .description(
      "Import a platform's past calls, with the API key of their source. What is newer here stays, and a call that is new " +
        'is sent to no webhook and not analyzed. It goes on after a restart; a service that runs does the work.',
    )
    .argument('<source>', 'id of the source (src_…), or the name of its platform')
    .option('--project <project>', 'id or name of the project, if several have a source of the platform')
    .option('--since <since>', 'calls that began since then: days before now such as 90d, or an ISO time')
    .option('--until <time>', 'calls that began before this ISO time (default: now)')
    .option('--limit <calls>', 'how many calls to write, the oldest first')
    .option('--rate <requests>', 'requests a second, 1 to 50 (default: 5)')
    .option('--recordings', 'fetch recordings, too, in a project that keeps them')
    .option('--dry-run', 'only ask the platform what it has')
    .option('--status', 'say how far the last import came')
    .option('--stop', 'stop the import; what is written stays')
    .option(
      '--json',
      'print {"id","state","reason","since","until","at","found","created","changed","unchanged","live","erased","skipped","failed","samples","recordings"}, ' +
        'or {"ok","reachable","total","perCall","seen","recordings","goneAt"} of a dry run',
    )
    .action(async (name: string, flags: ImportFlags) => {
      const isQuick = Boolean(flags.status || flags.stop || flags.dryRun)
      await shell.withServices(
        async (services) => {
          const place = await sourceOf(services, name, flags.project)
          await runImport(services, shell, place, flags)
        },
        { takesFolder: !isQuick },
      )
    })
}

interface Place {
  projectId: number
  id: string
}

async function runImport(services: Services, shell: Shell, { projectId, id }: Place, flags: ImportFlags) {
  const { sourceImports } = services
  const { json } = flags
  const tell = async (report: ImportReport) => {
    if (report.state === 'failed' || report.failed > 0) shell.exitCode = 1
    await shell.answer(json, report, linesOf(report))
  }
  if (flags.status) return await tell(await sourceImports.get(projectId, id))
  if (flags.stop) return await tell(await sourceImports.stop(projectId, id))
  const request = requestOf(flags)
  if (flags.dryRun) {
    const preview = await sourceImports.preview(projectId, id, request).catch(toOptions)
    if (!preview.ok) shell.exitCode = 1
    return await shell.answer(json, preview, previewLines(preview))
  }
  await sourceImports.start(projectId, id, request).catch(toOptions)
  await tell(await untilEnded(services, shell, { projectId, id }))
}

/** Follows the import: of this command, or of the service that runs on the folder. */
async function untilEnded(services: Services, shell: Shell, { projectId, id }: Place): Promise<ImportReport> {
  const { sourceImports, core, ownsFolder } = services
  const progress = startProgress(shell, 'Importing', 0)
  try {
    for (;;) {
      const report = await sourceImports.get(projectId, id)
      if (report.state !== 'running' && report.state !== 'waiting') return report
      const at = report.at === null ? '' : ` until ${report.at.slice(0, 10)}`
      const waits = report.state === 'waiting' ? ` · waiting: ${report.reason}` : ''
      progress.update(0, `${counted(report.found, 'call')}${at}${waits}`)
      await sleep(lookEveryMs, null, { signal: shell.signal }).catch(() => undefined)
      if (shell.signal.aborted)
        throw new Error(
          ownsFolder
            ? 'Interrupted. The service goes on with it once it runs, or the next import of this source.'
            : 'Interrupted. The service goes on with it: --status says how far it came, --stop stops it.',
        )
      if (ownsFolder) continue
      // The folder is free only if the service has ended.
      await core.owner.take(0)
      if (services.ownsFolder)
        throw new Error('The service has ended. It goes on with the import when it runs again.')
    }
  } finally {
    progress.stop()
  }
}

/** @throws unless there is one such source */
async function sourceOf({ projects, sources }: Services, name: string, project?: string): Promise<Place> {
  const only = project === undefined ? undefined : (await projects.find(project)).projectId
  const all = await sources.list(only)
  const matches = all.filter(({ id, platform }) => id === name || platform === name)
  const [source] = matches
  if (!source) throw new Error(`There is no source ${shown(name)}${project ? ` in ${shown(project)}` : ''}.`)
  if (matches.length > 1)
    throw new Error(`Several sources are of ${shown(name)}. Name one by its id, or its project by --project.`)
  return { id: source.id, projectId: await sources.projectOf(source.id) }
}

const checkRequest = compileCheck(ImportRequest)

/** @throws invalid_request naming the option */
function requestOf({ since, until, limit, rate, recordings, dryRun }: ImportFlags): ImportRequest {
  if (since === undefined) throw invalidRequest([{ field: '--since', message: 'is required, such as 90d' }])
  const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  const given = { since, until, limit: numberOf(limit), rate: numberOf(rate), recordings, dryRun }
  const members = Object.entries(given).filter(([, value]) => value !== undefined)
  try {
    return checkRequest(Object.fromEntries(members))
  } catch (error) {
    return toOptions(error)
  }
}

const toOptions = namingOptions(({ field, message }) => ({
  field: field === 'source' ? 'body' : `--${field}`,
  message,
}))

function previewLines(preview: Awaited<ReturnType<Services['sourceImports']['preview']>>): string[] {
  if (!preview.ok) return [preview.reason]
  const { reachable, total, perCall, seen, recordings, goneAt } = preview
  return [
    reachable === null ? 'The platform has no such call.' : `The oldest call seen began at ${reachable}.`,
    ...(total === null ? [] : [`It has ${counted(total, 'call')} in all.`]),
    `Each call takes ${counted(perCall, 'request')} beside the list.`,
    ...(recordings === null ? [] : [`Of ${counted(seen, 'call')}, ${recordings} have a recording.`]),
    ...(goneAt === null ? [] : [`The platform deletes a recording at ${goneAt}.`]),
  ]
}

function linesOf(report: ImportReport): string[] {
  const { state, reason, found, created, changed, unchanged, live, erased, skipped, failed, samples } = report
  const { recordings } = report
  const others = Object.values(skipped).reduce((sum, count) => sum + count, 0)
  return [
    `Import ${state}${reason === null ? '.' : `: ${shown(reason)}`}`,
    `Found ${counted(found, 'call')}: ${created} created, ${changed} changed, ${unchanged} unchanged, ${live} going on, ` +
      `${erased} deleted here, ${others} skipped, ${failed} that cannot be read.`,
    ...samples.map(({ field, message, count }) => `${shown(field)} ${shown(message)} (${count})`),
    ...(recordings.queued > 0
      ? [`Recordings: ${recordings.queued} queued, ${recordings.kept} kept, ${recordings.failed} failed.`]
      : []),
  ]
}
