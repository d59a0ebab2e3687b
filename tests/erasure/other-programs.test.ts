import { beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { freshFolder } from '../support/at-end.ts'
import { asCommand } from '../support/command.ts'
import { CommandLine } from '../support/command-line.ts'
import { addMarkedCall } from '../support/marked.ts'
import { at } from '../support/node.ts'
import { spawnService } from '../support/process.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces } from '../support/traces.ts'
import { until } from '../support/until.ts'

const sweepMessage =
  'Another program has written to the database file, so all of it is searched for stale cells'
let folder: string
let dataDir: string

beforeEach(() => {
  folder = freshFolder()
  // What the commands write beside it goes with the folder.
  dataDir = join(folder, 'data')
})

describe.skipIf(ofFilesOnly)('after another program has moved the log', () => {
  test('the file is swept once, and until then a deletion is pending and the service says why', async () => {
    const service = await startService({ dataDir, env: { ERASE_WITHIN_MS: '1000' } })
    const project = await service.mintProject()
    const call = await addMarkedCall(project)
    const { database } = service.services
    // Holds up the sweep.
    let sweep = () => {}
    const swept = new Promise<void>((resolve) => {
      sweep = resolve
    })
    const endSweep = database.endSweep
    database.endSweep = async (gaps) => {
      await swept
      return await endSweep(gaps)
    }
    moveLog()
    expect((await project.fetch(call.path, { method: 'DELETE' })).status).toBe(200)
    await until(async () => (await problemOf(service)) !== null)
    expect(await problemOf(service)).toBe(
      'Another program has written to the database file, which is searched for bytes of deleted records. Until that is done, erasures are pending.',
    )
    await Bun.sleep(2_000)
    expect(await statusOf(project, call.id)).toBe('pending')
    sweep()
    await until(async () => (await statusOf(project, call.id)) === 'done')
    expect(await problemOf(service)).toBeNull()
    expect(await findTraces(dataDir, call.traces)).toEqual([])
    expect(sweepsOf(service)).toBe(1)
    await service.stop()
    const next = await startService({ dataDir })
    expect([sweepsOf(next), await problemOf(next)]).toEqual([0, null])
    await next.stop()
  })

  test('while the service was down, it starts at once and sweeps in the background', async () => {
    const first = await startService({ dataDir, env: { ERASE_WITHIN_MS: '600000' } })
    const project = await first.mintProject()
    const call = await addMarkedCall(project)
    expect((await project.fetch(call.path, { method: 'DELETE' })).status).toBe(200)
    await first.stop()
    moveLog()
    const next = await startService({ dataDir, env: { ERASE_WITHIN_MS: '1000' } })
    expect(await next.services.notReadyBecause()).toBeNull()
    await until(async () => sweepsOf(next) === 1 && (await problemOf(next)) === null)
    await until(async () => (await findTraces(dataDir, call.traces)).length === 0)
    await next.stop()
  })
})

describe.skipIf(ofFilesOnly)('no sweep is needed', () => {
  test('after kill -9, nor after commands that read or write, back up or check, with and without a service', async () => {
    const victim = await spawnService({ DATA_DIR: dataDir })
    const project = await asCommand(dataDir, async ({ projects, keys }) => {
      const { projectId, id } = await projects.create('Acme')
      const make = (kind: 'live' | 'ingest') =>
        keys.create(projectId, { name: kind, kind, allowedIps: [], expiresAt: null })
      return { id, key: (await make('live')).key, ingestKey: (await make('ingest')).key }
    })
    const reached = at(victim, project)
    for (let n = 0; n < 60; n++) await addMarkedCall(reached)
    victim.kill('SIGKILL')
    await victim.exited
    await runCommands('first')
    const service = await startService({ dataDir })
    await runCommands('second')
    const more = await service.mintProject()
    for (let n = 0; n < 60; n++) await addMarkedCall(more)
    expect(await problemOf(service)).toBeNull()
    await service.stop()
    await runCommands('third')
    const last = await startService({ dataDir })
    await last.mintProject()
    expect(await problemOf(last)).toBeNull()
    expect([sweepsOf(service), sweepsOf(last)]).toEqual([0, 0])
    await last.stop()
  })
})

async function runCommands(name: string): Promise<void> {
  const callbook = new CommandLine(dataDir)
  const backup = join(dataDir, '..', `backup-${name}-${Date.now()}`)
  for (const args of [
    ['project', 'list'],
    ['doctor'],
    ['project', 'create', name],
    ['key', 'create', '--project', name, '--name', 'a key'],
    ['backup', backup],
  ])
    expect(await callbook.run(args)).toMatchObject({ code: 0 })
  expect(existsSync(join(backup, 'callbook.db'))).toBe(true)
}

/** As `sqlite3` does when it writes. */
function moveLog(): void {
  const other = new Database(join(dataDir, 'callbook.db'), { timeout: 10_000 })
  other.exec("insert into meta values ('theirs', ''); pragma wal_checkpoint(truncate)")
  other.close()
}

function sweepsOf({ logs }: TestService): number {
  return logs.filter(({ msg }) => msg === sweepMessage).length
}

/** What `/ready` tells beside 200. */
async function problemOf({ url }: TestService): Promise<unknown> {
  const answer = await fetch(`${url}/ready`)
  expect(answer.status).toBe(200)
  return (await answer.json()).problem
}

async function statusOf(project: TestProject, id: string): Promise<string> {
  return (await (await project.fetch(`/v1/erasures/${id}`)).json()).status
}
