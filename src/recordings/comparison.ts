import { asc, gt, inArray } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { recordings } from '../db/schema.ts'
import type { RecordingFiles } from './files.ts'
import { storedBytesOf } from './frames.ts'

const perSlice = 500
/** Younger files of a bucket may belong to an upload on another node, whose row is not committed yet. */
const settledMs = 86_400_000

/** What of the files and the rows of recordings does not fit together. */
export interface Comparison {
  recordings: number
  /** Rows whose file is gone. */
  missing: number
  /** Rows whose file is shorter or longer than it was. */
  damaged: number
  /** Files that no row names. */
  unnamed: string[]
}

/** Looks at each file and each row, which takes minutes with a million. */
export async function compareFiles(
  { read, files, now }: { read: ReadDatabase; files: RecordingFiles; now: () => number },
  signal: AbortSignal,
): Promise<Comparison> {
  const comparison: Comparison = { recordings: 0, missing: 0, damaged: 0, unnamed: [] }
  for (let last = ''; ; ) {
    signal.throwIfAborted()
    const { file, bytes } = recordings
    const rows = await read
      .select({ file, bytes })
      .from(recordings)
      .where(gt(file, last))
      .orderBy(asc(file))
      .limit(perSlice)
    for (const row of rows) {
      const openFile = await files.open(row.file)
      const storedBytes = await openFile?.bytes().finally(openFile.close)
      if (storedBytes === undefined) comparison.missing++
      else if (storedBytes !== storedBytesOf(row.bytes)) comparison.damaged++
    }
    comparison.recordings += rows.length
    last = rows.at(-1)?.file ?? last
    if (rows.length < perSlice) break
  }
  for await (const names of inPages(files)) {
    signal.throwIfAborted()
    const oldNames = names.filter(({ changedAt }) => changedAt < now() - settledMs).map(({ name }) => name)
    const rows = await read
      .select({ file: recordings.file })
      .from(recordings)
      .where(inArray(recordings.file, oldNames))
    const knownNames = new Set(rows.map(({ file }) => file))
    comparison.unnamed.push(...oldNames.filter((name) => !knownNames.has(name)))
  }
  return comparison
}

async function* inPages(files: RecordingFiles) {
  let page: { name: string; changedAt: number }[] = []
  for await (const file of files.list()) {
    page.push(file)
    if (page.length < perSlice) continue
    yield page
    page = []
  }
  yield page
}
