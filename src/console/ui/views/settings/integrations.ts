import { frameworkLabels } from '../../../../sources/catalog.ts'

/** What an integration's lines are filled with. */
interface LineValues {
  /** The service's URL, without a slash at the end. */
  url: string
  key: string
  /** The project's id. */
  project: string
}

/** Lines to copy. */
export interface Lines {
  label: string
  hint?: string
  code: string
}

/** A program that needs a key and no source. */
export interface Integration {
  /** In the address of its page; of those that send calls, the `source` of their calls as well. */
  name: string
  /** The `source` of its calls, if it is another. */
  source?: string
  label: string
  description: string
  /** What is easier with a source, for some of its users. */
  bySource?: string
  /** The access of its key: `ingest` sends calls in, `search` asks for knowledge. */
  access: 'ingest' | 'search'
  /** Where the guide describes it. */
  guide: string
  /** The same lines as the guide's. */
  linesOf: (values: LineValues) => Lines[]
}

const environment = ({ url, key }: LineValues): Lines => ({
  label: 'Environment variables',
  hint: "Set them for the agent's process.",
  code: `export OTEL_EXPORTER_OTLP_ENDPOINT=${url}/ingest/otlp
export OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20${key}`,
})

/** The lines of a shell that send a body as an agent would. */
const request = ({ url, key }: LineValues, path: string, body: string): string =>
  `curl ${url}${path} -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\
  -d '${body}'`

