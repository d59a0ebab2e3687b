import { Type } from '@sinclair/typebox'
import { asOpenApi, jsonAnswer, protocolAnswers } from '../../http/openapi.ts'

const ExportTraceServiceRequest = Type.Object(
  {
    resourceSpans: Type.Optional(
      Type.Array(Type.Unsafe<object>({ type: 'object', additionalProperties: true }), { nullable: true }),
    ),
  },
  {
    title: 'ExportTraceServiceRequest',
    description: 'As in opentelemetry-proto, as JSON.',
    example: {
      resourceSpans: [
        {
          scopeSpans: [
            {
              scope: { name: 'livekit-agents' },
              spans: [
                {
                  traceId: '5b8efff798038103d269b633813fc60c',
                  spanId: '00000000000000a1',
                  name: 'user_turn',
                  startTimeUnixNano: '1700000003000000000',
                  endTimeUnixNano: '1700000004500000000',
                  attributes: [
                    { key: 'lk.pii.user_transcript', value: { stringValue: 'When do you open?' } },
                  ],
                },
              ],
            },
          ],
        },
      ],
    },
  },
)

const ExportTraceServiceResponse = Type.Object(
  {
    partialSuccess: Type.Optional(
      Type.Object(
        { rejectedSpans: Type.String({ example: '1' }), errorMessage: Type.String() },
        { title: 'ExportTracePartialSuccess', description: 'Spans that can never be taken.' },
      ),
    ),
  },
  { title: 'ExportTraceServiceResponse' },
)

const Status = Type.Object(
  { message: Type.String({ example: 'resourceSpans: must be an array' }) },
  { title: 'OtlpStatus', description: 'google.rpc.Status.' },
)

/** OTLP/HTTP in JSON. The same paths take protobuf, which OpenAPI cannot describe. */
export const exportTraces = {
  tags: ['Ingest'],
  security: [{ ingestKey: [] }],
  operationId: 'exportTraces',
  summary: 'Take the spans of voice sessions',
  description: `OTLP/HTTP: the exporters of OpenTelemetry send here what LiveKit Agents and Pipecat trace. Each \
session becomes one call, whatever the order of its spans; spans of anything else are accepted and dropped. Send \
\`application/json\` or \`application/x-protobuf\`, also with \`Content-Encoding: gzip\`; answers and errors are in the \
same type. What may be sent again is answered 429 or 503.`,
  requestBody: {
    required: true,
    content: { 'application/json': { schema: asOpenApi(ExportTraceServiceRequest) } },
  },
  responses: protocolAnswers(
    { 200: jsonAnswer('The spans are committed, but for those that it names.', ExportTraceServiceResponse) },
    ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
    Status,
  ),
}
