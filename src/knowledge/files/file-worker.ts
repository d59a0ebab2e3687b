import { limits } from '../../limits.ts'
import { lowerPriority } from '../../threads/priority.ts'
import { sendEvent, serve } from '../../threads/serve.ts'
import { FileRefusal, type FileText, fileKind } from './file-text.ts'
import { type FileContent, readFile } from './read-file.ts'

/** An upload. */
export interface FormFile {
  file: FileText
  /** The part `tags`, unchecked; empty without one. */
  tags: string
  /** The names of all parts. No others are read. */
  parts: Record<string, true>
}

/**
 * Reads the parts `file` and `tags` of a form.
 * @param type the Content-Type, which has the boundary of the parts
 * @throws FileRefusal
 */
async function readForm(type: string, bytes: Uint8Array): Promise<FormFile> {
  const form = await parse(type, bytes)
  const [file, ...more] = form.getAll('file')
  // Bun leaves out an empty name, although its types do not say so.
  if (!(file instanceof File) || !file.name || more.length > 0)
    throw new FileRefusal('bad_form', 'must be one part of the form, with a file name')
  if (file.size > limits.file.most) throw new FileRefusal('too_large', 'The file is too large')
  const parts = Object.fromEntries([...form.keys()].map((name) => [name, true as const]))
  const content = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }
  const tags = form.getAll('tags').filter((part) => typeof part === 'string')
  return { file: await read(content), tags: tags.join(), parts }
}

async function parse(type: string, bytes: Uint8Array): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  } catch {
    // The runtimes' own messages differ.
    throw new FileRefusal('bad_form', 'must be a part of a whole multipart/form-data body')
  }
}

/** Says first what kind of file it is: its time depends on that. */
async function read(file: FileContent): Promise<FileText> {
  sendEvent(fileKind(file.name))
  return await readFile(file)
}

const api = { readFile: read, readForm }

export type FileApi = typeof api

// Requests are more urgent than files.
lowerPriority(10)
serve(api)
