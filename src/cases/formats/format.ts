import type { Case, Message } from '../schemas.ts'

/** How cases are written for a framework that tests agents. */
export interface CaseFormat {
  /** The name of the file. */
  file: string
  mediaType: string
  /** What it can test, and what it lacks, in a sentence or two. */
  about: string
  /** Stands before the cases. */
  head: (options: FormatOptions) => string
  /** A case; nothing for one that the format cannot say. */
  of: (of: Case, options: FormatOptions) => string
}

export interface FormatOptions {
  /** The agent's own prompt, where a format has a place for it. */
  system?: string | undefined
}

/** A value as JSON that YAML and programs that split lines read, too: PyYAML refuses raw U+007F to U+009F. */
export function jsonText(value: unknown): string {
  // Pairs of surrogates stay as they are: of two escapes PyYAML makes lone halves.
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A body of an API on a line of its own. */
export function jsonLine(body: unknown): string {
  return `${jsonText(body)}\n`
}

/**
 * The value with a blank after each brace that would open a template: platforms fill in `{{name}}`, and a caller's words
 * must name nothing.
 */
export function withoutTemplates<Value>(value: Value): Value {
  // Outside of texts, JSON has no brace directly after a brace that opens.
  return JSON.parse(JSON.stringify(value).replace(/\{(?=[{%])/g, '{ '))
}

/** The conversation up to what a caller said last; tools after it are the agent's to call. Null without a caller. */
export function upToCaller(messages: readonly Message[]): { before: Message[]; user: string } | null {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return last < 0 ? null : { before: messages.slice(0, last), user: messages[last]?.content ?? '' }
}

/** The arguments of a tool, written anew: escapes could hide a brace. */
export function argumentsIn(text: string): Record<string, unknown> {
  // Those of a case are the text of an object: see cut.ts.
  return JSON.parse(text)
}
