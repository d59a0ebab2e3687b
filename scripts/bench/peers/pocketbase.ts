import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { freePort, startProgram } from '../../processes.ts'
import { ask } from '../../requests.ts'
import { temporaryFolder } from '../../temporary.ts'
import type { Peer } from './peer.ts'

const program = join(homedir(), 'go/bin/base')
const [identity, password] = ['bench@example.com', 'only-for-this-run']

/** PocketBase with a collection of calls; a sentence when it is not installed. */
export async function startPocketBase(): Promise<Peer | string> {
  if (!existsSync(program))
    return 'PocketBase is not installed: go install github.com/pocketbase/pocketbase/examples/base@v0.36.0.'
  // It also writes beside this folder.
  const folder = `--dir=${join(temporaryFolder('run'), 'data')}`
  execFileSync(program, ['superuser', 'upsert', identity, password, folder], { stdio: 'ignore' })
  const address = `http://127.0.0.1:${await freePort()}`
  const args = ['serve', `--http=${address.replace('http://', '')}`, folder]
  const running = await startProgram(program, args, { address, ready: '/api/health' })
  const { token } = await ask<{ token: string }>(address, {
    path: '/api/collections/_superusers/auth-with-password',
    key: '',
    body: { identity, password },
  })
  await ask(address, { path: '/api/collections', key: token, body: collection })
  const records = '/api/collections/calls/records'
  const page = `${records}?perPage=100&sort=-createdAt,-id`
  return {
    ...running,
    name: 'PocketBase',
    key: token,
    requests: {
      put: (id, call) => ({ method: 'POST', path: records, body: JSON.stringify({ ...call, id }) }),
      get: (id) => ({ path: `${records}/${id}` }),
      delete: (id) => ({ method: 'DELETE', path: `${records}/${id}` }),
      list: () => ({ path: page }),
      filter: (status, evaluation) => {
        const filter = `status='${status}' && evaluation='${evaluation}'`
        return { path: `${page}&filter=${encodeURIComponent(filter)}` }
      },
    },
  }
}

const texts = ['status', 'summary', 'evaluation', 'endedReason', 'callerNumber', 'calledNumber']
const id = { primaryKey: true, required: true, min: 1, max: 100, pattern: '^[a-z0-9-]+$' }
const collection = {
  name: 'calls',
  type: 'base',
  fields: [
    { name: 'id', type: 'text', ...id },
    ...texts.map((name) => ({ name, type: 'text', max: 100_000 })),
    ...['createdAt', 'updatedAt'].map((name) => ({ name, type: 'date' })),
    { name: 'duration', type: 'number' },
    { name: 'isEngaged', type: 'bool' },
    ...['transcript', 'callAnalysis'].map((name) => ({ name, type: 'json', maxSize: 10_000_000 })),
  ],
  indexes: [
    'create index calls_page on calls (createdAt desc, id desc)',
    'create index calls_filter on calls (status, evaluation, createdAt desc, id desc)',
  ],
}
