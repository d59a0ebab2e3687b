import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { readMeta, removeMeta, setMeta } from '../../src/db/meta.ts'
import { rebuildRequestName } from '../../src/knowledge/follower.ts'
import { loadAddon } from '../../src/knowledge/index/addon.ts'
import type { Project } from '../../src/projects/projects.ts'
import type { Services } from '../../src/services/services.ts'
import { hasOwner } from './folder.ts'
import { type IndexCheck, verifyIndex } from './index-check.ts'
import { columns, counted, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const rebuildPollMs = 200
const rebuildWithinMs = 600_000

interface Options {
  project?: string
  json?: true
}

export function addIndexCommands(program: Command, shell: Shell): void {
  const index = program.command('index').description('The vector index files, one a project.')

  index
    .command('verify')
    .description(
      'Compare the index files with the rows. Exits 1 for a corrupt file or a vector whose row is gone. Chunks ' +
        'that are pending or not saved yet are not a fault. Recall is measured against exact search.',
    )
    .option('--project <project>', 'id or name of a project (default: all)')
    .option('--json', 'print an array, one entry a project')
    .action(async ({ project, json }: Options) => {
      const checks = await shell.withServices(async (services) => {
        const all: IndexCheck[] = []
        for (const one of await chosen(services, project)) {
          shell.signal.throwIfAborted()
          all.push(await verifyIndex(services, one, shell.signal))
        }
        return all
      })
      if (checks.some(({ ok }) => !ok)) shell.exitCode = 1
      await shell.answer(json, checks, checks.length > 0 ? tableOf(checks) : 'There are no projects yet.')
      if (json) return
      for (const { ok, project, faults } of checks) {
        if (!ok) shell.say(`${shown(project.name)}: ${faults.join('; ')}. ${rebuildAdvice(project.id)}`)
      }
    })

  index
    .command('rebuild')
    .description(
      'Rebuild the index from the rows and save it. If a service runs on the folder, it does the work.',
    )
    .option('--project <project>', 'id or name of a project (default: all)')
    .option('--json', 'print an array, one entry a project')
    .action(async ({ project, json }: Options) => {
      const checks = await shell.withServices(
        async (services) => {
          refuseWithoutAddon()
          const projects = await chosen(services, project)
          if (services.ownsFolder) {
            for (const { projectId } of projects) {
              shell.signal.throwIfAborted()
              await services.index.rebuild(projectId)
            }
          } else await requestRebuild(services, projects, shell)
          const all: IndexCheck[] = []
          for (const one of projects) all.push(await verifyIndex(services, one, shell.signal))
          return all
        },
        { takesFolder: true },
      )
      if (checks.some(({ ok }) => !ok)) shell.exitCode = 1
      await shell.answer(json, checks, checks.length > 0 ? tableOf(checks) : 'There are no projects yet.')
    })
}

function rebuildAdvice(projectId: string): string {
  return `Rebuild it: bun callbook index rebuild --project ${projectId}`
}

async function chosen({ projects }: Services, project: string | undefined): Promise<Project[]> {
  return project === undefined ? await projects.list() : [await projects.find(project)]
}

function refuseWithoutAddon(): void {
  const { reason } = loadAddon()
  if (reason === null) return
  throw new Error(
    `There is no index to build: ${reason}. Search compares every row instead, which needs no index. ` +
      'Install a C++ compiler and run: bun scripts/build-addon.ts',
  )
}

/** Asks the service that owns the folder, and waits until it has removed the requests, which means that it is done. */
async function requestRebuild(services: Services, projects: readonly Project[], shell: Shell): Promise<void> {
  const { read, write } = services.database
  const names = projects.map(({ projectId }) => rebuildRequestName(services.config.dataDir, projectId))
  const withdraw = () => Promise.all(names.map((name) => removeMeta(write, name)))
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
        `The service has not rebuilt the index within ${counted(rebuildWithinMs / 60_000, 'minute')}. It still has ` +
          'the request; its log says what delays it.',
      )
    }
    await sleep(rebuildPollMs)
  }
}

function tableOf(checks: readonly IndexCheck[]): string[] {
  const rows = checks.map((check) => [
    check.ok ? '✓' : '✗',
    check.project.name,
    String(check.fileVectors),
    String(check.rowVectors),
    String(check.vectorsWithoutRow),
    String(check.rowsNotInFile),
    String(check.pendingChunks),
    check.recallAt10 === null ? '-' : check.recallAt10.toFixed(3),
  ])
  const head = ['', 'PROJECT', 'IN FILE', 'IN ROWS', 'WITHOUT ROW', 'NOT SAVED', 'PENDING', 'RECALL@10']
  return columns([head, ...rows])
}
