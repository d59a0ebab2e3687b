import { getDocument } from 'unpdf/pdfjs'
import { limits } from '../../limits.ts'
import { type Converted, unreadable } from './file-text.ts'
import { type Line, toLines } from './pdf-lines.ts'
import { toMarkdown } from './pdf-markdown.ts'

const pagesMax = limits.filePages.most
/** Titles that programs write into untitled documents: `Microsoft Word - report.docx`, `untitled`. */
const noTitle = /^(?:microsoft \w+ - .*|untitled.*|.*\.[a-z]\w{1,3})$/i

/** Reads a PDF. Large text becomes a heading, and aligned columns become a table. */
export async function readPdf(bytes: Uint8Array): Promise<Converted> {
  const loading = getDocument({
    // A copy, since the parser takes over the bytes.
    data: new Uint8Array(bytes),
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    isOffscreenCanvasSupported: false,
    enableXfa: false,
    verbosity: 0,
  })
  // Without a handler, the parser would wait for the password.
  loading.onPassword = () => {
    throw unreadable('The file is password-protected.')
  }
  try {
    const document = await loading.promise
    const { numPages } = document
    if (numPages > pagesMax)
      throw unreadable(`The file has ${numPages} pages. At most ${pagesMax} can be read.`)
    const pages: Line[][] = []
    for (let number = 1; number <= numPages; number++) {
      const page = await document.getPage(number)
      pages.push(toLines((await page.getTextContent()).items))
      page.cleanup()
    }
    const { info } = await document.getMetadata()
    const { Title: title, Subject: subject } = info as { Title?: unknown; Subject?: unknown }
    return {
      title: typeof title === 'string' && !noTitle.test(title.trim()) ? title : null,
      description: typeof subject === 'string' ? subject : null,
      text: toMarkdown(pages),
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException')
      throw unreadable('The file is password-protected.')
    throw error
  } finally {
    await loading.destroy()
  }
}
