import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import { compileIpRules } from './access/keys/ip-rules.ts'
import { ownKeyRoutes } from './access/keys/routes.ts'
import { difyProtocol, difyRoutes } from './agents/dify-routes.ts'
import { knowledgeTools } from './agents/mcp-tools.ts'
import { toolProtocol, toolRoutes } from './agents/tool-routes.ts'
import { vapiProtocol, vapiRoutes, vapiSecuritySchemes } from './agents/vapi-routes.ts'
import { alertRoutes } from './alerts/routes.ts'
import { AlertMessage } from './alerts/schemas.ts'
import { analysisRoutes } from './analysis/routes.ts'
import { compareTool } from './calls/figures/comparing/mcp-tool.ts'
import { figureTool } from './calls/figures/mcp-tool.ts'
import { figureRoutes } from './calls/figures/routes.ts'
import { callTools } from './calls/mcp-tools.ts'
import {
  CallAnswers,
  callRoutes,
  consoleExportRoutes,
  ingestLinesRoutes,
  ingestRoutes,
} from './calls/routes.ts'
import { Call } from './calls/schemas.ts'
import { caseRoutes, consoleCaseRoutes } from './cases/routes.ts'
import { changeRoutes, consoleChangeRoutes } from './changes/routes.ts'
import { consoleApi } from './console/api-routes.ts'
import { pagesRoutes } from './console/pages-routes.ts'
import { guideRoutes } from './guide/routes.ts'
import { Admission, type WorkLimit } from './http/admission.ts'
import { authenticate, keyAuthentication, rateLimit } from './http/authenticate.ts'
import { personAuthentication } from './http/authenticate-person.ts'
import { clientAddress, type PeerAddress } from './http/client-address.ts'
import { directRead } from './http/direct-read.ts'
import { docsHeaders, docsRoutes, docsScriptPath } from './http/docs-routes.ts'
import type { Http } from './http/http.ts'
import { ignoredNames, type Route } from './http/ignored-names.ts'
import { jsonBody } from './http/json-body.ts'
import { openApi } from './http/openapi.ts'
import { errorAnswers, problems } from './http/problems.ts'
import { RateLimiter } from './http/rate-limit.ts'
import { RequestContexts } from './http/request-context.ts'
import { requestLog } from './http/request-log.ts'
import { ResponseBuffers } from './http/response-buffers.ts'
import { RouteTable } from './http/route-table.ts'
import { serviceRoutes } from './http/service-routes.ts'
import { bodyLimit, surfaces } from './http/surface.ts'
import { tooManyTexts } from './knowledge/chunking/text-threads.ts'
import { tooManyFiles } from './knowledge/files/file-reader.ts'
import { gapTools } from './knowledge/questions/mcp-tools.ts'
import { questionRoutes } from './knowledge/questions/routes.ts'
import { knowledgeRoutes } from './knowledge/routes.ts'
import { Item } from './knowledge/schemas.ts'
import { tooManySearches } from './knowledge/search/search.ts'
import { mcpRoutes } from './mcp/mcp-routes.ts'
import { type RequestRecord, requestLines } from './observability/log.ts'
import { erasureRoutes } from './privacy/routes.ts'
import { consoleRecordingRoutes, recordingRoutes, recordingUploadRoutes } from './recordings/routes.ts'
import type { Services } from './services/services.ts'
import { manageSourceRoutes } from './sources/manage-routes.ts'
import { livekitProtocol, livekitRoutes } from './sources/otel/livekit-routes.ts'
import { otlpProtocol, otlpRoutes } from './sources/otel/otlp-routes.ts'
import { sourceRoutes } from './sources/routes.ts'
import { version } from './version.ts'
import { describeWebhooks } from './webhooks/docs.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/** Where scripts/build-console.ts puts the console's page. */
const consoleFolder = fileURLToPath(new URL('../dist/console', import.meta.url))

