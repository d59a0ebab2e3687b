import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('./', import.meta.url))
export const facePath = '/docs/face'

/** The typefaces, by the names that fonts.css has. A name has the version, so that a file never changes. */
export const fontFiles = ['inter-4.1.woff2', 'jetbrains-mono-2.211.woff2'] as const

/** The console's typefaces and colours as a style sheet, for pages outside of it. */
export function readFaceStyles(...more: 'viewer.css'[]): string {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const fonts = read('fonts.css').replaceAll('url("./', `url("${facePath}/`)
  return [fonts, ...['docs.css', ...more].map(read)].join('\n').replace(/\/\*[\s\S]*?\*\/\n?/g, '')
}

export function readFont(name: (typeof fontFiles)[number]): Buffer<ArrayBuffer> {
  return readFileSync(join(folder, name))
}

export const schemeScriptPath = `${facePath}/scheme.js`
/** Applies the colour scheme that a person chose in the console. */
export const schemeScript = `try {
  const chosen = localStorage.getItem('callbook-color-scheme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.scheme = chosen
} catch {}
`
