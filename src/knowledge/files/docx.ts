import { Buffer } from 'node:buffer'
import { DOMParser } from 'linkedom'
import mammoth from 'mammoth'
import type { Converted } from './file-text.ts'
import { toMarkdown } from './markdown.ts'
import { parsePage } from './page.ts'
import { checkArchive } from './zip.ts'

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
