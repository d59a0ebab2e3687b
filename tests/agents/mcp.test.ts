import { afterAll, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type CallToolResult, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import packageJson from '../../package.json' with { type: 'json' }
import { failureOf } from '../support/failure.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

interface Summary {
  id: string
  name: string
  textBytes: number
}

interface Page {
  data: Summary[]
  nextCursor: string | null
}

interface Part {
  text: string
  offset: number
  totalChars: number
  nextOffset: number | null
}

interface RpcAnswer {
  jsonrpc: string
  id: unknown
  result?: unknown
  error?: { code: number; message: string }
}

const documents = [
  { name: 'Refund policy', text: '## Refunds\n\nWe refund any order within thirty days of delivery.' },
  { name: 'Shipping', text: 'Orders ship within two days.', description: 'How long parcels take.' },
]
const both = 'application/json, text/event-stream'
const publicUrl = 'https://callbook.example/base'

const service = await startService({ env: { BODY_MAX_BYTES: '20000', PUBLIC_URL: publicUrl } })
const project = await service.mintProject()
const ids: string[] = []
for (const document of documents) ids.push(await create(project, document))
const client = await connect(project.key)
afterAll(async () => {
  await client.close()
})

describe('a client of the protocol', () => {
  test('is told who answers, what for, and that there are tools and nothing else', () => {
    expect(client.getServerVersion()).toEqual({
      name: 'callbook',
      title: 'Callbook',
      version: packageJson.version,
    })
    expect(client.getServerCapabilities()).toEqual({ tools: {} })
    expect(client.getInstructions()).toContain('search_knowledge')
  })

  test('may ping, and go without the stream that there is not', async () => {
    const errors: Error[] = []
    const own = await connect(project.key, (error) => errors.push(error))
    expect(await own.ping()).toEqual({})
    await own.close()
    expect(errors).toEqual([])
  })

  test('may speak any version since 2025-03-26, and is offered the latest for one that there is not', async () => {
    for (const [asked, agreed] of [
      ['2025-03-26', '2025-03-26'],
      ['2025-06-18', '2025-06-18'],
      ['2025-11-25', '2025-11-25'],
      ['1999-01-01', '2025-11-25'],
    ]) {
      const answer = await rpc({ method: 'initialize', params: initializeParams(asked) })
      expect(answer.result).toMatchObject({ protocolVersion: agreed })
    }
  })

  test('finds tools that only read, each described for a model, with schemas any JSON Schema reader takes', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'search_knowledge',
      'list_knowledge',
      'get_knowledge',
      'list_calls',
      'get_call',
      'get_metrics',
      'compare_calls',
      'list_gaps',
      'get_gap',
    ])
    for (const tool of tools) {
      expect(tool.title).toBeString()
      expect(tool.description).toMatch(/^[A-Z].{60,}\.$/)
      expect(tool.annotations).toEqual({ readOnlyHint: true, openWorldHint: false })
      for (const schema of [tool.inputSchema, tool.outputSchema ?? {}]) {
        expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) })
        expect(JSON.stringify(schema)).not.toMatch(/"(nullable|example|x-message)"/)
        // Strict: a keyword that JSON Schema does not have is an error.
        new Ajv2020({ strictSchema: true, strictTypes: true, allowUnionTypes: true }).compile(schema)
      }
    }
    expect(tools[0]?.inputSchema).toMatchObject({
      required: ['query'],
      properties: { limit: { type: 'integer', minimum: 1, maximum: 50, default: 5 } },
    })
    expect(tools[0]?.outputSchema).toMatchObject({
      properties: { data: { items: { properties: { heading: { type: ['string', 'null'] } } } } },
    })
  })
})