export const integrations: readonly Integration[] = [
  {
    name: 'livekit',
    label: frameworkLabels.livekit,
    description: 'Its sessions arrive as calls through OpenTelemetry.',
    bySource: 'Agents in Python need only one variable instead, which also brings their recordings:',
    access: 'ingest',
    guide: 'opentelemetry#setup',
    linesOf: (values) => [
      environment(values),
      {
        label: 'Python',
        hint: 'Add these lines to the agent, with the last one above its entrypoint. All packages come with livekit-agents.',
        code: `import asyncio
from livekit.agents import JobContext, telemetry
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
telemetry.set_tracer_provider(provider)

async def flush(ctx: JobContext) -> None:
    await asyncio.to_thread(provider.force_flush)  # it may wait for seconds

@server.rtc_session(on_session_end=flush)`,
      },
      {
        label: 'Node',
        hint: 'Add these lines to the agent’s entrypoint.',
        // Not one template: the test that finds modules with state would take its lines for this module's own.
        code: [
          "import { telemetry } from '@livekit/agents'",
          "import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'",
          "import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'",
          '',
          'const fanout = new telemetry.FanoutSpanProcessor()',
          'const exporter = new OTLPTraceExporter()',
          'const provider = new NodeTracerProvider({ spanProcessors: [fanout, new BatchSpanProcessor(exporter)] })',
          'provider.register()',
          'telemetry.setTracerProvider(provider, {',
          "  metadata: { 'callbook.call.id': ctx.job.id },",
          '  registerSpanProcessor: (processor) => fanout.add(processor),',
          '})',
          'ctx.addShutdownCallback(() => provider.forceFlush())',
        ].join('\n'),
      },
    ],
  },
  {
    name: 'pipecat',
    label: frameworkLabels.pipecat,
    description: 'Its conversations arrive as calls through OpenTelemetry.',
    access: 'ingest',
    guide: 'opentelemetry#setup',
    linesOf: (values) => [
      environment(values),
      {
        label: 'Packages',
        code: 'pip install "pipecat-ai[tracing]" opentelemetry-exporter-otlp-proto-http',
      },
      {
        label: 'Python',
        hint: 'Add these lines to the bot.',
        code: `import os
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.utils.tracing.setup import setup_tracing

os.environ["OTEL_RESOURCE_ATTRIBUTES"] = "callbook.caller_number=%2B15550100001,callbook.direction=inbound"
setup_tracing(service_name="front-desk", exporter=OTLPSpanExporter())
worker = PipelineWorker(
    pipeline,
    params=PipelineParams(enable_metrics=True),
    enable_tracing=True,
    conversation_id=call_id,
)`,
      },
    ],
  },
  {
    name: 'code',
    // No source is named.
    source: 'none',
    label: 'Your own code',
    description:
      'One request writes a call. The guide shows how to send it turn by turn, with tools and latencies.',
    access: 'ingest',
    guide: 'own-code#in-one-request',
    linesOf: ({ url, key }) => [
      {
        label: 'TypeScript',
        code: `await fetch('${url}/ingest/calls/call-1', {
  method: 'PUT',
  headers: { Authorization: 'Bearer ${key}', 'Content-Type': 'application/json' },
  body: JSON.stringify({
    status: 'completed',
    callerNumber: '+15557294053',
    transcript: [{ role: 'user', content: 'Can I move my booking?' }],
  }),
})`,
      },
      {
        label: 'Python',
        code: `import json, urllib.request

body = {"status": "completed", "callerNumber": "+15557294053",
        "transcript": [{"role": "user", "content": "Can I move my booking?"}]}
headers = {"Authorization": "Bearer ${key}", "Content-Type": "application/json"}
url = "${url}/ingest/calls/call-1"
urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers, method="PUT"))`,
      },
    ],
  },
  {
    name: 'mcp',
    label: 'MCP',
    description: 'Agents that speak the Model Context Protocol get a tool that searches the knowledge.',
    access: 'search',
    guide: 'agents#mcp',
    linesOf: (values) => [
      { label: 'Address', code: `${values.url}/mcp` },
      {
        label: 'Configuration',
        hint: 'Most MCP clients accept this format.',
        code: `{
  "mcpServers": {
    "callbook": {
      "type": "http",
      "url": "${values.url}/mcp",
      "headers": { "Authorization": "Bearer ${values.key}" }
    }
  }
}`,
      },
      {
        label: 'Test',
        code: request(
          values,
          '/mcp',
          '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_knowledge","arguments":{"query":"Do you refund orders?"}}}',
        ),
      },
    ],
  },
  {
    name: 'vapi',
    label: 'Vapi',
    description: 'Its assistants use the knowledge through a custom knowledge base or a function tool.',
    access: 'search',
    guide: 'agents#vapi',
    linesOf: (values) => [
      {
        label: 'Knowledge base',
        hint: 'Create it, then PATCH the assistant with its complete model object, including the knowledgeBaseId from the answer.',
        code: `curl https://api.vapi.ai/knowledge-base -H "Authorization: Bearer $VAPI_KEY" -H 'Content-Type: application/json' \\
  -d '{"provider":"custom-knowledge-base","server":{"url":"${values.url}/integrations/vapi/knowledge","secret":"${values.key}"}}'`,
      },
      {
        label: 'Function tool',
        hint: 'Or give a tool this server URL, and the key as a Bearer Token credential. Its parameter is query.',
        code: `${values.url}/integrations/vapi/tool`,
      },
      {
        label: 'Test',
        hint: 'Sends the same request as the tool.',
        code: request(
          values,
          '/integrations/vapi/tool',
          '{"message":{"toolCallList":[{"id":"abc123","name":"search_knowledge","parameters":{"query":"refunds"}}]}}',
        ),
      },
    ],
  },
  {
    name: 'dify',
    label: 'Dify',
    description: 'Its apps use the knowledge through an External Knowledge API.',
    access: 'search',
    guide: 'agents#dify',
    linesOf: (values) => [
      { label: 'API endpoint', code: `${values.url}/integrations/dify` },
      { label: 'API key', code: values.key },
      { label: 'External Knowledge ID', hint: 'Or the ID of a single item.', code: values.project },
      {
        label: 'Test',
        hint: 'Run a retrieval test in Dify as well. Dify accepts any endpoint that answers.',
        code: request(
          values,
          '/integrations/dify/retrieval',
          `{"knowledge_id":"${values.project}","query":"refunds","retrieval_setting":{"top_k":3,"score_threshold":0.1}}`,
        ),
      },
    ],
  },
  {
    name: 'tools',
    label: 'Retell, ElevenLabs and others',
    description: 'Any platform whose tools send JSON and a header of your choice can search the knowledge.',
    access: 'search',
    guide: 'sources#knowledge-during-a-call',
    linesOf: (values) => [
      {
        label: 'Address',
        hint: 'Give the agent a tool that sends its one parameter, query, here by POST.',
        code: `${values.url}/integrations/tool`,
      },
      { label: 'Header', code: `Authorization: Bearer ${values.key}` },
      { label: 'Test', code: request(values, '/integrations/tool', '{"query":"Can I return my order?"}') },
    ],
  },
]
