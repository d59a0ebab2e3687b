import { FileRefusal, type FileText } from './file-text.ts'
import type { FileContent } from './read-file.ts'

/** An upload. */
export interface FormFile {
  file: FileText
  /** The names of all parts. Only `file` is read. */
  parts: Record<string, true>
}

/**
 * Reads the part `file` of a form.
 * @param type the Content-Type, which has the boundary of the parts
 * @throws FileRefusal
 */
export async function readForm(
  type: string,
  bytes: Uint8Array,
  readFile: (file: FileContent) => Promise<FileText>,
): Promise<FormFile> {
  const form = await parse(type, bytes)
  const [file, ...more] = form.getAll('file')
  // Bun leaves out an empty name, although its types do not say so.
  if (!(file instanceof File) || !file.name || more.length > 0)
    throw new FileRefusal('bad_form', 'must be one part of the form, with a file name')
  const parts = Object.fromEntries([...form.keys()].map((name) => [name, true as const]))
  const content = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }
  return { file: await readFile(content), parts }
}

async function parse(type: string, bytes: Uint8Array): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  } catch {
    // The runtimes' own messages differ.
    throw new FileRefusal('bad_form', 'must be a part of a whole multipart/form-data body')
  }
}