describe('search_knowledge', () => {
  test('gives the same answer as REST, and a block of text a passage: name and heading, then its words', async () => {
    const request = { query: 'refund delivery', limit: 1, timeoutMs: 10_000 }
    const { structuredContent, content, isError } = await callTool('search_knowledge', request)
    const rest = await (await project.send('POST', '/v1/knowledge/search', request)).json()
    expect(structuredContent).toEqual({ ...rest, tookMs: expect.any(Number) })
    expect(structuredContent).toMatchObject({ data: [{ itemId: ids[0], heading: 'Refunds', score: 1 }] })
    expect(isError).toBeUndefined()
    expect(content).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(/^Refund policy › Refunds \(item kn_\w+\)\n\n.*thirty days/s),
      },
    ])
  })

  test('answers a passage without a heading, which is null', async () => {
    const { structuredContent, content } = await callTool('search_knowledge', { query: 'ship', limit: 1 })
    expect(structuredContent).toMatchObject({ data: [{ itemId: ids[1], heading: null }] })
    expect(textOf(content)).toStartWith(`Shipping (item ${ids[1]})\n\nOrders`)
  })

  test('looks only into the items asked for', async () => {
    const { structuredContent } = await callTool('search_knowledge', {
      query: 'refund',
      itemIds: [ids[1]],
      limit: 50,
    })
    const { data } = structuredContent as { data: { itemId: string }[] }
    expect(data.filter(({ itemId }) => itemId !== ids[1])).toEqual([])
  })

  test('says so when there is nothing', async () => {
    const { structuredContent, content } = await callTool('search_knowledge', {
      query: 'zebra',
      mode: 'keyword',
    })
    expect(structuredContent).toMatchObject({ data: [], mode: 'keyword' })
    expect(textOf(content)).toBe('No passage was found. Try other words.')
  })
})

