import { createInterface } from 'node:readline'
import { invalidRequest } from '../../src/errors.ts'
import type { Shell } from './shell.ts'

/** Values that are given as `-`: the lines of standard input, one each, which no list of processes shows. */
export class InputLines {
  readonly #shell: Shell
  #lines: AsyncIterator<string> | undefined

  constructor(shell: Shell) {
    this.#shell = shell
  }

  /** The value of an option, or the next line for `-`. @throws invalid_request if there is none */
  async valueOf(option: string, value: string): Promise<string> {
    if (value !== '-') return value
    this.#lines ??= createInterface({ input: process.stdin, signal: this.#shell.signal })[
      Symbol.asyncIterator
    ]()
    const { value: line = '' } = await this.#lines.next()
    if (line !== '') return line
    throw invalidRequest([{ field: option, message: 'was not given on standard input' }])
  }

  /** The same for a secret, with a warning if the command itself holds it. */
  async secretOf(option: string, value: string): Promise<string> {
    if (value !== '-') {
      const instead = option.includes(' ') ? `${option}=-` : `${option} -`
      this.#shell.say(
        'Other users of this machine can see the secret in the list of processes, and the shell may keep it in its ' +
          `history. Give it on standard input instead: ${instead}`,
      )
    }
    return await this.valueOf(option, value)
  }
}
