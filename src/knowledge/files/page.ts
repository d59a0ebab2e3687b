import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import { unreadable } from './file-text.ts'

const nestedMax = 200
const lengthOfTagMax = 2_000

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
