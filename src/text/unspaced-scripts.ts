/**
 * A character of a script without spaces between words, as part of a pattern. Korean has spaces, but attaches particles
 * to the word before them.
 */
export const unspacedScripts =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]'
