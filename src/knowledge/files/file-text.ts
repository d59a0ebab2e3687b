/** A file as an item: what it says in Markdown, and how it is called. */
export interface FileText {
  name: string
  description: string
  text: string
}

/** What a converter reads: titles and descriptions are as the file has them, null when it has none. */
export interface Converted {
  title: string | null
  description: string | null
  text: string
}

/** Why nothing can be made of an upload: its form is wrong, its type is not one of ours, or its content is at fault. */
export type RefusalCode = 'bad_form' | 'unknown_type' | 'unreadable'

/** Thrown when a file is refused. The message is a sentence for whoever sent it. */
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
