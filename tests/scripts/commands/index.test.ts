import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { CommandLine, fileOf, withService } from '../../support/command-line.ts'

describe('callbook index', () => {
  async function filled(): Promise<CommandLine> {
    const callbook = new CommandLine()
    await callbook.project()
    const text = Array.from({ length: 40 }, (_, i) => `## Part ${i}\n\n${`word${i} `.repeat(60)}\n`).join(
      '\n',
    )
    await callbook.json(['knowledge', 'import', fileOf(text, 'parts.md'), '--project', 'Acme'])
    return callbook
  }

  test('unsaved vectors are not a fault, and a rebuild saves them; a damaged file is a fault until it is rebuilt', async () => {
    const callbook = await filled()
    const unsaved = await callbook.json(['index', 'verify'])
    expect(unsaved.code).toBe(0)
    const rows = unsaved.value[0].rowVectors
    expect(unsaved.value).toMatchObject([
      { ok: true, problem: null, fileVectors: 0, rowsNotInFile: rows, pendingChunks: 0, recallAt10: null },
    ])
    expect(rows).toBeGreaterThan(10)

    const rebuilt = await callbook.json(['index', 'rebuild', '--project', 'Acme'])
    expect(rebuilt).toMatchObject({ code: 0, err: '' })
    const [sound] = (await callbook.json(['index', 'verify', '--project', 'Acme'])).value
    expect(sound).toMatchObject({ ok: true, fileVectors: rows, rowsNotInFile: 0, vectorsWithoutRow: 0 })
    expect(sound.recallAt10).toBeGreaterThan(0.9)

    const [file = ''] = readdirSync(join(callbook.dataDir, 'indexes')).filter((name) =>
      name.endsWith('.hnsw'),
    )
    const path = join(callbook.dataDir, 'indexes', file)
    const bytes = readFileSync(path)
    bytes.writeUInt8(bytes.readUInt8(2_000) ^ 1, 2_000)
    writeFileSync(path, bytes)
    const corrupt = await callbook.json(['index', 'verify'])
    expect(corrupt).toMatchObject({ code: 1, value: [{ ok: false, problem: expect.any(String) }] })
    expect((await callbook.spawned(['index', 'verify'])).err).toContain(
      'bun callbook index rebuild --project prj_',
    )
    const doctor = await callbook.json(['doctor'])
    expect(doctor.code).toBe(1)
    expect(doctor.value.find(({ check }: { check: string }) => check === 'index')).toMatchObject({
      ok: false,
      advice: expect.any(String),
    })

    expect((await callbook.json(['index', 'rebuild'])).code).toBe(0)
    expect((await callbook.json(['index', 'verify'])).value).toMatchObject([{ ok: true, fileVectors: rows }])
  })

  test('a vector without its row is a fault', async () => {
    const callbook = await filled()
    await callbook.run(['index', 'rebuild'])
    await withService(async ({ services }) => {
      // Behind everybody's back, as no command or route would.
      await services.database.write.run(sql`delete from chunks where label = 1`)
      const { code, value } = await callbook.json(['index', 'verify'], { env: { ERASE_WITHIN_MS: '100' } })
      expect(code).toBe(1)
      expect(value).toMatchObject([{ ok: false, problem: null, vectorsWithoutRow: 1 }])
    }, callbook.dataDir)
  })

  test('a running service is asked to rebuild, and has saved when the command ends', async () => {
    const callbook = await filled()
    await withService(async () => {
      for (const name of readdirSync(join(callbook.dataDir, 'indexes')))
        writeFileSync(join(callbook.dataDir, 'indexes', name), 'damaged')
      const { code, value, err } = await callbook.json(['index', 'rebuild', '--project', 'Acme'])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(value).toMatchObject([{ ok: true, rowsNotInFile: 0 }])
      expect(value[0].fileVectors).toBe(value[0].rowVectors)
    }, callbook.dataDir)
  })
})
