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
export function frontMatterValue(text: string, key: 'title' | 'name' | 'description'): string | null {
  const frontMatter = text.slice(0, frontMatterEnd(text))
  const line = new RegExp(`^${key}[ \\t]*[:=][ \\t]*([^\\r\\n]*)((?:\\r?\\n[ \\t]+[^\\r\\n]+)*)`, 'm').exec(
    frontMatter,
  )
  const first = line?.[1]?.trim() ?? ''
  // A text may continue on indented lines, with or without a block indicator.
  const further = (line?.[2] ?? '').replace(/\s+/g, ' ').trim()
  const whole = `${/^[|>][-+]?$/.test(first) ? '' : first} ${further}`.trim()
  const value = unquoted(whole) ?? whole.replace(/(?:^|[ \t])#.*$/s, '').trim()
  return value === '' || /^[|>&*!{[]/.test(whole) ? null : value
}

function unquoted(value: string): string | null {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')/.exec(value) ?? []
  return (double?.replace(/\\(["\\])/g, '$1') ?? single?.replaceAll("''", "'"))?.trim() ?? null
}