describe('list_knowledge', () => {
  test('gives every item without its text, newest first', async () => {
    const { structuredContent, content } = await callTool('list_knowledge', {})
    expect(structuredContent).toEqual({
      data: [
        {
          id: ids[1],
          name: 'Shipping',
          description: 'How long parcels take.',
          createdAt: expect.stringMatching(/Z$/),
          tags: [],
          textBytes: 28,
        },
        {
          id: ids[0],
          name: 'Refund policy',
          description: '',
          createdAt: expect.any(String),
          tags: [],
          textBytes: 63,
        },
      ],
      nextCursor: null,
    })
    expect(textOf(content)).toBe(
      `- Shipping (item ${ids[1]}, 28 bytes): How long parcels take.\n- Refund policy (item ${ids[0]}, 63 bytes)`,
    )
  })

  test('pages through all items once, also through those of one millisecond and past one deleted meanwhile', async () => {
    let ms = Date.UTC(2026, 0, 31)
    const still = await startService({ now: () => ms })
    const own = await still.mintProject()
    const made: string[] = []
    for (let n = 0; n < 7; n++) {
      if (n === 3) ms += 1
      made.push(await create(own, { name: `Item ${n}`, text: 'ü'.repeat(n + 1) }))
    }
    const reader = await connect(own.key, undefined, still.url)
    const first = await pageOf(reader, { limit: 3 })
    expect(first.data.length).toBe(3)
    await own.fetch(`/v1/knowledge/${first.data[2]?.id}`, { method: 'DELETE' })
    const second = await pageOf(reader, { limit: 3, cursor: first.nextCursor })
    const third = await pageOf(reader, { limit: 3, cursor: second.nextCursor })
    const all = [...first.data, ...second.data, ...third.data]
    expect(all.map(({ id }) => id).toSorted()).toEqual(made.toSorted())
    expect(
      all
        .slice(0, 4)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(made.slice(3).toSorted())
    expect([second.data.length, third.data.length, third.nextCursor]).toEqual([3, 1, null])
    expect(all.find(({ name }) => name === 'Item 6')?.textBytes).toBe(14)
    expect((await pageOf(reader, { limit: 7 })).nextCursor).toBeNull()
    await reader.close()
  })

  test('answers twenty items unless asked for more or fewer, and tells a model how to go on', async () => {
    const many = await service.mintProject()
    for (let n = 0; n < 21; n++) await create(many, { name: `Item ${n}`, text: 'words' })
    const reader = await connect(many.key)
    const { structuredContent, content } = await callTool('list_knowledge', {}, reader)
    const { data, nextCursor } = structuredContent as unknown as Page
    expect(data.length).toBe(20)
    expect(content[1]).toEqual({ type: 'text', text: `There are more. Call again with cursor ${nextCursor}` })
    expect((await pageOf(reader, { limit: 1 })).data.length).toBe(1)
    expect((await pageOf(reader, { limit: 100 })).data.length).toBe(21)
    await reader.close()
  })

  test('says so when there is nothing', async () => {
    const reader = await connect((await service.mintProject()).key)
    const { structuredContent, content } = await callTool('list_knowledge', {}, reader)
    expect(structuredContent).toEqual({ data: [], nextCursor: null })
    expect(textOf(content)).toBe('There are no items.')
    await reader.close()
  })

  test('takes only a cursor that a page has given, and one of another project shows nothing of it', async () => {
    for (const cursor of ['', 'x', '!!', Buffer.from('1.').toString('base64url'), 'A'.repeat(200)]) {
      const { isError, content } = await callTool('list_knowledge', { cursor })
      expect([isError, textOf(content)]).toEqual([
        true,
        'Invalid arguments: cursor must be the nextCursor of another page',
      ])
    }
    const { nextCursor } = await pageOf(client, { limit: 1 })
    const stranger = await connect((await service.mintProject()).key)
    expect((await pageOf(stranger, { cursor: nextCursor })).data).toEqual([])
    await stranger.close()
  })
})

describe('get_knowledge', () => {
  test('gives the item as REST does, and how much of it this is', async () => {
    const { structuredContent, content } = await callTool('get_knowledge', { id: ids[1] })
    const item = await (await project.fetch(`/v1/knowledge/${ids[1]}`)).json()
    expect(structuredContent).toEqual({ ...item, offset: 0, totalChars: 28, nextOffset: null })
    expect(textOf(content)).toBe('# Shipping\n\nHow long parcels take.\n\nOrders ship within two days.')
  })

  test('gives a long text in parts of 20,000 characters, which say where the next begins', async () => {
    const roomy = await startService()
    const own = await roomy.mintProject()
    const text = 'All work and no play. '.repeat(2_000)
    const id = await create(own, { name: 'Long', text })
    const reader = await connect(own.key, undefined, roomy.url)
    const { structuredContent, content } = await callTool('get_knowledge', { id }, reader)
    const part = structuredContent as unknown as Part
    expect(part).toMatchObject({ offset: 0, totalChars: 44_000, nextOffset: 20_000 })
    expect(textOf(content)).toEndWith(
      '(Characters 0 to 20000 of 44000; call again with offset 20000 for more)',
    )
    expect(await readAll(reader, id, {})).toEqual({ text, parts: 3 })
    await reader.close()
  })

  test('splits no character, wherever the parts end', async () => {
    const text = `a😀b${'😀'.repeat(40)}👩‍👩‍👧‍👦🇫🇷🇩🇪e\u0301\r\nz`
    const id = await create(project, { name: 'Emoji', text })
    for (let maxChars = 1; maxChars <= 12; maxChars++)
      expect((await readAll(client, id, { maxChars })).text).toBe(text)
    for (let offset = 0; offset <= text.length; offset++) {
      const { structuredContent } = await callTool('get_knowledge', { id, offset, maxChars: 3 })
      const part = structuredContent as unknown as Part
      expect(part.text.isWellFormed()).toBe(true)
      expect(text.startsWith(part.text, part.offset)).toBe(true)
      expect(part.offset).toBe(
        offset > 0 && (text.codePointAt(offset - 1) ?? 0) > 0xffff ? offset - 1 : offset,
      )
    }
  })

  test('gives nothing behind the end', async () => {
    const { structuredContent } = await callTool('get_knowledge', { id: ids[1], offset: 1_000_000 })
    expect(structuredContent).toMatchObject({ text: '', offset: 28, totalChars: 28, nextOffset: null })
  })

  test('answers an item that is deleted, of another project or was never there in the same words', async () => {
    const gone = await create(project, { name: 'Gone', text: 'words' })
    await project.fetch(`/v1/knowledge/${gone}`, { method: 'DELETE' })
    const other = await create(await service.mintProject(), { name: 'Other', text: 'words' })
    for (const id of [gone, other, 'kn_0', '', '../calls'])
      expect(await callTool('get_knowledge', { id })).toEqual({
        content: [{ type: 'text', text: 'Knowledge item not found' }],
        isError: true,
      })
    expect(textOf((await callTool('list_knowledge', {})).content)).not.toContain('Gone')
    const { structuredContent } = await callTool('search_knowledge', { query: 'words gone other', limit: 50 })
    expect(JSON.stringify(structuredContent)).not.toMatch(/Gone|Other/)
  })
})

describe('what a model gets wrong', () => {
  const cases: [tool: string, input: Record<string, unknown>, field: RegExp][] = [
    ['search_knowledge', {}, /^query is required$/],
    ['search_knowledge', { query: ' ' }, /^query must not be blank$/],
    ['search_knowledge', { query: 7 }, /^query must be a string$/],
    ['search_knowledge', { query: 'x'.repeat(2_001) }, /^query must be at most 2000 characters$/],
    ['search_knowledge', { query: 'x', limit: 51 }, /^limit must be at most 50$/],
    ['search_knowledge', { query: 'x', limit: '5' }, /^limit must be an integer$/],
    ['search_knowledge', { query: 'x', itemIds: 'kn_0' }, /^itemIds must be an array$/],
    ['search_knowledge', { query: 'x', mode: 'psychic' }, /^mode must be one of hybrid, vector, keyword$/],
    ['search_knowledge', { limit: 0, query: '' }, /query .*; limit |limit .*; query /],
    ['list_knowledge', { limit: 101 }, /^limit must be at most 100$/],
    ['list_knowledge', { cursor: 1 }, /^cursor must be a string$/],
    ['get_knowledge', {}, /^id is required$/],
    ['get_knowledge', { id: 'x', offset: -1 }, /^offset must be at least 0$/],
    ['get_knowledge', { id: 'x', maxChars: 0 }, /^maxChars must be at least 1$/],
  ]
  test('in arguments is a result that names each field, for it to try again', async () => {
    for (const [name, input, expected] of cases) {
      const { isError, content } = await callTool(name, input)
      const text = textOf(content)
      expect([name, isError]).toEqual([name, true])
      expect(text).toStartWith('Invalid arguments: ')
      expect(text.slice('Invalid arguments: '.length)).toMatch(expected)
    }
  })

  test('in the name of a tool is an error of the protocol', async () => {
    for (const name of ['delete_knowledge', '', 'constructor', '__proto__'])
      expect(await failureOf(client.callTool({ name, arguments: {} }))).toMatchObject({
        code: -32602,
        message: expect.stringContaining('Unknown tool'),
      })
  })

  test('in the form of a request is one too, told by its id', async () => {
    for (const [body, code] of [
      [{ method: 'tools/call' }, -32602],
      [{ method: 'tools/call', params: {} }, -32602],
      [{ method: 'tools/call', params: { name: 7 } }, -32602],
      [{ method: 'tools/call', params: { name: 'search_knowledge', arguments: [] } }, -32602],
      [{ method: 'tools/list', params: { cursor: 7 } }, -32602],
      [{ method: 'initialize' }, -32602],
      [{ method: 'initialize', params: {} }, -32602],
      [{ method: 'resources/list' }, -32601],
      [{ method: 'nowhere' }, -32601],
    ] as const) {
      const { error, ...rest } = await rpc(body)
      expect([body, error?.code]).toEqual([body, code])
      expect(rest).toEqual({ jsonrpc: '2.0', id: 'own-id' })
    }
  })
})

describe('a failure of ours', () => {
  test('is an internal error that tells a client nothing, and the log everything', async () => {
    const { write } = service.services.database
    await write.run('alter table knowledge_items rename to lost')
    let answer: Response
    try {
      answer = await post({
        method: 'tools/call',
        params: { name: 'get_knowledge', arguments: { id: 'kn_7' } },
      })
    } finally {
      await write.run('alter table lost rename to knowledge_items')
    }
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      id: 'own-id',
      error: { code: -32603, message: 'Internal error' },
    })
    const requestId = answer.headers.get('x-request-id')
    const logged = service.logs.filter((line) => line.requestId === requestId)
    expect(logged.map(({ msg, level }) => [msg, level])).toEqual([
      ['internal', 50],
      ['request', 30],
    ])
    expect(JSON.stringify(logged[0])).toContain('knowledge_items')
  })
})

