import { deflateRawSync } from 'node:zlib'

// Minimal files in the formats of common programs.

export interface PdfText {
  x?: number
  y: number
  size?: number
  text: string
}

/** A PDF with one font, each page drawing these texts in their order. */
export function makePdf(
  pages: readonly (readonly PdfText[])[],
  info: Record<string, string> = {},
): Uint8Array {
  const entries = Object.entries(info).map(([key, value]) => `/${key} (${value})`)
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${5 + 2 * at} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< ${entries.join(' ')} >>`,
    ...pages.flatMap((texts, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${6 + 2 * at} 0 R /Resources << /Font << /F 3 0 R >> >> >>`,
      streamOf(texts.map(drawn).join('\n')),
    ]),
  ]
  let file = '%PDF-1.7\n'
  const offsets = objects.map((object, at) => {
    const offset = file.length
    file += `${at + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const start = file.length
  const size = objects.length + 1
  file += `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`
  file += `trailer\n<< /Size ${size} /Root 1 0 R /Info 4 0 R >>\nstartxref\n${start}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}

function drawn({ x = 50, y, size = 10, text }: PdfText): string {
  return `BT /F ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`
}

function streamOf(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`
}

/** A ZIP archive. @param lies sizes to name instead of the true ones */
export function makeZip(
  files: Record<string, string | Uint8Array>,
  lies: Record<string, number> = {},
): Buffer {
  const locals: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string)
    const packed = deflateRawSync(bytes)
    const header = Buffer.alloc(26)
    header.writeUInt16LE(20, 0)
    header.writeUInt16LE(8, 4)
    header.writeUInt32LE(Bun.hash.crc32(bytes), 10)
    header.writeUInt32LE(packed.length, 14)
    header.writeUInt32LE(lies[name] ?? bytes.length, 18)
    header.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), header, Buffer.from(name), packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), header, tail, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const relationships = 'http://schemas.openxmlformats.org/package/2006/relationships'
const documentType = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'

/** A Word document with this body in WordprocessingML. */
export function makeDocx(body: string, more: Record<string, string> = {}, prolog = ''): Buffer {
  return makeZip({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
    '_rels/.rels': `<Relationships xmlns="${relationships}"><Relationship Id="r1" Type="${documentType}" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': `${prolog}<w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`,
    ...more,
  })
}

/** A paragraph, in a style such as `Heading1`. */
export function paragraph(text: string, style = ''): string {
  const properties = style ? `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>` : ''
  return `<w:p>${properties}<w:r><w:t>${text}</w:t></w:r></w:p>`
}

/** A page whose content is this stream, with these filters. */
export function pdfOf(stream: Uint8Array, filters: string): Uint8Array {
  const raw = Buffer.from(stream).toString('latin1')
  const file = Buffer.from(makePdf([[{ y: 1, text: 'text' }]])).toString('latin1')
  const replaced = file.replace(
    /<< \/Length \d+ >>\nstream\n[\s\S]*?\nendstream/,
    () => `<< /Length ${raw.length} /Filter ${filters} >>\nstream\n${raw}\nendstream`,
  )
  return Buffer.from(replaced, 'latin1')
}

/** A form with one file. */
export function formOf(name: string, content: string | Uint8Array): FormData {
  const form = new FormData()
  form.append('file', new File([content as string], name))
  return form
}
