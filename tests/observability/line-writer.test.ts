import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freshFolder } from '../support/at-end.ts'

const module = JSON.stringify(new URL('../../src/observability/line-writer.ts', import.meta.url).pathname)

/** A busy process that writes so many numbered lines of 100 characters to stderr and closes them. */
function writeLines(count: number, stderr: 'pipe' | number) {
  const program = `
    import { pbkdf2 } from 'node:crypto'
    import { LineWriter } from ${module}
    // Whatever writes in the background has to wait behind these.
    for (let n = 0; n < 16; n++) pbkdf2('password', 'salt', 10_000, 32, 'sha256', () => undefined)
    const lines = new LineWriter(2)
    for (let n = 0; n < ${count}; n++) lines.write(String(n).padEnd(99) + '\\n')
    await lines.close()
    process.exit(0)`
  return spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', stderr] })
}

function numbersOf(text: string): number[] {
  return text.trim().split('\n').map(Number)
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

test('lines still queued when the process ends are written, once and in order', async () => {
  const child = writeLines(1_500, 'pipe')
  let text = ''
  child.stderr?.on('data', (data) => {
    text += data
  })
  await new Promise((resolve) => child.on('close', resolve))
  expect(numbersOf(text)).toEqual(upTo(1_500))
})

test('a log that nobody reads does not keep the process from ending', async () => {
  const { child, close } = throughFifo(2_000)
  const code = await new Promise((resolve) => child.on('exit', resolve))
  close()
  expect(code).toBe(0)
})

test('a pipe that does not block loses nothing when its reader is slow', async () => {
  const { child, reader, close } = throughFifo(2_000)
  let isOver = false
  child.on('exit', () => {
    isOver = true
  })
  // Long enough to be full, and shorter than what the end of a process waits for.
  await setTimeout(200)
  let text = ''
  const buffer = Buffer.alloc(65_536)
  for (;;) {
    const read = tryRead(reader, buffer)
    text += buffer.toString('utf8', 0, read)
    if (read === 0 && isOver) break
    if (read === 0) await setTimeout(5)
  }
  close()
  expect(numbersOf(text)).toEqual(upTo(2_000))
})

/** The lines through a named pipe that is full at 64 KiB and then refuses, as one shared with such a program does. */
function throughFifo(count: number) {
  const folder = freshFolder()
  const path = join(folder, 'log')
  Bun.spawnSync(['mkfifo', path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  const child = writeLines(count, writer)
  closeSync(writer)
  const close = () => {
    closeSync(reader)
  }
  return { child, reader, close }
}

/** Bytes that were there; 0 when there were none. */
function tryRead(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0
    throw error
  }
}