describe('HTTP', () => {
  test('a POST is answered with JSON, a notification or an answer with 202 and nothing', async () => {
    const answer = await post({ method: 'ping' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(answer.headers.get('mcp-session-id')).toBeNull()
    expect(await answer.json()).toEqual({ jsonrpc: '2.0', id: 'own-id', result: {} })
    for (const message of [
      { method: 'notifications/initialized' },
      { method: 'notifications/cancelled', params: { requestId: 'own-id' } },
      { method: 'notifications/nobody_knows' },
      { id: 1, result: {} },
    ]) {
      const accepted = await send(JSON.stringify({ jsonrpc: '2.0', ...message }))
      expect([accepted.status, await accepted.text()]).toEqual([202, ''])
    }
  })

  test('there is no OAuth to discover: clients go on with their key', async () => {
    for (const document of [
      'oauth-protected-resource',
      'oauth-authorization-server',
      'openid-configuration',
    ]) {
      for (const path of [`/.well-known/${document}`, `/.well-known/${document}/mcp`])
        await expectProblem(await fetch(service.url + path), 'not_found')
    }
  })

  test('a body that is not JSON is a parse error, one that is no message an invalid request', async () => {
    for (const [body, code] of [
      ['', -32700],
      ['{"jsonrpc":"2.0",', -32700],
      ['ping', -32700],
      [new Uint8Array([0x22, 0xff, 0x22]), -32700],
      [String.raw`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}`, -32700],
      ['null', -32600],
      ['7', -32600],
      ['"ping"', -32600],
      ['{}', -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
      ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}', -32600],
      ['[]', -32600],
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
      ['[{"jsonrpc":"2.0","method":"notifications/initialized"}]', -32600],
    ] as const)
      await expectRpcError(await send(body), 400, code)
  })

  test('an id that JSON would not give back as it was is refused by name, and any other comes back', async () => {
    for (const id of ['1.5', '-0.1', '9007199254740992', '-1e16', '1e300']) {
      const answer = await send(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)
      const { error }: RpcAnswer = await answer.json()
      expect([id, answer.status, error?.code]).toEqual([id, 400, -32600])
      expect(error?.message).toContain('id must be a string, or an integer')
    }
    for (const id of [
      0,
      -1,
      2.0,
      Number.MAX_SAFE_INTEGER,
      -Number.MAX_SAFE_INTEGER,
      '',
      '1.5',
      'x'.repeat(300),
    ])
      expect(await rpc({ id, method: 'ping' })).toEqual({ jsonrpc: '2.0', id, result: {} })
  })

  test('an Accept without JSON is 406', async () => {
    for (const accept of ['text/event-stream', 'text/html', 'application/xml;q=1'])
      await expectRpcError(await send('{}', { accept }), 406, -32000)
  })

  test('an Accept is enough that lets JSON through', async () => {
    for (const accept of [
      '*/*',
      'application/json',
      'APPLICATION/JSON; q=0.5',
      'text/html, application/*',
      both,
    ])
      expect([accept, (await post({ method: 'ping' }, { accept })).status]).toEqual([accept, 200])
  })

  test('a version that there is not is 400, but when it is yet to be agreed on', async () => {
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26'])
      expect((await post({ method: 'ping' }, { 'mcp-protocol-version': version })).status).toBe(200)
    for (const version of ['1999-01-01', 'latest', '']) {
      const headers = { 'mcp-protocol-version': version }
      await expectRpcError(await post({ method: 'ping' }, headers), 400, -32000)
      expect((await post({ method: 'initialize', params: initializeParams() }, headers)).status).toBe(200)
    }
  })
})

describe('a page of another origin', () => {
  test('is refused, also one that calls itself by the name it was reached by', async () => {
    const { host, port } = new URL(service.url)
    for (const origin of [
      'https://evil.example',
      'null',
      '',
      'https://callbook.example.evil.example',
      'http://callbook.example',
      'https://callbook.example:8443',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil.example',
      'http://evil.example/http://localhost',
      'file://localhost',
      'https://callbook.example, https://evil.example',
    ]) {
      const answer = await post({ method: 'ping' }, { origin })
      expect([origin, answer.status]).toEqual([origin, 403])
      await expectProblem(answer, 'forbidden')
    }
    // DNS rebinding: the browser sends the attacker's name as both, to our address.
    const rebound = { origin: `http://evil.example:${port}`, host: `evil.example:${port}` }
    expect(host).not.toBe(rebound.host)
    expect((await post({ method: 'ping' }, rebound)).status).toBe(403)
  })

  test('is not one of ours or of this machine, which pass, as what is no browser does', async () => {
    for (const origin of [
      'https://callbook.example',
      'http://localhost',
      'http://localhost:6274',
      'https://127.0.0.1:8443',
      'http://[::1]:3000',
      service.url,
    ])
      expect([origin, (await post({ method: 'ping' }, { origin })).status]).toEqual([origin, 200])
    expect((await post({ method: 'ping' })).status).toBe(200)
  })

  test('is refused where no address is configured as well', async () => {
    const plain = await startService()
    const own = await plain.mintProject()
    const call = (origin: string) =>
      own.fetch('/mcp', {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
        headers: { 'content-type': 'application/json', origin },
      })
    expect((await call('https://callbook.example')).status).toBe(403)
    expect((await call('http://localhost:3000')).status).toBe(200)
  })
})

describe('keys', () => {
  test("fifty calls at once of two projects' clients never mix, and each gets its own answer", async () => {
    const owners = await Promise.all(
      ['amber', 'violet'].map(async (colour) => {
        const own = await service.mintProject()
        const id = await create(own, { name: colour, text: `The secret of this house is ${colour}.` })
        return { colour, id, own, reader: await connect(own.key) }
      }),
    )
    const foreign = (colour: string) => (colour === 'amber' ? 'violet' : 'amber')
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const owner = owners[n % 2]
        const stranger = owners[(n + 1) % 2]
        if (!owner || !stranger) throw new Error('There are two')
        const { colour, id, reader } = owner
        // All clients count their requests alike, so that ids are the same in both projects.
        const [found, listed, read, denied] = await Promise.all([
          callTool('search_knowledge', { query: `secret house ${n}`, limit: 50, timeoutMs: 10_000 }, reader),
          callTool('list_knowledge', {}, reader),
          callTool('get_knowledge', { id }, reader),
          callTool('get_knowledge', { id: stranger.id }, reader),
        ])
        for (const result of [found, listed, read]) {
          expect(JSON.stringify(result)).toContain(colour)
          expect(JSON.stringify(result)).not.toContain(foreign(colour))
        }
        expect(denied.isError).toBe(true)
      }),
    )
    for (const { reader } of owners) await reader.close()
  })
})

