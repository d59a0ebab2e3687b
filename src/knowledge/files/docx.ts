import { Buffer } from 'node:buffer'
import JSZip from 'jszip'
import { DOMParser } from 'linkedom'
import mammoth from 'mammoth'
import { limits } from '../../limits.ts'
import { type Converted, unreadable } from './file-text.ts'
import { parsePage, toMarkdown } from './markdown.ts'

const expandedBytesMax = limits.fileInflated.most

// mammoth 1.13 sets `__proto__`, which Deno does not allow, so it stays at 1.12.

/** Reads a Word document, without images, comments and macros. Nothing that it links to is fetched. */
export async function readDocx(bytes: Uint8Array): Promise<Converted> {
  const core = new DOMParser().parseFromString(
    (await checkArchive(bytes, 'docProps/core.xml')) ?? '<properties/>',
    'text/xml',
  )
  const property = (name: string) => core.getElementsByTagName(name)[0]?.textContent ?? null
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) },
    {
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      styleMap: ["p[style-name='Title'] => h1:fresh"],
      includeEmbeddedStyleMap: false,
      externalFileAccess: false,
    },
  )
  return {
    title: property('dc:title'),
    description: property('dc:description'),
    text: toMarkdown(parsePage(value).body),
  }
}

/**
 * Checks that an archive is complete and not too large when expanded, whatever sizes and counts it declares. Opened with
 * the library that mammoth reads it with, so that both see the same entries.
 * @returns the text of one entry; null if the archive has no entry of this name
 * @throws FileRefusal
 */
async function checkArchive(bytes: Uint8Array, wantedPart: string): Promise<string | null> {
  const archive = await JSZip.loadAsync(bytes).catch((error: Error) => {
    throw /encrypted/i.test(error.message) ? unreadable('The file is password-protected.') : damaged()
  })
  let leftBytes = expandedBytesMax
  for (const entry of Object.values(archive.files)) leftBytes -= await expandedBytes(entry, leftBytes)
  return (await archive.file(wantedPart)?.async('string')) ?? null
}

/** Counts the bytes as they are expanded, and stops when there are too many. */
function expandedBytes(entry: JSZip.JSZipObject, bytesMax: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    const stream = entry.nodeStream()
    stream.on('data', (chunk: Uint8Array) => {
      bytes += chunk.byteLength
      if (bytes <= bytesMax) return
      stream.pause()
      reject(unreadable(`The file expands to more than ${expandedBytesMax} bytes.`))
    })
    stream.on('error', () => reject(damaged()))
    stream.on('end', () => resolve(bytes))
  })
}

function damaged() {
  return unreadable('The file is damaged or incomplete.')
}
