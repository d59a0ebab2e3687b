import { Type } from '@sinclair/typebox'
import { asOpenApi, jsonAnswer, protocolAnswers } from '../../http/openapi.ts'

const ExportTraceServiceRequest = Type.Object(
  {
    resourceSpans: Type.Optional(
      Type.Array(Type.Unsafe<object>({ $ref: '#/components/schemas/JsonObject' }), { nullable: true }),
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
        { title: 'ExportTracePartialSuccess', description: 'Spans that can never be accepted.' },
      ),
    ),
  },
  { title: 'ExportTraceServiceResponse' },
)

const Status = Type.Object(
  { message: Type.String({ example: 'resourceSpans: must be an array' }) },
  { title: 'OtlpStatus', description: 'google.rpc.Status.' },
)

/** OTLP/HTTP in JSON. The path also takes protobuf, which OpenAPI cannot describe. */
export const exportTraces = {
  tags: ['Ingest'],
  security: [{ ingestKey: [] }],
  operationId: 'exportTraces',
  summary: 'Receive the spans of voice sessions',
  description: `OTLP/HTTP: OpenTelemetry exporters send the traces of LiveKit Agents and Pipecat here. Each session becomes one \
call, whatever the order of its spans. Other spans are accepted and dropped. Send \`application/json\` or \
\`application/x-protobuf\`, optionally with \`Content-Encoding: gzip\`. Answers and errors have the same type. \
429 and 503 mean that the request can be sent again.`,
  requestBody: {
    required: true,
    content: { 'application/json': { schema: asOpenApi(ExportTraceServiceRequest) } },
  },
  responses: protocolAnswers(
    {
      200: jsonAnswer(
        'The spans are committed, except those that the answer names.',
        ExportTraceServiceResponse,
      ),
    },
    ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
    Status,
  ),
}
