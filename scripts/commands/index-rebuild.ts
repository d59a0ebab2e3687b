import { setTimeout as sleep } from 'node:timers/promises'
import { deleteMeta, readMeta, setMeta } from '../../src/db/meta.ts'
import { rebuildRequestName } from '../../src/knowledge/indexing/follower.ts'
import { loadAddon } from '../../src/knowledge/indexing/index/addon.ts'
import type { Project } from '../../src/projects/projects.ts'
import type { Services } from '../../src/services/services.ts'
import { hasOwner } from './folder.ts'
import { counted } from './sentences.ts'
import type { Shell } from './shell.ts'

const rebuildPollMs = 200
const rebuildWithinMs = 600_000

/** Rebuilds these indexes, or asks the service that owns the folder to. */
export async function rebuildIndexes(
  services: Services,
  projects: readonly Project[],
  shell: Shell,
): Promise<void> {
  refuseWithoutAddon()
  if (!services.ownsFolder) return await requestRebuild(services, projects, shell)
  for (const { projectId } of projects) {
    shell.signal.throwIfAborted()
    await services.index.rebuild(projectId)
  }
}

function refuseWithoutAddon(): void {
  const { reason } = loadAddon()
  if (reason === null) return
  throw new Error(
    `There is no index to build: ${reason}. Instead, search compares every row, which needs no index. ` +
      'Install a C++ compiler and run: bun scripts/build-addon.ts',
  )
}

/** Asks the service that owns the folder, and waits until it has removed the requests, which means that it is done. */
async function requestRebuild(services: Services, projects: readonly Project[], shell: Shell): Promise<void> {
  const { read, write } = services.database
  const names = projects.map(({ projectId }) => rebuildRequestName(services.config.dataDir, projectId))
  const withdraw = () => Promise.all(names.map((name) => deleteMeta(write, name)))
  const deadline = performance.now() + rebuildWithinMs
  if (shell.isTerminal) shell.say('Waiting for the service on this folder to rebuild …')
  for (const name of names) await setMeta(write, name, 'requested by the command line')
  for (;;) {
    const open = await readMeta(read, rebuildRequestName(services.config.dataDir))
    if (!names.some((name) => open.has(name))) return
    if (shell.signal.aborted || !hasOwner(services.config)) {
      await withdraw()
      shell.signal.throwIfAborted()
      throw new Error('The service ended before it rebuilt the index. Run the command again.')
    }
    if (performance.now() > deadline) {
      throw new Error(
        `The service has not rebuilt the index within ${counted(rebuildWithinMs / 60_000, 'minute')}. It ` +
          `still has the request. Its log says what delays it.`,
      )
    }
    await sleep(rebuildPollMs)
  }
}
