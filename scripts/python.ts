import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keptFolder } from './kept-folder.ts'

/**
 * The folder with the commands of the Python packages in a requirements file, which are installed once from the
 * registry, in their own environment. Null, with the reason on stderr, if that is not possible.
 */
export function pythonCommands(requirements: string): string | null {
  try {
    const install = (folder: string) =>
      faultOf('python3', '-m', 'venv', folder) ??
      faultOf(
        join(folder, 'bin', 'pip'),
        'install',
        '--quiet',
        '--disable-pip-version-check',
        // Compiling takes longer than it saves.
        '--no-compile',
        '--only-binary=:all:',
        '--requirement',
        requirements,
      )
    return join(keptFolder('python-environment', readFileSync(requirements, 'utf8'), install), 'bin')
  } catch (error) {
    process.stderr.write(`Skipped here: Python packages: ${error instanceof Error ? error.message : error}\n`)
    return null
  }
}

function faultOf(...[command = '', ...args]: string[]): string | undefined {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? undefined : `${command} failed: ${error ?? stderr.trim().split('\n').at(-1)}`
}
