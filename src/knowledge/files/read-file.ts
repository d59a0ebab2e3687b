import { withoutHidden } from '../../validation.ts'
import { documentName, toItemName } from '../chunking/document-name.ts'
import { frontMatterValue } from '../chunking/front-matter.ts'
import { decodeText } from './decode.ts'
import { type FileKind, fileKind, readableFiles, titleOfFile } from './file-kind.ts'
import { type Converted, FileRefusal, type FileText, unreadable } from './file-text.ts'

const descriptionCharsMax = 2_000

export interface FileContent {
  /** A name or a path. Its extension determines the file's kind. */
  name: string
  bytes: Uint8Array
}

/**
 * Reads a file as an item: its text as Markdown, named by its title or else by its file name. Markdown and plain text
 * stay byte for byte. @throws FileRefusal
 */
export async function readFile({ name, bytes }: FileContent): Promise<FileText> {
  const kind = fileKind(name)
  if (!kind) throw new FileRefusal('unknown_type', `Send ${readableFiles}. The file name must say which.`)
  const { title, description, text } = await convert(kind, bytes)
  if (text.trim() === '') throw unreadable(noText(kind))
  const own = title === null ? '' : toItemName(title)
  return {
    name: own || documentName(text) || toItemName(titleOfFile(name).toWellFormed()) || 'File',
    description: [...withoutHidden(description ?? frontMatterValue(text, 'description') ?? '')]
      .slice(0, descriptionCharsMax)
      .join(''),
    text,
  }
}

async function convert(kind: FileKind, bytes: Uint8Array): Promise<Converted> {
  if (kind === 'text') {
    const text = decodeText(bytes)
    if (text.includes('\0')) throw unreadable('The file contains U+0000, so it is not text.')
    return { title: null, description: null, text }
  }
  try {
    const converted = await converters[kind](bytes)
    return { ...converted, text: converted.text.replaceAll('\0', '').toWellFormed() }
  } catch (error) {
    if (error instanceof FileRefusal) throw error
    const isDeep = error instanceof RangeError && /call stack/i.test(error.message)
    throw unreadable(
      isDeep ? 'Its parts are nested too deeply.' : `The file is damaged or is not a ${labels[kind]}.`,
    )
  }
}

/** Loaded when the first file of a kind arrives, since the packages are large. */
const converters: Record<Exclude<FileKind, 'text'>, (bytes: Uint8Array) => Promise<Converted>> = {
  html: async (bytes) => (await import('./html.ts')).readHtml(bytes),
  pdf: async (bytes) => await (await import('./pdf.ts')).readPdf(bytes),
  docx: async (bytes) => await (await import('./docx.ts')).readDocx(bytes),
  csv: async (bytes) => (await import('./csv.ts')).readCsv(bytes),
}

const labels = { html: 'web page', pdf: 'PDF', docx: 'Word document', csv: 'table' }

function noText(kind: FileKind): string {
  return kind === 'pdf'
    ? 'The file has no text. A scanned document needs text recognition (OCR) first.'
    : 'The file has no text.'
}
