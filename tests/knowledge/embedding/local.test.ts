import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LocalEmbedder } from '../../../src/knowledge/embedding/local/local.ts'
import { downloadModel } from '../../../src/knowledge/embedding/local/model-download.ts'
import { readModel, readRecord } from '../../../src/knowledge/embedding/local/model-files.ts'
import { freshFolder } from '../../support/at-end.ts'
import { type FakeHub, startHub } from '../../support/fake-hub.ts'
import { transformersForNode } from '../../support/packages.ts'
import { startService } from '../../support/service.ts'
import { spawnService } from '../../support/spawned.ts'
import { tinyDimensions, tinyModel, writeModel } from '../../support/tiny-model.ts'
import { until } from '../../support/until.ts'

const root = freshFolder()
const newFolder = () => mkdtempSync(join(root, 'model-'))
const never = new AbortController().signal

describe('a download from the hub', () => {
  const model = 'acme/tiny'
  let hub: FakeHub
  let parent: string
  beforeEach(() => {
    hub = startHub(model, tinyModel())
    parent = newFolder()
  })
  afterEach(() => hub.stop())

  const download = async (more: Partial<Parameters<typeof downloadModel>[0]> = {}) => {
    const folder = join(parent, 'acme--tiny')
    await downloadModel({ model, folder, hub: hub.url, token: null, retryDelayMs: 1, ...more })
    return folder
  }
  /** Why it failed; nothing may be left of it. */
  const failure = async (more: Partial<Parameters<typeof downloadModel>[0]> = {}) => {
    const reason = await download(more).then(
      () => 'it did not fail',
      (error) => `${error.name}: ${error.message}`,
    )
    expect(readdirSync(parent)).toEqual([])
    return reason
  }

  test('brings the files that are needed, with their digests, and sends the token to the hub alone', async () => {
    const seen: [number, number][] = []
    const folder = await download({ token: 'hf_secret', onProgress: (done, all) => seen.push([done, all]) })
    const record = await readRecord(folder)
    const bytes = Object.values(tinyModel()).reduce((sum, { length }) => sum + length, 0)
    expect(seen.at(-1)).toEqual([bytes, bytes])
    expect(Object.keys(record ?? {}).toSorted()).toEqual(Object.keys(tinyModel()).toSorted())
    expect(await readModel(folder, record)).toMatchObject({ folder, pooling: 'mean' })
    for (const { host, authorization } of hub.tokens)
      expect(authorization).toBe(host === 'hub' ? 'Bearer hf_secret' : null)
    expect(hub.tokens.some(({ host }) => host === 'storage')).toBe(true)
  })

  test('removes what ended processes have left of it, and nothing else', async () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    const leftover = `acme--tiny.${pid}.part`
    const others = [`acme--tiny.${process.ppid}.part`, `acme--other.${pid}.part`]
    for (const name of [leftover, ...others]) mkdirSync(join(parent, name, 'onnx'), { recursive: true })
    await download()
    expect(readdirSync(parent).toSorted()).toEqual(['acme--tiny', ...others].toSorted())
  })

  test('is tried again when it breaks off, stalls, brings something else, or the hub is in trouble', async () => {
    const half = (_: string, bytes: Buffer) =>
      new Response(new Uint8Array(bytes.subarray(0, bytes.length / 2)))
    const other = (_: string, bytes: Buffer) => new Response(new Uint8Array(bytes.map((byte) => byte ^ 1)))
    const stalling = () =>
      new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(3)) }))
    hub.next('list', () => new Response('', { status: 503 }))
    hub.next('onnx/model.onnx', half, other, stalling)
    hub.next(
      'config.json',
      other,
      (_, bytes) => new Response(`${bytes} `),
      () => new Response('', { status: 429 }),
    )
    const folder = await download({ stallMs: 2_000 })
    expect(await readModel(folder, await readRecord(folder))).toBeDefined()
  })

  test('that fails for good says what to do', async () => {
    const always = (status: number) => Array.from({ length: 9 }, () => () => new Response('', { status }))
    hub.next('list', ...always(401))
    expect(await failure()).toBe(
      'ModelError: The hub refuses the model acme/tiny (401): check EMBEDDING_MODEL; if the model is gated or private, set HF_TOKEN.',
    )
    hub.next('list')
    hub.next('onnx/model.onnx', ...always(403))
    expect(await failure({ token: 'hf_x' })).toContain(
      'accept its terms on the hub with the account of HF_TOKEN',
    )
    hub.next('onnx/model.onnx', ...always(502))
    expect(await failure()).toContain(
      `could not be downloaded from ${hub.url}: the hub answered 502. Try again`,
    )
    hub.next('onnx/model.onnx')
    hub.next('list', ...always(404))
    expect(await failure()).toContain('check EMBEDDING_MODEL')
    hub.next('list', () => Response.json({ sha: 'x', siblings: [{ rfilename: 'config.json', size: 2 }] }))
    expect(await failure()).toContain(
      'has no tokenizer.json, tokenizer_config.json, onnx/model.onnx on the hub',
    )
    hub.next('list', ...Array.from({ length: 4 }, () => () => new Response('<html>')))
    expect(await failure()).toContain('could not be downloaded')
    await hub.stop()
    expect(await failure()).toContain('it cannot be reached')
  })
})