/** The whole HTTP surface, in the order in which requests pass it. */
export function createServer(
  services: Services,
  peerAddress: PeerAddress,
  recordRequest: (record: RequestRecord) => void = requestLines(services.log),
  keepOpen: (request: Request) => void = () => undefined,
) {
  const { config, log, metrics, database } = services
  const { publicUrl } = config
  const authentication = createAuthentication(services, peerAddress)
  const { contexts, authenticatePerson, authenticateKey, peerOf } = authentication
  const buffers = new ResponseBuffers()
  const callAnswers = new CallAnswers(services.calls, services.changeTags, buffers)
  const logFailure = (message: string) => (error: unknown, request: Request) =>
    log.error({ error, requestId: contexts.of(request).requestId }, message)
  const routes: () => RouteTable = once((): RouteTable => new RouteTable(app.routes))
  const record = (request: RequestRecord) => {
    metrics.observeRequest(request)
    recordRequest(request)
  }
  const onUnexpected = (error: unknown, requestId: string) => log.error({ error, requestId }, 'internal')
  const answerError = errorAnswers({ contexts, routes, answerTo: database.answerTo, onUnexpected })
  const http: Http = {
    ...authentication,
    buffers,
    publicUrl,
    onUnexpected,
    onFailure: logFailure('internal'),
    keepOpen: (request: Request) => {
      const context = contexts.of(request)
      context.isWaiting = true
      keepOpen(context.received)
    },
  }
  const { openSessions } = services.console

  // By default, Elysia reads a host name of fewer than four characters, such as `api`, as part of the path.
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .wrap(
      requestLog({
        ...authentication,
        routes,
        record,
        slowMs: config.slowRequestMs,
        now: () => performance.now(),
        begin: () => metrics.probeLag(),
        answerDirectly: directRead({
          prefix: '/v1/calls/',
          authenticateKey,
          answerError,
          answer: (request, projectId, id) => callAnswers.call(request, projectId, id),
        }),
        isSecure: publicUrl?.startsWith('https:') ?? false,
      }),
    )
    .use(problems(answerError))
    .use(authenticate({ ...services, ...authentication, publicUrl }))
    // Before jsonBody, because JSON-RPC answers a bad body in its own way, and lines are not read at once.
    .use(
      mcpRoutes(http, [
        ...knowledgeTools(services.knowledge, services.recordedSearch),
        ...callTools(services.calls),
        figureTool(services.figures),
        compareTool(services.comparing),
        ...gapTools(services.questionGroups),
      ]),
    )
    .use(ingestLinesRoutes(http, services.requestIngest))
    .use(recordingUploadRoutes(http, services.recordings))
    .use(otlpRoutes(http, services.callSessions))
    .use(sourceRoutes(http, services))
    .use(livekitRoutes(http, services))
    .use(
      jsonBody({
        ...authentication,
        authenticate: authenticatePerson,
        deletesWithBody: [
          '/console/api/projects/:project',
          '/console/api/projects/:project/calls',
          '/console/api/projects/:project/call-sets',
          '/console/api/projects/:project/knowledge',
        ],
        uploads: ['/v1/knowledge/files', '/console/api/projects/:project/knowledge/read'],
      }),
    )
    .use(ignoredNames({ contexts, routes: (): readonly Route[] => app.routes }))
    .use(
      openApi({
        version,
        scriptPath: docsScriptPath,
        securitySchemes: vapiSecuritySchemes,
        webhooks: describeWebhooks({ Call, Item, AlertMessage }),
        bodyLimit: contexts.bodyLimit,
        routes: (): readonly object[] => app.routes,
      }),
    )
    .use(docsRoutes())
    .use(guideRoutes())
    .use(
      serviceRoutes({
        notReadyBecause: services.notReadyBecause,
        problem: services.problem,
        replication: database.replication,
        metricsText: () => metrics.text(),
        metricsToken: config.metricsToken,
        isPublished: publicUrl !== null || config.trustedProxies.length > 0,
        peerAddress: peerOf,
      }),
    )
    .use(callRoutes(http, { ...services, callAnswers }))
    .use(figureRoutes(services))
    .use(recordingRoutes(http, services))
    .use(knowledgeRoutes(http, services))
    .use(questionRoutes(services))
    .use(analysisRoutes(services))
    .use(caseRoutes(http, services))
    .use(alertRoutes(services.alerts))
    .use(manageSourceRoutes(http, services))
    .use(webhookRoutes(services))
    .use(erasureRoutes(services))
    .use(ownKeyRoutes(services.keys))
    .use(changeRoutes(http, services, { Call, Item }))
    .use(vapiRoutes({ search: services.recordedSearch, onFailure: logFailure('A search for Vapi failed') }))
    .use(difyRoutes({ ...services, search: services.recordedSearch }))
    .use(toolRoutes({ search: services.recordedSearch, onFailure: logFailure('A search for a tool failed') }))
    // With their own buffers, so that clients that do not read their answers keep nobody from writing.
    .use(ingestRoutes(services.requestIngest, new ResponseBuffers(' Nothing was written.')))
    .use(consoleChangeRoutes(http, openSessions, services))
    .use(consoleExportRoutes(http, openSessions, services))
    .use(consoleCaseRoutes(http, openSessions, services))
    .use(consoleRecordingRoutes(http, openSessions, services))
    .use(consoleApi({ ...services, buffers, publicUrl }))
    .use(pagesRoutes(consoleFolder))
  return app
}

