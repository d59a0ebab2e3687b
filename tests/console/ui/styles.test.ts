import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const sources = fileURLToPath(new URL('../../../src/console/ui/', import.meta.url))
const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).map((name) =>
  resolve(sources, name),
)
const global = [...readFileSync(`${sources}base.css`, 'utf8').matchAll(/\.(cb-[\w-]+)/g)].map(
  ([, name]) => name,
)

test('a class is used exactly where there is one', () => {
  const used = new Set<string>()
  for (const file of files.filter((name) => name.endsWith('.tsx'))) {
    const text = readFileSync(file, 'utf8')
    for (const [, local, sheet = ''] of text.matchAll(/^import (\w+) from '(.*\.module\.css)'$/gm)) {
      for (const [, name] of text.matchAll(new RegExp(`[{ ]${local}\\.(\\w+)`, 'g')))
        used.add(`${resolve(dirname(file), sheet)} ${name}`)
    }
    for (const [, name] of text.matchAll(/(?<![\w-])(cb-[\w-]+)/g)) used.add(`global ${name}`)
  }
  const defined = files
    .filter((name) => name.endsWith('.module.css'))
    .flatMap((file) => {
      const selectors = readFileSync(file, 'utf8').replace(
        /\/\*.*?\*\/|:global\(.*?\)|[\w-]+:\s[^;{}]*;/gs,
        '',
      )
      return [...selectors.matchAll(/\.([a-z]\w*)/gi)].map(([, name]) => `${file} ${name}`)
    })
  // The splash is in the page as it is served.
  const globals = global.filter((name) => name !== 'cb-splash').map((name) => `global ${name}`)
  expect([...used].sort()).toEqual([...new Set([...defined, ...globals])].sort())
})
