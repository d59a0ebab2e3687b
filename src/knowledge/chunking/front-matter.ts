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
