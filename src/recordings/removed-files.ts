import { inArray } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { recordingRemovals, recordings } from '../db/schema.ts'
import type { WriteDatabase } from '../db/write-database.ts'
import type { RecordingFiles } from './files.ts'

const filesPerSlice = 500

interface RemovedFilesOptions {
  read: ReadDatabase
  write: WriteDatabase
  files: RecordingFiles | null
}

/** The files of recordings that were deleted or replaced. Their keys are gone, so they are noise. */
export class RemovedFiles {
  readonly #options: RemovedFilesOptions

  constructor(options: RemovedFilesOptions) {
    this.#options = options
  }

  /** Removes them all. */
  async erase(): Promise<void> {
    const { read, write, files } = this.#options
    if (!files) return
    for (;;) {
      const rows = await read.select().from(recordingRemovals).limit(filesPerSlice)
      const names = rows.map(({ file }) => file)
      for (const name of names) await files.remove(name)
      if (names.length > 0)
        await write.delete(recordingRemovals).where(inArray(recordingRemovals.file, names))
      if (names.length < filesPerSlice) return
    }
  }

  /** Finishes what a kill has left: drafts that a row names are kept, and all others are removed. */
  async clearDrafts(): Promise<void> {
    const { read, files } = this.#options
    await files?.clear(async (names) => {
      const rows = await read
        .select({ file: recordings.file })
        .from(recordings)
        .where(inArray(recordings.file, names))
      return new Set(rows.map(({ file }) => file))
    })
  }
}
