import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getLibFiles, ts } from '@ts-morph/common'

const root = fileURLToPath(new URL('../..', import.meta.url))
const configFile = ts.readConfigFile(`${root}tsconfig.json`, (path) => readFileSync(path, 'utf8'))
const { options } = ts.parseJsonConfigFileContent(configFile.config, ts.sys, root)
/** TypeScript's own declarations, which this package has as texts. */
const libraries = new Map(getLibFiles().map(({ fileName, text }) => [fileName, text]))
/** By path: to parse all that one file imports takes seconds. */
const parsed = new Map<string, ts.SourceFile>()

/** The type errors that one file of the project would have if another one were written differently. */
export function typeErrors(file: string, other: string, rewrite: (text: string) => string): string[] {
  const host = ts.createCompilerHost(options)
  host.getSourceFile = (path, languageVersion) => {
    const isOther = path === root + other
    const before = isOther ? undefined : parsed.get(path)
    if (before) return before
    const text = ts.sys.readFile(path) ?? libraries.get(basename(path))
    if (text === undefined) return undefined
    const file = ts.createSourceFile(path, isOther ? rewrite(text) : text, languageVersion)
    if (!isOther) parsed.set(path, file)
    return file
  }
  const program = ts.createProgram([root + file], options, host)
  return program
    .getSemanticDiagnostics(program.getSourceFile(root + file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
