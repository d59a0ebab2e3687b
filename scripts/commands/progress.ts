import { SingleBar } from 'cli-progress'
import type { Shell } from './shell.ts'

/** A progress bar on stderr, on a terminal only. */
export interface Progress {
  /** @param done the text beside the bar, such as `3000 calls` */
  update(value: number, done: string): void
  /** A line above the bar. */
  say(line: string): void
  stop(): void
}

/** @param total 0 when unknown: then there is no bar, only the text */
export function startProgress(shell: Shell, title: string, total: number): Progress {
  if (!shell.isTerminal)
    return { update: () => undefined, say: (line) => shell.say(line), stop: () => undefined }
  const stream = shell.streams.stderr
  const bar = new SingleBar({
    stream,
    format: total > 0 ? `${title} {bar} {percentage}% · {done} · {eta_formatted} left` : `${title} · {done}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    clearOnComplete: true,
    forceRedraw: true,
    gracefulExit: false,
  })
  bar.start(total || 1, 0, { done: '' })
  return {
    update: (value, done) => bar.update(value, { done }),
    say: (line) => stream.write(`\r\x1b[K${line}\n`),
    stop: () => bar.stop(),
  }
}
