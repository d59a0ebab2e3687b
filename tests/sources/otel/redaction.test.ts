import { expect, test } from 'bun:test'
import { interimRedactor } from '../../../src/redaction/settings.ts'
import { redactSpans } from '../../../src/sources/otel/kept-span.ts'
import { finished } from '../../../src/threads/time-slices.ts'

test('the ids of tool calls stay as they are, so that a step still names its tools', async () => {
  const settings = { redact: ['phone'], country: null, keepNumbers: 'all' } as const
  const span = { name: 'llm_node', startMs: 0, endMs: 1, parent: '' }
  const values = { id: '4155552671', calls: '["4155552671"]' }
  const spans = { step: { ...span, values: { ...values, text: 'call 415-555-2671' } } }
  const redacted = finished(redactSpans(spans, settings, await interimRedactor(settings)))
  expect(redacted.step?.values).toEqual({ ...values, text: 'call \ue000phone]' })
})

test('our names of attributes give no context, and the keys of metadata do', async () => {
  const settings = { redact: ['phone'], country: 'US', keepNumbers: 'all' } as const
  const span = (name: string, text: string) => ({
    [name]: { name: 'x', startMs: 0, endMs: 1, parent: '', values: { [name]: text } },
  })
  const spans = {
    ...span('text', 'Order 4242 4242 4242 4241'),
    ...span('callbook.metadata.orderId', '4155552671'),
    ...span('callbook.metadata.phone', '4155552671'),
  }
  const redacted = finished(redactSpans(spans, settings, await interimRedactor(settings)))
  expect(Object.values(redacted).flatMap(({ values }) => Object.values(values))).toEqual([
    'Order 4242 4242 4242 4241',
    '4155552671',
    '\ue000phone]',
  ])
})
