import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getLibFiles, ts } from '@ts-morph/common'

const root = fileURLToPath(new URL('../..', import.meta.url))
const configFile = ts.readConfigFile(`${root}tsconfig.json`, (path) => readFileSync(path, 'utf8'))
const { options } = ts.parseJsonConfigFileContent(configFile.config, ts.sys, root)
/** TypeScript's own declarations, which this package has as texts. */
const libraries = new Map(getLibFiles().map(({ fileName, text }) => [fileName, text]))

/** The type errors that one file of the project would have if another one were written differently. */
export function typeErrors(file: string, other: string, rewrite: (text: string) => string): string[] {
  const host = ts.createCompilerHost(options)
  host.getSourceFile = (path, languageVersion) => {
    const text = ts.sys.readFile(path) ?? libraries.get(basename(path))
    if (text === undefined) return undefined
    return ts.createSourceFile(path, path === root + other ? rewrite(text) : text, languageVersion)
  }
  const program = ts.createProgram([root + file], options, host)
  return program
    .getSemanticDiagnostics(program.getSourceFile(root + file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
