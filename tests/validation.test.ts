import { describe, expect, test } from 'bun:test'
import { nameProblem, withoutHidden } from '../src/validation.ts'

describe('a name', () => {
  test.each([
    ['a zero-width space', 'a\u200bb', 'U+200B'],
    ['a joiner between Latin letters', 'a\u200db', 'U+200D'],
    ['a non-joiner at the end of a Persian word', 'علی\u200c', 'U+200C'],
    ['a joiner that joins nothing', '😀\u200d', 'U+200D'],
    ['an override of the direction', 'a\u202eb', 'U+202E'],
    ['an isolate', 'a\u2066b', 'U+2066'],
    ['a direction mark', 'a\u200eb', 'U+200E'],
    ['an Arabic letter mark', 'a\u061cb', 'U+061C'],
    ['a byte order mark', '\ufeffa', 'U+FEFF'],
    ['a word joiner', 'a\u2060b', 'U+2060'],
    ['a soft hyphen', 'a\u00adb', 'U+00AD'],
    ['a Hangul filler', 'a\u3164', 'U+3164'],
    ['an empty Braille pattern', 'a\u2800', 'U+2800'],
    ['a null notehead', 'a\u{1d159}', 'U+1D159'],
    ['a hieroglyphic joiner', 'a\u{13430}', 'U+13430'],
    ['a variation selector after a letter', 'a\ufe0f', 'U+FE0F'],
    ['a tag without a flag', 'a\u{e0041}', 'U+E0041'],
    ['a tab', 'a\tb', 'U+0009'],
    ['a new line', 'a\nb', 'U+000A'],
    ['a line separator', 'a\u2028b', 'U+2028'],
    ['U+0000', 'a\0b', 'U+0000'],
  ])('may not contain %s', (_, name, code) => {
    expect(nameProblem(name)).toBe(
      `must not contain ${code}: control, direction and invisible characters are not allowed`,
    )
    expect(nameProblem(withoutHidden(name))).toBeNull()
  })

  test.each([
    ['emoji of several characters', '👩‍💻 👩🏽‍❤️‍👨🏼 🏳️‍🌈 🤷‍♀ 1️⃣ ☎︎ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪'],
    ['a Persian word with a non-joiner', 'می‌خواهم'],
    ['Indic words with joiners', 'ශ්‍රී क्‍ष র‍্যাব അരുണ്‍'],
    ['a Japanese name with an ideographic variant', '葛󠄀城'],
    ['combining marks, quotation marks and dashes', 'e\u0301 “Łukasz’s” – שלום العربية'],
  ])('may contain %s', (_, name) => {
    expect(nameProblem(name)).toBeNull()
    expect(withoutHidden(name)).toBe(name)
  })
})
