import { lowerPriority } from '../../threads/priority.ts'
import { sendEvent, serve } from '../../threads/serve.ts'
import { fileKind } from './file-kind.ts'
import { readForm } from './form.ts'
import { type FileContent, readFile } from './read-file.ts'

// Requests are more urgent than files.
lowerPriority(10)

/** Says first what kind of file it is: its time depends on that. */
const read = async (file: FileContent) => {
  sendEvent(fileKind(file.name))
  return await readFile(file)
}

const api = {
  readFile: read,
  readForm: (type: string, bytes: Uint8Array) => readForm(type, bytes, read),
}

export type FileApi = typeof api

serve(api)
