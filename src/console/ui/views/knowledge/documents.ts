/** A document that is about to become an item. */
export interface Document {
  name: string
  text: string
}

const namePointsMax = 200

/**
 * Reads a file as a document, named by its first heading or else by the file name.
 * @throws an Error whose message can be shown
 */
export async function readDocument(file: File): Promise<Document> {
  if (!/\.(md|markdown|txt)$/i.test(file.name)) throw new Error('Only .md and .txt files can be read.')
  const text = decode(await file.arrayBuffer())
  if (text.trim() === '') throw new Error('The file is empty.')
  return { name: nameOf(file.name, text), text }
}

/** The first heading of a Markdown text, or else the file name without its extension. */
export function nameOf(fileName: string, text: string): string {
  const heading = /^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$/m.exec(withoutFences(text))?.[1]
  const name = heading?.trim() || fileName.replace(/\.[^.]+$/, '') || fileName
  return [...name].slice(0, namePointsMax).join('')
}

function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // A fatal decoder throws only for invalid UTF-8.
    throw new Error('The file is not UTF-8 text.')
  }
}

/** A `#` within a code block is a comment, not a heading. */
function withoutFences(text: string): string {
  return text.replace(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\1[ \t]*$|$(?![\s\S]))/gm, '')
}
