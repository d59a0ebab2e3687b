import { SingleBar } from 'cli-progress'
import type { Shell } from './shell.ts'

/** A bar on stderr while something takes its time, on a terminal only. */
export interface Progress {
  /** @param done what people read beside the bar, such as `3000 calls` */
  update(value: number, done: string): void
  /** A line above the bar. */
  say(line: string): void
  stop(): void
}

/** @param total 0 when it is not known: there is no bar then, only what is done. */
export function startProgress(shell: Shell, title: string, total: number): Progress {
  if (!shell.isTerminal)
    return { update: () => undefined, say: (line) => shell.say(line), stop: () => undefined }
  const stream = process.stderr
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