async function connect(
  key: string | null,
  onError?: (error: Error) => void,
  url = service.url,
): Promise<Client> {
  const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` }
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } })
  const made = new Client({ name: 'test', version: '1' })
  if (onError) made.onerror = onError
  await made.connect(transport)
  // The client checks structured content by the output schemas that it has seen.
  await made.listTools()
  return made
}

async function callTool(
  name: string,
  input: Record<string, unknown>,
  reader = client,
): Promise<CallToolResult> {
  return CallToolResultSchema.parse(await reader.callTool({ name, arguments: input }))
}

async function pageOf(reader: Client, { limit, cursor }: { limit?: number; cursor?: string | null }) {
  const input = { ...(limit ? { limit } : {}), ...(cursor ? { cursor } : {}) }
  const { structuredContent } = await callTool('list_knowledge', input, reader)
  return structuredContent as unknown as Page
}

/** The text of an item, part by part. */
async function readAll(reader: Client, id: string, input: { maxChars?: number }) {
  let text = ''
  let parts = 0
  for (let offset: number | null = 0; offset !== null; parts++) {
    const { structuredContent } = await callTool('get_knowledge', { id, offset, ...input }, reader)
    const part = structuredContent as unknown as Part
    expect(part.text.isWellFormed()).toBe(true)
    expect(part.nextOffset === null || part.nextOffset > offset).toBe(true)
    text += part.text
    offset = part.nextOffset
  }
  return { text, parts }
}

function textOf(content: CallToolResult['content']): string {
  const [block] = content
  return block?.type === 'text' ? block.text : ''
}

function initializeParams(protocolVersion = '2025-11-25') {
  return { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
}

async function rpc(message: object): Promise<RpcAnswer> {
  return await (await post(message)).json()
}

/** One request of the id `own-id`. */
function post(message: object, headers: Record<string, string> = {}): Promise<Response> {
  return send(JSON.stringify({ jsonrpc: '2.0', id: 'own-id', ...message }), headers)
}

function send(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const all = { 'content-type': 'application/json', accept: both, ...headers }
  return project.fetch('/mcp', { method: 'POST', body, headers: all })
}

async function expectRpcError(answer: Response, status: number, code: number): Promise<void> {
  expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([
    status,
    'application/json',
  ])
  expect(await answer.json()).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code, message: expect.stringMatching(/\S{2,}/) },
  })
}

async function create(target: TestProject, fields: object): Promise<string> {
  const answer = await target.send('POST', '/v1/knowledge', fields)
  expect(answer.status).toBe(201)
  const { id }: { id: string } = await answer.json()
  return id
}
