import { dirname, join } from 'node:path'

/** Biome writes every import and `export … from` in this form. */
const importForm = /^(?:import|export)\b[^'";]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm

/** Everything that a file imports, types too: packages by name, files by their path from the repository. */
export function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(importForm)].map(([, from, lazy]) => resolveImport(path, from ?? lazy ?? ''))
}

/** Files by their path from the repository, packages by name. */
export function resolveImport(path: string, target: string): string {
  return target.startsWith('.') ? join(dirname(path), target) : target
}

/** The folder or the file under src/ that a path belongs to: `calls` or `errors`; a package is none. */
export function partOf(path: string): string | null {
  return /^src\/([^/]+?)(\.ts|\/.*)$/.exec(path)?.[1] ?? null
}