describe('a folder with a model', () => {
  test('has another digest with each of its files, and is refused when a downloaded file has changed', async () => {
    const folder = writeModel(newFolder())
    const before = await readModel(folder, null)
    const hub = startHub('tiny', tinyModel())
    const downloaded = join(newFolder(), 'tiny')
    await downloadModel({ model: 'tiny', folder: downloaded, hub: hub.url, token: null }).finally(hub.stop)
    const record = await readRecord(downloaded)
    // The same files are the same model, wherever they are.
    expect((await readModel(downloaded, record)).digest).toBe(before.digest)
    for (const name of ['tokenizer.json', 'onnx/model.onnx']) {
      appendFileSync(join(folder, name), ' ')
      appendFileSync(join(downloaded, name), ' ')
      expect((await readModel(folder, null)).digest).not.toBe(before.digest)
      await expect(readModel(downloaded, record)).rejects.toThrow(
        /is not the file that was downloaded. Delete the folder/,
      )
    }
    rmSync(join(downloaded, '1_Pooling/config.json'))
    await expect(readModel(downloaded, record)).rejects.toThrow('is not the file that was downloaded')
  })

  test.each([
    [{ pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }, 'cls'],
    [{ pooling_mode: 'mean' }, 'mean'],
    [{ pooling_mode_lasttoken: true }, 'last_token'],
    [null, null],
  ])('of which the pooling is %p is pooled by %p', async (config, pooling) => {
    expect(await readModel(writeModel(newFolder(), tinyModel(config)), null)).toMatchObject({ pooling })
  })

  test('is refused when it lacks a file, or needs what this service cannot do', async () => {
    const reason = async (files: Record<string, Buffer>) =>
      await readModel(writeModel(newFolder(), files), null).then(String, ({ message }) => message)
    const { 'onnx/model.onnx': _, ...without } = tinyModel()
    expect(await reason(without)).toMatch(/^The model in .* has no onnx\/model.onnx\.$/)
    expect(await reason(tinyModel({ pooling_mode_max_tokens: true }))).toContain(
      'makes a vector by max_tokens',
    )
    expect(
      await reason(tinyModel({ pooling_mode_cls_token: true, pooling_mode_mean_tokens: true })),
    ).toContain('cls_token and mean_tokens')
    const types = ['Transformer', 'Pooling', 'Dense'].map((type) => ({
      type: `sentence_transformers.models.${type}`,
    }))
    expect(await reason({ ...tinyModel(), 'modules.json': Buffer.from(JSON.stringify(types)) })).toContain(
      'a layer Dense',
    )
    expect(await reason({ ...tinyModel(), '1_Pooling/config.json': Buffer.from('{') })).toContain(
      'is not JSON',
    )
  })
})

test('EMBEDDING_PROVIDER=local without its package says what to run, and the service does not start', async () => {
  const started = startService({
    env: { EMBEDDING_PROVIDER: 'local', EMBEDDING_MODEL: writeModel(newFolder()) },
  })
  const reason = await started.then(
    (service) => service.stop(),
    ({ message }) => message,
  )
  expect(reason).toBe(
    'EMBEDDING_PROVIDER is local, but the package @huggingface/transformers is not installed. Run: bun add @huggingface/transformers',
  )
})

const packages = await transformersForNode()

