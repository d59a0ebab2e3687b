import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Calls } from '../../src/calls/calls.ts'
import type { CallSearch } from '../../src/calls/finding/call-query.ts'
import { asImportLines, csvOf, linesOf } from '../../src/calls/reading/forms.ts'
import { isListParameter, readListRequest } from '../../src/calls/reading/list-request.ts'
import { readParameters } from '../../src/http/parameters.ts'
import { extensionOf } from '../../src/recordings/media-type.ts'
import type { Services } from '../../src/services/services.ts'
import type { OfProject } from './options.ts'
import { startProgress } from './progress.ts'
import { counted } from './sentences.ts'
import type { Shell } from './shell.ts'

/** Options of the command. */
export interface ExportOptions extends OfProject {
  query?: string
  csv?: true
  /** Folder for the recordings. */
  recordings?: string
}

/** Prints the calls that the options ask for. */
export async function exportCalls(
  { calls, reading, recordings: kept }: Services,
  {
    shell,
    projectId,
    query = '',
    csv,
    json,
    recordings,
  }: ExportOptions & { shell: Shell; projectId: number },
): Promise<void> {
  if (csv && json) throw new Error('Use either --csv or --json, not both.')
  const unknown = Object.keys(readParameters(`?${query}`)).filter((name) => !isListParameter(name))
  if (unknown.length > 0) throw new Error(`--query has unknown parameters: ${unknown.join(', ')}.`)
  const parameters = { order: ['createdAt'], ...readParameters(`?${query}`) }
  const { search, fields, isDetailed, ...range } = readListRequest(parameters, {
    isCsv: csv === true,
    readCursor: calls.cursors(projectId).read,
  })
  const { form, head } = csv
    ? csvOf({ fields, isDetailed })
    : { form: fields ? linesOf({ fields, isDetailed }) : asImportLines, head: '' }
  const type = csv ? 'text/csv' : 'application/x-ndjson'
  await reading.exported(projectId, undefined, { type, parameters: Object.keys(readParameters(`?${query}`)) })
  // Its lines would run into the bar.
  const progress = shell.streams.stdout.isTTY
    ? null
    : startProgress(shell, 'Exporting', await totalOf(calls, projectId, search))
  let done = 0
  const onPart = (more: number) => {
    done += more
    progress?.update(done, counted(done, 'call'))
  }
  try {
    const parts = asTexts(head, calls.export(projectId, search, { form, ...range, onPart }))
    for await (const part of json ? asArray(parts) : parts) {
      shell.signal.throwIfAborted()
      if (!(await shell.write(part))) return
    }
  } finally {
    progress?.stop()
  }
  if (recordings === undefined) return
  const ofThese = { recording: ['kept'], ...parameters, fields: ['id'] }
  const { search: withSound } = readListRequest(ofThese, {
    isCsv: false,
    readCursor: calls.cursors(projectId).read,
  })
  const lines = asTexts(
    '',
    calls.export(projectId, withSound, { form: linesOf({ fields: new Set(['id']), isDetailed: false }) }),
  )
  await saveRecordings(kept, { projectId, folder: recordings, ids: idsOf(lines), signal: shell.signal })
}

/** Saves each recording as a file that has the call's id as its name. */
async function saveRecordings(
  recordings: Services['recordings'],
  { projectId, folder, ids, signal }: SaveOptions,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for await (const id of ids) {
    signal.throwIfAborted()
    const recording = await recordings.open(projectId, id).catch(() => null)
    // It may have been deleted meanwhile.
    if (!recording) continue
    const name = `${id.replaceAll(':', '_')}.${extensionOf(recording.contentType)}`
    await pipeline(recording.read(0, recording.bytes), createWriteStream(join(folder, name)))
  }
}

interface SaveOptions {
  projectId: number
  folder: string
  ids: AsyncIterable<string>
  signal: AbortSignal
}

async function* idsOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const part of lines) for (const line of part.split('\n')) if (line) yield JSON.parse(line).id
}

/** 0 when it is not known. */
async function totalOf(calls: Calls, projectId: number, search: CallSearch): Promise<number> {
  const { total, isCapped } = await calls.count(projectId, search)
  return isCapped ? 0 : total
}

async function* asTexts(head: string, parts: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  if (head) yield head
  for await (const part of parts) yield Buffer.from(part).toString()
}

async function* asArray(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let isFirst = true
  yield '['
  for await (const part of parts) {
    // Line endings stand only between calls: JSON escapes those inside a text.
    yield (isFirst ? '' : ',') + part.trimEnd().replaceAll('\n', ',')
    isFirst = false
  }
  yield ']\n'
}
