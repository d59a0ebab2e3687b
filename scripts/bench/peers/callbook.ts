import { startService } from '../processes.ts'
import { createProject } from '../project.ts'
import { bodyOf } from '../requests.ts'
import { temporaryFolder } from '../temporary.ts'
import type { Peer } from './peer.ts'

/** The service under test, with one empty project. */
export async function startCallbook(main: string): Promise<Peer & { databaseFile: string }> {
  const project = await createProject(main, { folder: temporaryFolder('run') })
  const running = await startService(main, project)
  const { key } = project
  return {
    ...running,
    name: 'Callbook',
    databaseFile: project.databaseFile,
    key,
    requests: {
      put: (id, call) => ({
        method: 'PUT',
        path: `/ingest/calls/${id}`,
        body: JSON.stringify(call),
        key: project.ingestKey,
      }),
      get: (id) => ({ path: `/v1/calls/${id}` }),
      delete: (id) => ({ method: 'DELETE', path: `/v1/calls/${id}` }),
      list: () => ({ path: '/v1/calls?limit=100' }),
      filter: (status, evaluation) => ({
        path: `/v1/calls?status=${status}&evaluation=${evaluation}&limit=100`,
      }),
      word: (word) => ({ path: `/v1/calls?text=${word}&limit=100` }),
    },
    isErased: async (id) => {
      const path = `/v1/erasures/${id}`
      const { status } = JSON.parse(await bodyOf(running.url, { method: 'GET', path, key }))
      return status === 'done'
    },
  }
}