describe.skipIf(packages === null)('a model in this process', () => {
  const library = pathToFileURL(
    `${packages}/node_modules/@huggingface/transformers/dist/transformers.node.cjs`,
  ).href
  const open = async (pooling?: object, name = 'tiny') => {
    const model = await readModel(writeModel(newFolder(), tinyModel(pooling)), null)
    return new LocalEmbedder({ name, model, library })
  }
  const dot = (a: Float32Array | undefined, b: Float32Array | undefined) =>
    [...(a ?? [])].reduce((sum, value, at) => sum + value * (b?.[at] ?? 0), 0)

  test('makes vectors of unit length by its own pooling, and cuts what it cannot read', async () => {
    const mean = await open()
    const texts = ['money', 'refund', 'dog', '', `dog ${'refund '.repeat(500)}`, 'a\ud800b']
    const [money, refund, dog, empty, long, lone] = await mean.embed(texts, 'document', never)
    expect(mean.dimensions).toBe(tinyDimensions)
    for (const vector of [money, refund, dog, empty, long, lone])
      expect(dot(vector, vector)).toBeCloseTo(1, 5)
    expect(dot(money, refund)).toBeCloseTo(1, 5)
    expect(dot(money, dog)).toBeLessThan(0.1)
    // Of sixteen tokens, some are refunds and one is the dog.
    expect(dot(long, dog)).toBeGreaterThan(0.02)
    await mean.close()
    const cls = await open({ pooling_mode_cls_token: true })
    const [one, two] = await cls.embed(['money', 'dog'], 'query', never)
    expect(dot(one, two)).toBeCloseTo(1, 5)
    expect(cls.space).not.toBe(mean.space)
    await cls.close()
  })

  test('embeds queries before documents, can be cancelled, and starts again after it was closed', async () => {
    const embedder = await open()
    await embedder.load()
    const order: string[] = []
    const documents = embedder
      .embed(Array(16).fill('dog'), 'document', never)
      .then(() => order.push('documents'))
    const stop = new AbortController()
    const cancelled = embedder.embed(['money'], 'document', stop.signal).catch(({ message }) => message)
    stop.abort()
    await embedder.embed(['money'], 'query', never).then(() => order.push('query'))
    await documents
    expect(order).toEqual(['query', 'documents'])
    expect(await cancelled).toBe('Embedding was cancelled')
    await embedder.close()
    const again = await open()
    expect(await again.embed(['dog'], 'query', never)).toHaveLength(1)
    await again.close()
  })

  test('embeds documents in the end, however many queries there are, and keeps nothing of what is done', async () => {
    const embedder = await open()
    const stop = new AbortController()
    let isDone = false
    const document = embedder.embed(['dog'], 'document', stop.signal).finally(() => (isDone = true))
    // There is always a query that waits.
    const askOn = async () => {
      while (!isDone) await embedder.embed(['money'], 'query', stop.signal)
    }
    await Promise.all([document, ...Array.from({ length: 4 }, askOn)])
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    await embedder.close()
  })

  test('that cannot be loaded fails each time, and nothing else', async () => {
    const folder = writeModel(newFolder(), { ...tinyModel(), 'onnx/model.onnx': Buffer.from('no model') })
    const embedder = new LocalEmbedder({ name: 'tiny', model: await readModel(folder, null), library })
    await expect(embedder.load()).rejects.toThrow()
    await expect(embedder.embed(['a'], 'query', never)).rejects.toThrow('The embedding model failed')
    await embedder.close()
  })

  test('answers searches of the service by meaning, and ends with it', async () => {
    const dataDir = newFolder()
    const model = writeModel(newFolder())
    const env = { DATA_DIR: dataDir, EMBEDDING_PROVIDER: 'local', EMBEDDING_MODEL: model }
    const main = join(import.meta.dir, '../../../src/main.ts')
    const started = await spawnService(env, [
      'sh',
      '-c',
      `cd ${packages} && exec ${process.execPath} ${main}`,
    ])
    expect(started.stdout()).toContain('Embeddings  texts are sent to this process (local, model-')
    const post = async (path: string, body: object) =>
      await fetch(`${started.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${started.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await post('/v1/knowledge', { name: 'Refund', text: 'Refund.' })
    await post('/v1/knowledge', { name: 'Opening', text: 'Opening hours.' })
    const search = { query: 'money', mode: 'vector', timeoutMs: 10_000, limit: 1 }
    await until(async () => {
      const { data } = await (await post('/v1/knowledge/search', search)).json()
      return data?.[0]?.name === 'Refund'
    })
    expect(await started.stop()).toBe(0)
    writeFileSync(join(model, 'onnx/model.onnx'), 'no model')
    const broken = await spawnService(env, ['sh', '-c', `cd ${packages} && exec ${process.execPath} ${main}`])
    expect(await broken.ended).toBe(1)
    expect(broken.stderr()).toMatch(/EMBEDDING_PROVIDER is local, but the model .* cannot be loaded: ./)
  })
})
