import { cutToChars } from '../../text/cut.ts'
import { isTag, tagsMax, toTags } from '../../text/tags.ts'

/** The offset after a text's byte order mark and its YAML (`---`) or TOML (`+++`) front matter. */
export function frontMatterEnd(text: string): number {
  const start = text.startsWith('\ufeff') ? 1 : 0
  const fence = text.slice(start, start + 3)
  if (fence !== '---' && fence !== '+++') return start
  // As in Pandoc, a blank line after the first line makes that line a thematic break.
  const opens = /^[ \t]{0,80}(?:\r\n|\r|\n)[ \t]{0,80}\S/
  if (!opens.test(text.slice(start + 3, start + 170))) return start
  const closes =
    fence === '---' ? /^(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|$)/gm : /^\+\+\+[ \t]*(?:\r\n|\r|\n|$)/gm
  closes.lastIndex = start + 3
  return closes.test(text) ? closes.lastIndex : start
}

/** A text value in front matter, YAML or TOML, on one line; null if there is none. */
export function frontMatterValue(
  text: string,
  key: 'title' | 'name' | 'description' | 'tags' | 'questions',
): string | null {
  const frontMatter = text.slice(0, frontMatterEnd(text))
  const line = new RegExp(`^${key}[ \\t]*[:=][ \\t]*([^\\r\\n]*)((?:\\r?\\n[ \\t]+[^\\r\\n]+)*)`, 'm').exec(
    frontMatter,
  )
  const first = line?.[1]?.trim() ?? ''
  // A text may continue on indented lines, with or without a block indicator.
  const further = (line?.[2] ?? '').replace(/\s+/g, ' ').trim()
  const whole = `${/^[|>][-+]?$/.test(first) ? '' : first} ${further}`.trim()
  const value = unquoted(whole) ?? withoutComment(whole)
  return value === '' || /^[|>&*!{[]/.test(whole) ? null : value
}

function unquoted(value: string): string | null {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')/.exec(value) ?? []
  return (double?.replace(/\\(["\\])/g, '$1') ?? single?.replaceAll("''", "'"))?.trim() ?? null
}

const questionsMax = 10
const questionCharsMax = 2_000
const valuesMax = 1_000
const shownCharsMax = 60

/** The tags that front matter names, as tags are written; undefined if it names none. `warnings` tell what was left out. */
export function frontMatterTags(text: string): { tags?: string[]; warnings: string[] } {
  const list = frontMatterList(text, 'tags')
  if (!list || (typeof list === 'string' && /^(?:~|null)$/i.test(list))) return { warnings: [] }
  const values = typeof list === 'string' ? list.split(',') : list
  const all = values.map((value) => value.trim().toLowerCase().replace(/\s+/g, '-')).filter(Boolean)
  const [tags, others] = [toTags(all.filter(isTag)), all.filter((tag) => !isTag(tag))]
  const beyond = tags.splice(tagsMax)
  return {
    tags,
    warnings: [
      ...others.map((tag) => `${JSON.stringify(cutToChars(tag, shownCharsMax))} is no tag, and was left out`),
      ...beyond.map((tag) => `${tag} is beyond the ${tagsMax} tags that an item has, and was left out`),
    ],
  }
}

/** The questions that front matter says the text answers. */
export function frontMatterQuestions(text: string): { questions: string[]; warnings: string[] } {
  const list = frontMatterList(text, 'questions') ?? []
  const all = (typeof list === 'string' ? [list] : list).map((value) => value.trim()).filter(Boolean)
  const questions = all.filter((question) => [...question].length <= questionCharsMax)
  const beyond = questions.splice(questionsMax)
  return {
    questions,
    warnings: [
      ...(all.length > questions.length + beyond.length
        ? [`A question has more than ${questionCharsMax} characters, and was left out`]
        : []),
      ...beyond.map(
        (question) =>
          `A file has at most ${questionsMax} questions: ${JSON.stringify(cutToChars(question, shownCharsMax))} was left out`,
      ),
    ],
  }
}

/** A list in front matter, `[a, "b"]` or one `- a` a line, or a single text; null if there is neither. */
function frontMatterList(text: string, key: 'tags' | 'questions'): string[] | string | null {
  const frontMatter = text.slice(0, frontMatterEnd(text))
  const found = new RegExp(`^${key}[ \\t]*[:=][ \\t]*`, 'm').exec(frontMatter)
  if (!found) return null
  const rest = frontMatter.slice(found.index + found[0].length)
  if (/^\s*\[/.test(rest)) return inBrackets(rest.slice(rest.indexOf('[') + 1))
  const lines = rest.split(/\r\n|\r|\n/)
  if (!/^(?:#.*)?$/.test(lines.shift() ?? '')) return frontMatterValue(text, key)
  return inLines(lines)
}

/** The values up to the bracket that closes them, in YAML or TOML. */
function inBrackets(text: string): string[] {
  const values: string[] = []
  const part =
    /[\s,]*(?:(#[^\r\n]*)|("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,\]"'#](?:[^,\]\r\n#]|(?<=\S)#)*)|(\])|.)/gy
  for (const [, , value, end] of text.matchAll(part)) {
    if (end || values.length >= valuesMax) break
    if (value) values.push(unquoted(value) ?? value.trim())
  }
  return values
}

/** The values of lines that begin with a dash. Further lines of a value are indented; null without any. */
function inLines(lines: readonly string[]): string[] | null {
  const values: string[] = []
  for (const line of lines) {
    const [, value] = /^[ \t]*-(?:[ \t]+(.*))?$/.exec(line)?.map((part = '') => part) ?? []
    const more = /^[ \t]+([^\s#].*)$/.exec(line)?.[1]
    if (value !== undefined && values.length < valuesMax) values.push(value)
    else if (more && values.length > 0) values.push(`${values.pop()} ${more}`)
    else if (!/^[ \t]*(?:#.*)?$/.test(line)) break
  }
  // A value may be a block, whose lines follow.
  const texts = values.map(
    (value) => unquoted(value) ?? withoutComment(value).replace(/^[|>][-+]?(?:\s|$)/, ''),
  )
  return values.length > 0 ? texts.filter((text) => text !== '') : null
}

function withoutComment(value: string): string {
  return value.replace(/(?:^|[ \t])#.*$/s, '').trim()
}
