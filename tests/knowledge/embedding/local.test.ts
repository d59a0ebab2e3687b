import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LocalEmbedder } from '../../../src/knowledge/embedding/local/local.ts'
import { readModel } from '../../../src/knowledge/embedding/local/model-folder.ts'
import { openLocalEmbedder } from '../../../src/services/local-embedder.ts'
import { freshFolder } from '../../support/at-end.ts'
import { breaksOff, type FakeHub, startHub } from '../../support/fake-hub.ts'
import { transformersForNode } from '../../support/packages.ts'
import { startService } from '../../support/service.ts'
import { spawnService } from '../../support/spawned.ts'
import { tinyDimensions, tinyModel, writeModel } from '../../support/tiny-model.ts'
import { until } from '../../support/until.ts'

const root = freshFolder()
const newFolder = () => mkdtempSync(join(root, 'model-'))
const never = new AbortController().signal

describe('a folder with a model', () => {
  test('has another digest with each of its files, and the same wherever it is', async () => {
    const folder = writeModel(newFolder())
    const { digest } = await readModel(folder)
    expect((await readModel(writeModel(newFolder()))).digest).toBe(digest)
    // Vectors that are stored bear it: with another one they would all be made anew.
    expect(digest).toBe('fed3317d9a58f2f9c5d6d9b9823f6ad591dae2197b4a1639c0e08a446a863780')
    for (const name of ['tokenizer.json', 'onnx/model.onnx']) {
      appendFileSync(join(folder, name), ' ')
      expect((await readModel(folder)).digest).not.toBe(digest)
    }
  })

  test.each([
    [{ pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }, 'cls'],
    [{ pooling_mode: 'mean' }, 'mean'],
    [{ pooling_mode_lasttoken: true }, 'last_token'],
    [null, null],
  ])('of which the pooling is %p is pooled by %p', async (config, pooling) => {
    expect(await readModel(writeModel(newFolder(), tinyModel(config)))).toMatchObject({ pooling })
  })

  test('is refused when it lacks a file, or needs what this service cannot do', async () => {
    const reason = async (files: Record<string, Buffer>) =>
      await readModel(writeModel(newFolder(), files)).then(String, ({ message }) => message)
    const { 'onnx/model.onnx': _, ...without } = tinyModel()
    expect(await reason(without)).toMatch(/^the model in .* has no onnx\/model.onnx$/)
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
      'cannot be read as JSON',
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
    const model = await readModel(writeModel(newFolder(), tinyModel(pooling)))
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
    const embedder = new LocalEmbedder({ name: 'tiny', model: await readModel(folder), library })
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

describe.skipIf(packages === null)('a model that is on the hub', () => {
  const model = 'acme/tiny'
  const pooling = { pooling_mode_cls_token: true }
  const files = { ...tinyModel(pooling), 'onnx/model.onnx_data': Buffer.from('no graph refers to it') }
  const cwd = process.cwd()
  let hub: FakeHub
  let dataDir: string
  beforeEach(async () => {
    process.chdir(packages ?? cwd)
    hub = await startHub(model, files)
    dataDir = newFolder()
  })
  afterEach(() => {
    process.chdir(cwd)
    hub.stop()
  })

  const open = (name = model) =>
    openLocalEmbedder({
      config: { dataDir, embedding: { provider: 'local', model: name, endpoint: null, token: 'hf_x' } },
      metrics: { observeEmbedding: () => {} },
      log: { info: () => {} },
      role: 'service',
      hub: hub.url,
    })
  const failure = (name?: string) => open(name).then(String, ({ problems: [reason] }) => reason)

  test('is downloaded once, and is the model that its folder is', async () => {
    const embedder = await open()
    const inFolder = await readModel(writeModel(newFolder(), files))
    expect(embedder.space).toStartWith(`local:${inFolder.digest}/none/cls/normalised:`)
    expect(await embedder.embed(['dog'], 'query', never)).toHaveLength(1)
    expect(hub.requests.find(({ name }) => name === '1_Pooling/config.json')?.token).toBe('Bearer hf_x')
    await embedder.close()
    await hub.stop()
    const again = await open()
    expect(again.space).toBe(embedder.space)
    await again.close()
  })

  test('is not downloaded where 1.0.0-rc.1 has left it', async () => {
    writeModel(join(dataDir, 'models', 'acme--tiny'), files)
    const embedder = await open()
    expect(hub.requests).toEqual([])
    await embedder.close()
  })

  test('and breaks off on its way is complete after the next start, without what was left', async () => {
    for (const name of ['1_Pooling/config.json', 'tokenizer.json', 'onnx/model.onnx']) {
      hub.answers = { [name]: breaksOff }
      expect(await failure()).toStartWith(
        `EMBEDDING_PROVIDER is local, but the model acme/tiny could not be downloaded from ${hub.url}: `,
      )
    }
    hub.answers = {}
    writeFileSync(join(dataDir, 'models', model, 'onnx/model.onnx.tmp.1'), 'killed')
    const embedder = await open()
    expect(readdirSync(join(dataDir, 'models', model, 'onnx')).toSorted()).toEqual([
      'model.onnx',
      'model.onnx_data',
    ])
    const { digest } = await readModel(writeModel(newFolder(), files))
    expect(embedder.space).toContain(digest)
    await embedder.close()
  })

  test('is not there, or cannot be reached, or is no model: a sentence says what to do', async () => {
    expect(await failure('acme/other')).toContain(
      'the hub answered 401. Check EMBEDDING_MODEL and, if the model is gated or private, HF_TOKEN, and try again, or put',
    )
    hub.answers = { 'onnx/model.onnx': (response) => response.writeHead(403).end() }
    expect(await failure()).toContain('Forbidden access to file')
    hub.answers = { 'onnx/model.onnx': (response) => response.end('<html>') }
    expect(await failure()).toMatch(/could not be downloaded from .*: ./)
    expect(await failure()).toMatch(/cannot be loaded: .*If it was downloaded, delete that folder/)
    await hub.stop()
    rmSync(dataDir, { recursive: true })
    expect(await failure()).toMatch(/could not be downloaded from .*: ./)
  })
})
