import { describe, expect, test } from 'bun:test'
import { surfaces } from '../../src/http/surface.ts'

const bodyBytesMax = 1_000_000
const other = { prefix: '/integrations/other', errorBody: () => ({}) }
const docsHeaders = { 'Content-Security-Policy': 'of the viewer' }
const surfaceOf = surfaces({ protocols: [other], bodyBytesMax, docsHeaders })

describe('the surface of a request', () => {
  test.each([
    ['/v1', 'live'],
    ['/v1/calls/a', 'live'],
    ['/v1/nowhere', 'live'],
    ['/mcp', 'live'],
    ['/integrations/nowhere', 'live'],
    ['/integrations/other/x', 'live'],
    ['/ingest/calls/a', 'ingest'],
    ['/ingest/from/a', null],
    ['/v10', null],
    ['/mcpx', null],
    ['/ingesting', null],
    ['/health', null],
    ['/console/api/projects', null],
    ['/', null],
  ] as const)('%s asks for a key of the kind %p', (path, keyKind) => {
    expect(surfaceOf('GET', path).keyKind).toBe(keyKind)
  })

  test('only the addresses of sources take requests that are signed', () => {
    const isForSources = (path: string) => surfaceOf('POST', path).isForSources
    expect(
      ['/ingest/from/a', '/ingest/from', '/ingest/fromage', '/ingest/calls/a', '/'].map(isForSources),
    ).toEqual([...[true, true, false, false, false]])
  })

  test('a protocol has its own path and what is below, and nothing beside it', () => {
    const protocolAt = (path: string) => surfaceOf('POST', path).protocol
    expect(['/integrations/other', '/integrations/other/x'].map(protocolAt)).toEqual([other, other])
    expect(['/integrations', '/integrations/others', '/v1'].map(protocolAt)).toEqual([null, null, null])
  })

  test('whoever is not signed in may send little; a key or a session opens bodies of the full size', () => {
    const bodyBytesOf = (path: string) => surfaceOf('POST', path).bodyBytesMax
    expect(bodyBytesOf('/console/api/session')).toBe(16_384)
    for (const path of ['/v1/knowledge', '/ingest/calls/a', '/console/api/password', '/nowhere'])
      expect([path, bodyBytesOf(path)]).toEqual([path, bodyBytesMax])
  })

  test('only the page of the documentation, with or without a slash, has the policy of its viewer', () => {
    const headersOf = (path: string) => surfaceOf('GET', path).headers
    expect(['/docs', '/docs/'].map(headersOf)).toEqual([docsHeaders, docsHeaders])
    expect(['/docs/errors', '/docs/json', '/'].map(headersOf)).toEqual([undefined, undefined, undefined])
  })
})
