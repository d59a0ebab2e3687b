import { describe, expect, test } from 'bun:test'
import { bodyLimit, surfaces } from '../../src/http/surface.ts'

const other = { prefix: '/integrations/other', errorBody: () => ({}) }
const docsHeaders = { 'Content-Security-Policy': 'of the viewer' }
const surfaceOf = surfaces({ protocols: [other], docsHeaders })

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
    ).toEqual([true, true, false, false, false])
  })

  test('a protocol has its own path and what is below, and nothing beside it', () => {
    const protocolAt = (path: string) => surfaceOf('POST', path).protocol
    expect(['/integrations/other', '/integrations/other/x'].map(protocolAt)).toEqual([other, other])
    expect(['/integrations', '/integrations/others', '/v1'].map(protocolAt)).toEqual([null, null, null])
  })

  test('only the page of the documentation, with or without a slash, has the policy of its viewer', () => {
    const headersOf = (path: string) => surfaceOf('GET', path).headers
    expect(['/docs', '/docs/'].map(headersOf)).toEqual([docsHeaders, docsHeaders])
    expect(['/docs/errors', '/docs/json', '/'].map(headersOf)).toEqual([undefined, undefined, undefined])
  })
})

describe('the largest body', () => {
  const configured = 33_554_432
  const recordingBytesMax = 268_435_456
  const kib = 1_024

  test.each([
    ['/v1/knowledge/search', 64 * kib],
    ['/v1/knowledge/search/', 64 * kib],
    ['/console/api/projects/prj_1/knowledge/search', 64 * kib],
    ['/mcp', 256 * kib],
    ['/integrations/tool', 1_024 * kib],
    ['/integrations/vapi/knowledge', 1_024 * kib],
    ['/v1/knowledge', configured],
    ['/v1/knowledge/searching', configured],
    ['/v1/knowledge/preview', configured],
    ['/v1/knowledge/files', 20_544 * kib],
    ['/console/api/projects/prj_1/knowledge/read', 20_544 * kib],
    ['/console/api/projects/prj_1/knowledge', configured],
    ['/console/api/projects/prj_1/knowledge/kn_1', configured],
    ['/ingest/calls', configured],
    ['/ingest/calls/a', configured],
    ['/ingest/calls/a/recordings', configured],
    ['/ingest/from/src_1', configured],
    ['/ingest/otlp/v1/traces', configured],
    ['/observability/traces/otlp/v0', configured],
    ['/console/api/session', 16 * kib],
    ['/console/api/session/code', 16 * kib],
    ['/console/api/links/accept', 16 * kib],
    ['/console/api/projects/prj_1/calls/label', 256 * kib],
    ['/console/api/password', 256 * kib],
    ['/v1/erasures', 256 * kib],
    ['/v1/calls', 256 * kib],
    ['/anything/new', 256 * kib],
  ])('of %s has %d bytes, but no more than the configuration allows', (path, bytes) => {
    expect(bodyLimit({ bytesMax: configured, recordingBytesMax })(path)).toBe(bytes)
    expect(bodyLimit({ bytesMax: 1_000, recordingBytesMax })(path)).toBe(1_000)
  })

  test('of a recording is a setting of its own', () => {
    const limitOf = bodyLimit({ bytesMax: 1_000, recordingBytesMax })
    expect(limitOf('/ingest/calls/a/recording')).toBe(recordingBytesMax)
    expect(limitOf('/ingest/calls/recording')).toBe(1_000)
    // Beside a history.
    expect(limitOf('/observability/recordings/v0')).toBe(recordingBytesMax + 32 * kib * kib)
  })
})
