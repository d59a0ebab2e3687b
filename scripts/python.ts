import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './repository.ts'

/**
 * The folder with the commands of the Python packages in a requirements file, which are installed once from the
 * registry, in their own environment. Null, with the reason on stderr, if that is not possible.
 */
export function pythonCommands(requirements: string): string | null {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  const folder = join(repository, 'node_modules', '.cache', `python-${digest}`)
  const stamp = join(folder, 'installed')
  const commands = join(folder, 'bin')
  if (existsSync(stamp)) return commands
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const pip = [
    join(commands, 'pip'),
    'install',
    '--quiet',
    '--disable-pip-version-check',
    // Compiling takes longer than it saves.
    '--no-compile',
    '--only-binary=:all:',
  ]
  const fault = faultOf('python3', '-m', 'venv', folder) ?? faultOf(...pip, '--requirement', requirements)
  if (fault) {
    process.stderr.write(`Skipped here: Python packages: ${fault}\n`)
    return null
  }
  writeFileSync(stamp, '')
  return commands
}

function faultOf(...[command = '', ...args]: string[]): string | undefined {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? undefined : `${command} failed: ${error ?? stderr.trim().split('\n').at(-1)}`
}
