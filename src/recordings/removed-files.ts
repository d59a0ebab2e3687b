import { inArray } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { recordingRemovals, recordings } from '../db/schema.ts'
import type { RecordingFiles } from './files.ts'

const filesPerSlice = 500

interface RemovedFilesParts {
  files: RecordingFiles | null
}

/** The files of recordings that were deleted or replaced. Their keys are gone, so they are noise. */
export class RemovedFiles {
  readonly #parts: Core & RemovedFilesParts

  constructor(core: Core, parts: RemovedFilesParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Removes them all. */
  async erase(): Promise<void> {
    const { read, write, files } = this.#parts
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
    const { read, files } = this.#parts
    await files?.clear(async (names) => {
      const rows = await read
        .select({ file: recordings.file })
        .from(recordings)
        .where(inArray(recordings.file, names))
      return new Set(rows.map(({ file }) => file))
    })
  }
}
