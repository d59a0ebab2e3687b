import type { CallChange } from '../../src/calls/schemas.ts'
import { foldText, stemOf, wordsOf } from '../../src/text/words.ts'

/** Every word that is said in a call, folded, and every stem. */
export interface Said {
  words: string[]
  stems: Set<string>
}

export function wordsSaid({ summary, transcript }: Pick<CallChange, 'summary' | 'transcript'>): Said {
  const contents = [summary ?? '', ...(transcript ?? []).map(({ content }) => content)]
  const words = contents.flatMap((content) => wordsOf(content).map((word) => foldText(word.text)))
  // The last character of a script without spaces stands alone as well.
  const last = words.filter((word) => /\p{Script=Han}$/u.test(word)).map((word) => word.slice(-1))
  const all = [...new Set([...words, ...last])]
  return { words: all, stems: new Set(all.map(stemOf)) }
}

/** What finding means, said in another way: each word of the text is one of the call's in some form. */
export function isFound({ words, stems }: Said, text: string): boolean {
  const asked = wordsOf(text).map((word) => ({ ...word, text: foldText(word.text) }))
  return asked.every(({ text: word, isPrefix }, n) => {
    const isBeginning = n === asked.length - 1 && (word.length > 1 || isPrefix)
    return stems.has(stemOf(word)) || (isBeginning && words.some((other) => other.startsWith(word)))
  })
}
