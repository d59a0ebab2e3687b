import type { ReadLocation } from './location.ts'
import { openReader, type Reader } from './reader.ts'
import { openRemoteReader } from './remote-reader.ts'

/** A reader of the database, wherever it is. */
export function openReaderAt(location: ReadLocation): Reader {
  return location.kind === 'file' ? openReader(location.file) : openRemoteReader(location)
}
