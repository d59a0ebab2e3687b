import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { limits } from '../../limits.ts'
import { unreadable } from './file-text.ts'

const nestedMax = limits.fileLevels.most
const lengthOfTagMax = 2_000

/** Links that work outside their page. */
const absoluteLink = /^(?:https?:|mailto:|tel:)[^\s()]+$/i
/** At the start of a line, these would be read as a heading, a quotation, a list or a rule. */
const structure = /^(\s*)(#{1,6}(?=\s)|>|[-+*](?=\s)|={3,}|-{3,}|`{3,}|~{3,})/gm
const listNumber = /^(\s*\d{1,9})([.)])(?=\s)/gm

/**
 * Parses a page. Adds the tags that HTML lets authors leave out, because the parser needs them.
 * @throws FileRefusal if elements are nested too deeply
 */
export function parsePage(html: string): Document {
  const outer = new RegExp(`<(?:!doctype|/?(?:html|head|body))(?:\\s[^<>]{0,${lengthOfTagMax}})?>`, 'gi')
  const inner = html.replace(outer, '')
  refuseDeep(inner)
  return parseHTML(`<!doctype html><html><head></head><body>${inner}</body></html>`).document
}

/** Building the document and converting it take time that grows with the square of the depth, or more. */
function refuseDeep(html: string): void {
  let depth = 0
  const parser = new Parser({
    onopentagname: () => {
      if (++depth > nestedMax) throw unreadable(`Its parts are nested more than ${nestedMax} levels deep.`)
    },
    onclosetag: () => {
      depth--
    },
  })
  parser.end(html)
}

/**
 * Converts HTML to Markdown. Keeps headings, lists, tables, code and absolute links; images become their descriptions.
 */
export function toMarkdown(root: HTMLElement): string {
  const turndown = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
  })
  turndown.remove(['script', 'style', 'noscript', 'template', 'iframe', 'button', 'hr'])
  turndown.addRule('image', {
    filter: 'img',
    replacement: (_, node) => elementOf(node).getAttribute('alt')?.replace(/\s+/g, ' ') ?? '',
  })
  turndown.addRule('link', {
    filter: 'a',
    replacement: (content, node) => {
      const href = elementOf(node).getAttribute('href') ?? ''
      // A heading's link to itself.
      if (href.startsWith('#') && /^[#¶§]?$/.test(content.trim())) return ''
      return absoluteLink.test(href) && content.trim() !== '' ? `[${content}](${href})` : content
    },
  })
  turndown.addRule('code', {
    filter: 'pre',
    replacement: (_, node) => `\n\n\`\`\`\n${node.textContent?.replace(/\n$/, '') ?? ''}\n\`\`\`\n\n`,
  })
  addTables(turndown)
  // The library escapes every mark, but `snake\_case` can be neither read aloud nor found.
  turndown.escape = (text) => text.replace(structure, '$1\\$2').replace(listNumber, '$1\\$2')
  return turndown.turndown(root)
}

/**
 * Converts tables, with the first row as the header. A table that contains tables is layout, so its cells become
 * paragraphs.
 */
function addTables(turndown: TurndownService): void {
  const layouts = new WeakMap<object, boolean>()
  const isLayout = (node: Node) => {
    const table = elementOf(node).closest('table')
    if (!table) return true
    const hasTables = layouts.get(table) ?? table.querySelector('table') !== null
    layouts.set(table, hasTables)
    return hasTables
  }
  turndown.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node) => {
      if (isLayout(node)) return `\n\n${content}\n\n`
      const text = content.trim().replace(/\s+/g, ' ').replace(/\|/g, '\\|')
      const columns = Math.min(Number(elementOf(node).getAttribute('colspan')) || 1, columnsMax)
      return `| ${text} ${'|  '.repeat(columns - 1)}`
    },
  })
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => (isLayout(node) ? content : `\n${content.replace(/\n+/g, ' ')}|\n`),
  })
  turndown.addRule('table', {
    filter: 'table',
    replacement: (content, node) => (isLayout(node) ? content : `\n\n${withRule(content)}\n\n`),
  })
}

const columnsMax = 100

/** Adds the rule below the header row, and moves other lines, such as a caption, before the table. */
function withRule(content: string): string {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const rows = lines.filter((line) => line.startsWith('| '))
  const others = lines.filter((line) => !line.startsWith('| '))
  const columns = (rows[0]?.match(/(?<!\\)\|/g)?.length ?? 1) - 1
  const rule = `${'| --- '.repeat(columns)}|`
  return [...others, ...(others.length > 0 ? [''] : []), ...rows.slice(0, 1), rule, ...rows.slice(1)].join(
    '\n',
  )
}

/** The rules above match only elements, but the library's type is wider. */
function elementOf(node: Node): HTMLElement {
  return node as HTMLElement
}
