import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getLibFiles, ts } from '@ts-morph/common'

// What is added in one place and forgotten in another does not compile. All is added at once, since reading what the
// places import takes seconds.

const root = fileURLToPath(new URL('..', import.meta.url))
const madeUp = (name: string) => `${name}: nullable(Type.String({ description: 'A made-up text.' })),`

/** By file, what is added to it. */
const additions: Record<string, (text: string) => string> = {
  'src/calls/schemas.ts': (text) =>
    text
      .replace('const commonDetails = {', `$& ${madeUp('mood')}`)
      .replace('export const CallChange = Type.Partial(\n  Type.Object({', `$& ${madeUp('weather')}`),
  'src/webhooks/events.ts': (text) => text.replace("'erasure.done',", "$& 'call.made_up',"),
  'src/config.ts': (text) => text.replace("'builtin', 'local'", "$&, 'made-up'"),
}

/** By file, what its errors name. */
const forgotten: Record<string, string[]> = {
  'src/calls/writing/redaction.ts': ['mood', 'weather'],
  'src/calls/writing/merge-details.ts': ['mood'],
  'src/calls/writing/merge.ts': ['weather'],
  'src/webhooks/replay.ts': ['"call.made_up"'],
  'src/webhooks/docs.ts': ['"call.made_up"'],
  'src/console/ui/views/settings/webhooks.tsx': ['"call.made_up"'],
  'src/services/embedder.ts': ["'never'"],
}

test('a member, an event and an embedding provider that a place forgets are type errors there', () => {
  expect(errorsWith(additions, Object.keys(forgotten))).toEqual(forgotten)
}, 120_000)

/** By file, what its type errors name; the whole error where it names none of what was added. */
function errorsWith(added: typeof additions, files: readonly string[]): Record<string, string[]> {
  const configFile = ts.readConfigFile(`${root}tsconfig.json`, (path) => readFileSync(path, 'utf8'))
  const { options } = ts.parseJsonConfigFileContent(configFile.config, ts.sys, root)
  // TypeScript's own declarations, which this package has as texts.
  const libraries = new Map(getLibFiles().map(({ fileName, text }) => [fileName, text]))
  const host = ts.createCompilerHost(options)
  host.getSourceFile = (path, languageVersion) => {
    const text = ts.sys.readFile(path) ?? libraries.get(basename(path))
    const rewrite = added[path.slice(root.length)]
    return text === undefined
      ? undefined
      : ts.createSourceFile(path, rewrite?.(text) ?? text, languageVersion)
  }
  const paths = files.map((file) => root + file)
  const program = ts.createProgram(paths, options, host)
  const namesIn = (file: string) => {
    const errors = program.getSemanticDiagnostics(program.getSourceFile(root + file))
    const texts = errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    return [
      ...new Set(texts.map((text) => /mood|weather|"call\.made_up"|'never'/.exec(text)?.[0] ?? text)),
    ].sort()
  }
  return Object.fromEntries(files.map((file) => [file, namesIn(file)]))
}
