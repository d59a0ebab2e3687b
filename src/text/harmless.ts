// Invisible characters, and the brackets that open control tokens such as `<|im_end|>` and `[INST]`: tokenizers find
// these anywhere in a text. Joiners and variation selectors are part of how words are spelled.
const harmful = /(?!\u200c|\u200d|\ufe0f)[<[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

const strings = /"(?:[^"\\]|\\.)*"/g

/** The value as JSON, with everything in its texts escaped that a model could read as more than a text. */
export function harmlessJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  const escapedIn = (text: string) =>
    text.replace(harmful, (character) => character.split('').map(escaped).join(''))
  return JSON.stringify(value).replace(strings, escapedIn)
}
