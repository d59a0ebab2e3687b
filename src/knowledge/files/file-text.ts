/** A file as an item: its text in Markdown, its name and its description. */
export interface FileText {
  name: string
  description: string
  text: string
}

/** What a converter returns. Title and description are those in the file; null if it has none. */
export interface Converted {
  title: string | null
  description: string | null
  text: string
}

/** Why an upload is refused: its form is malformed, its type is not supported, or its content cannot be read. */
export type RefusalCode = 'bad_form' | 'unknown_type' | 'unreadable'

/** A refused file. The message is a sentence for the person who sent it. */
export class FileRefusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.name = 'FileRefusal'
    this.code = code
  }
}

export function unreadable(message: string): FileRefusal {
  return new FileRefusal('unreadable', message)
}
