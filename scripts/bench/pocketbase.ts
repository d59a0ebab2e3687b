import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { LoopedLoad } from './looped.ts'
import { killOnExit } from './processes.ts'
import { temporaryFolder } from './temporary.ts'

// A peer for writes. To install it: go install github.com/pocketbase/pocketbase/examples/base@v0.36.0

const program = join(homedir(), 'go/bin/base')
const [email, password] = ['bench@example.com', 'only-for-this-run']
const port = 8_097
const readyWithinMs = 20_000

export interface PocketBase {
  /** Where and how a call is written there. */
  target: Pick<LoopedLoad, 'url' | 'headers' | 'method' | 'path'>
  stop(): void
}

/** Starts PocketBase with a collection of calls; null when it is not installed. */
export async function startPocketBase(): Promise<PocketBase | null> {
  if (!existsSync(program)) return null
  const folder = `--dir=${temporaryFolder()}`
  execFileSync(program, ['superuser', 'upsert', email, password, folder], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const child = spawn(program, ['serve', `--http=127.0.0.1:${port}`, folder], { stdio: 'ignore' })
  killOnExit(child)
  await untilReady(`${url}/api/health`)
  const post = async (path: string, body: object, token?: string) => {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: token } : {}) }
    const answer = await fetch(`${url}/api/collections${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`PocketBase answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const { token } = await post('/_superusers/auth-with-password', { identity: email, password })
  await post('', { name: 'calls', type: 'base', createRule: '', fields: callFields() }, token)
  return {
    target: {
      url,
      headers: { 'content-type': 'application/json' },
      method: 'POST',
      path: '/api/collections/calls/records',
    },
    stop: () => void child.kill(),
  }
}

function callFields() {
  const texts = ['status', 'summary', 'evaluation', 'endedReason', 'callerNumber', 'calledNumber']
  return [
    ...texts.map((name) => ({ name, type: 'text', max: 100_000 })),
    { name: 'duration', type: 'number' },
    { name: 'transcript', type: 'json', maxSize: 10_000_000 },
    { name: 'callAnalysis', type: 'json', maxSize: 10_000_000 },
  ]
}

async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + readyWithinMs
  while (performance.now() < deadline) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('PocketBase did not start')
}
