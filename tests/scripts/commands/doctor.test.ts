import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { CommandLine, withService } from '../../support/command-line.ts'
import { startFakeChat } from '../../support/fake-chat.ts'
import { startFakeEmbeddings } from '../../support/fake-embeddings.ts'

describe('callbook doctor', () => {
  const all = ['configuration', 'addon', 'database', 'embedding', 'index', 'recordings']

  test('an intact folder passes every check while the service runs', async () => {
    await withService(async (_, callbook) => {
      const { code, value } = await callbook.json(['doctor'])
      expect(value.filter((check: { ok: boolean }) => !check.ok)).toEqual([])
      expect(code).toBe(0)
      expect(value.map((check: { check: string }) => check.check)).toEqual(all)
      const text = await callbook.spawned(['doctor'])
      expect(text.out.split('\n').filter((one) => one.startsWith('✓'))).toHaveLength(all.length)
    })
  })

  test('Litestream beside the database is a fault, and /ready names it', async () => {
    await withService(async ({ url }, callbook) => {
      mkdirSync(join(callbook.dataDir, '.callbook.db-litestream'))
      const { code, value } = await callbook.json(['doctor'])
      expect([code, value.at(-4)]).toMatchObject([
        1,
        { check: 'database', detail: expect.stringContaining('Litestream') },
      ])
      const ready = await fetch(`${url}/ready`)
      expect([ready.status, await ready.json()]).toMatchObject([
        200,
        { problem: expect.stringContaining('Litestream') },
      ])
    })
  })

  test('the analysis model is asked for a word, where there is one', async () => {
    const chat = await startFakeChat({ model: 'judge-1' })
    const env = { ANALYSIS_MODEL: 'judge-1', ANALYSIS_ENDPOINT: chat.url }
    const callbook = await new CommandLine().withDatabase()
    const checked = async () => {
      const { code, value } = await callbook.json(['doctor'], { env })
      return { code, ...value.find(({ check }: { check: string }) => check === 'analysis') }
    }
    expect(await checked()).toMatchObject({ code: 0, ok: true, detail: expect.stringContaining(chat.url) })
    await chat.stop()
    expect(await checked()).toMatchObject({
      code: 1,
      ok: false,
      detail: expect.stringContaining('cannot be reached'),
      advice: expect.stringContaining('ANALYSIS_ENDPOINT'),
    })
  })

  test('each bad variable of the configuration is reported', async () => {
    const { code, value, err } = await new CommandLine().json(['doctor'], {
      env: { PORT: 'x', INDEX_WAIT_MS: '-1' },
    })
    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(value[0]).toMatchObject({ check: 'configuration', ok: false, advice: expect.any(String) })
    expect(value[0].detail).toMatch(/PORT.*\n.*INDEX_WAIT_MS/)
  })

  test('a file that is not a database is a fault whose advice is a backup', async () => {
    const callbook = new CommandLine()
    writeFileSync(
      join(callbook.dataDir, 'callbook.db'),
      'not a database, and long enough to be looked at'.repeat(100),
    )
    const { code, value } = await callbook.json(['doctor'])
    expect(code).toBe(1)
    expect(value.at(-1)).toMatchObject({
      check: 'database',
      ok: false,
      detail: expect.stringContaining('is damaged'),
      advice: expect.stringContaining('restore the newest backup'),
    })
  })

  test('no database where the configuration says is a fault, and none is made', async () => {
    const callbook = new CommandLine()
    const { code, value } = await callbook.json(['doctor'])
    const detail = `There is no database at ${join(callbook.dataDir, 'callbook.db')}.`
    expect([code, value.at(-1)]).toMatchObject([1, { check: 'database', ok: false, detail }])
    expect(readdirSync(callbook.dataDir)).toEqual([])
  })

  test('calls that are counted wrong are a fault, and are counted again when asked', async () => {
    await withService(async (_, callbook) => {
      await callbook.project()
      const databaseOf = async (...options: string[]) =>
        (await callbook.json(['doctor', ...options])).value[2]
      const database = new Database(join(callbook.dataDir, 'callbook.db'), { timeout: 10_000 })
      database.exec('update projects set calls = calls + 1')
      database.close()
      const advice = 'Count them again: bun callbook doctor --repair'
      expect(await databaseOf()).toMatchObject({ check: 'database', ok: false, advice })
      expect(await databaseOf('--repair')).toMatchObject({ ok: true, advice: null })
      expect(await databaseOf()).toMatchObject({ ok: true })
    })
  })

  test('the embedding provider is called: one that answers passes, one that refuses is a fault', async () => {
    const provider = await startFakeEmbeddings()
    const callbook = await new CommandLine().withDatabase()
    const env = { EMBEDDING_PROVIDER: 'huggingface', EMBEDDING_ENDPOINT: provider.url }
    const checkOf = async () => (await callbook.json(['doctor'], { env })).value[3]
    expect(await checkOf()).toMatchObject({ check: 'embedding', ok: true })
    provider.always({ status: 401, body: { error: 'Invalid credentials' } })
    expect(await checkOf()).toMatchObject({
      check: 'embedding',
      ok: false,
      advice: expect.stringContaining('HF_TOKEN'),
    })
  })

  test('--embedding asks the provider once, and says nothing else than its dimensions and milliseconds', async () => {
    const provider = await startFakeEmbeddings({ dimensions: 96 })
    const callbook = await new CommandLine().withDatabase()
    const env = {
      EMBEDDING_PROVIDER: '',
      EMBEDDING_ENDPOINT: `${provider.url}/v1`,
      EMBEDDING_MODEL: 'nomic-embed-text',
    }
    const { value } = await callbook.json(['doctor', '--embedding'], { env })
    const detail = expect.stringMatching(/\/v1\/embeddings answered 96 dimensions in \d+ ms$/)
    expect(value).toEqual([{ check: 'embedding', ok: true, detail, advice: null }])
    expect(provider.requests).toHaveLength(1)
    provider.always({ status: 401 })
    const refused = await callbook.run(['doctor', '--embedding'], { env })
    expect(refused.code).toBe(1)
    expect(refused.out).toContain('EMBEDDING_TOKEN')
  })
})