/** Makes the value at the first call. */
function once<Value extends object>(make: () => Value): () => Value {
  let value: Value | undefined
  return () => {
    value ??= make()
    return value
  }
}

/** What checks every request. */
function createAuthentication(services: Services, peerAddress: PeerAddress) {
  const { bodyBytesMax, recordingBytesMax, trustedProxies, rateLimitPerMinute: perMinute } = services.config
  const contexts = new RequestContexts(
    surfaces({
      protocols: [vapiProtocol, difyProtocol, toolProtocol, otlpProtocol, livekitProtocol],
      docsHeaders,
    }),
    bodyLimit({ bytesMax: bodyBytesMax, recordingBytesMax }),
  )
  const peerOf = (request: Request) => peerAddress(contexts.of(request).received)
  // Rules compiled from an empty list would trust everyone.
  const proxies = trustedProxies.length > 0 ? compileIpRules(trustedProxies) : null
  const addressOf = (request: Request) => {
    const forwardedFor = request.headers.get('x-forwarded-for')
    return clientAddress({ peer: peerOf(request), forwardedFor, trustedProxies: proxies })
  }
  const admission = new Admission(contexts, bodyBytesMax, workLimits(services))
  const rateLimiter = perMinute > 0 ? new RateLimiter({ perMinute, now: Date.now }) : null
  const limitRate = rateLimit(rateLimiter, contexts)
  return {
    contexts,
    peerOf,
    clientAddress: addressOf,
    admission,
    limitRate,
    authenticateKey: keyAuthentication({ ...services, admission, limitRate, clientAddress: addressOf }),
    authenticatePerson: personAuthentication({ ...services.console, contexts }),
  }
}

/** Refuses new knowledge work while its queue is full. */
function workLimits({ search, textThreads, files }: Services): WorkLimit[] {
  const texts = {
    isFull: (bodyBytes: number) => textThreads.isFull && textThreads.isLong(bodyBytes),
    refusal: tooManyTexts(),
  }
  return [
    { path: '/v1/knowledge/search', isFull: () => search.isFull, refusal: tooManySearches() },
    { path: '/v1/knowledge', ...texts },
    { path: '/v1/knowledge/preview', ...texts },
    { path: '/v1/knowledge/files', isFull: () => files.isFull, refusal: tooManyFiles() },
  ]
}
