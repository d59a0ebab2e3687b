import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import packageJson from '../package.json' with { type: 'json' }
import { compileIpRules } from './auth/ip-rules.ts'
import { ingestRoutes } from './calls/ingest-routes.ts'
import { callRoutes } from './calls/routes.ts'
import { consoleApi } from './console/api-routes.ts'
import { readAssets } from './console/assets.ts'
import { pagesRoutes } from './console/pages-routes.ts'
import { erasureRoutes } from './erasure/routes.ts'
import { guideRoutes } from './guide/routes.ts'
import { Admission } from './http/admission.ts'
import { authenticate } from './http/authenticate.ts'
import { createClientAddress, type PeerAddress } from './http/client-address.ts'
import { consoleAccess, strangersBodyBytesMax } from './http/console-access.ts'
import { consoleGuard, consoleJudge } from './http/console-guard.ts'
import { docsRoutes, docsScriptPath } from './http/docs-routes.ts'
import { FactsByRequest } from './http/facts.ts'
import { freshness } from './http/freshness.ts'
import { jsonBody } from './http/json-body.ts'
import { openApi } from './http/openapi.ts'
import { Outbox } from './http/outbox.ts'
import { problems } from './http/problems.ts'
import { RateLimiter } from './http/rate-limit.ts'
import { requestLog } from './http/request-log.ts'
import { RouteTable } from './http/route-table.ts'
import { serviceRoutes } from './http/service-routes.ts'
import { difyProtocol, difyRoutes } from './knowledge/protocols/dify-routes.ts'
import { mcpRoutes } from './knowledge/protocols/mcp-routes.ts'
import { vapiProtocol, vapiRoutes, vapiSecuritySchemes } from './knowledge/protocols/vapi-routes.ts'
import { knowledgeRoutes } from './knowledge/routes.ts'
import { tooManySearches } from './knowledge/search/search.ts'
import { tooManyTexts } from './knowledge/text-threads.ts'
import type { RequestRecord } from './observability/log.ts'
import type { Services } from './services/services.ts'

/** Where scripts/build-console.ts puts the console's page. */
const consoleFolder = fileURLToPath(new URL('../dist/console', import.meta.url))

/** The whole HTTP surface, in the order in which a request meets it. */
export function createServer(
  services: Services,
  peerAddress: PeerAddress,
  recordRequest: (record: RequestRecord) => void = (record) => services.log.info(record, 'request'),
) {
  const { config, log, metrics } = services
  const facts = new FactsByRequest()
  const admission = new Admission(config.bodyBytesMax, [
    {
      method: 'POST',
      path: '/v1/knowledge/search',
      isFull: () => services.search.isFull,
      refusal: tooManySearches(),
    },
    ...['/v1/knowledge', '/v1/knowledge/preview'].map((path) => ({
      method: 'POST',
      path,
      isFull: (bodyBytes: number) => services.textThreads.isFull && services.textThreads.isLong(bodyBytes),
      refusal: tooManyTexts(),
    })),
  ])
  const bodyLimits = { bytesMax: config.bodyBytesMax, admission }
  const protocols = [vapiProtocol, difyProtocol]
  let table: RouteTable | undefined
  const routes = () => {
    table ??= new RouteTable(app.routes)
    return table
  }
  const record = (request: RequestRecord) => {
    metrics.observeRequest(request)
    recordRequest(request)
  }
  const trustedProxies = config.trustedProxies.length > 0 ? compileIpRules(config.trustedProxies) : null
  const peerOf = (request: Request) => peerAddress(facts.of(request).received)
  const clientAddress = createClientAddress(peerOf, trustedProxies)
  const judge = consoleJudge({
    signedIn: (cookies) => services.console.sessions.signedIn(cookies),
    membership: (personId, project) => services.console.members.membership(personId, project),
    consoleOwner: () => services.console.people.consoleOwner(),
    facts,
  })
  const bodyBytesMaxOf = (request: Request) =>
    consoleAccess(request.method, facts.of(request).path)?.for === 'everyone'
      ? Math.min(strangersBodyBytesMax, config.bodyBytesMax)
      : config.bodyBytesMax
  const outbox = new Outbox()
  const onUnexpected = (error: unknown, requestId: string) => log.error({ error, requestId }, 'internal')

  // Elysia takes a host name of fewer than four characters, such as `api`, for a part of the path by default.
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .wrap(
      requestLog({
        admission,
        facts,
        routes,
        record,
        isSecure: config.publicUrl?.startsWith('https:') ?? false,
        now: () => performance.now(),
      }),
    )
    .use(problems({ facts, routes, protocols, onUnexpected }))
    .use(freshness({ facts, staleBecause: services.staleBecause }))
    .use(
      authenticate({
        admission,
        keys: services.keys,
        facts,
        protocols,
        clientAddress,
        rateLimiter:
          config.rateLimitPerMinute > 0
            ? new RateLimiter({ perMinute: config.rateLimitPerMinute, now: Date.now })
            : null,
      }),
    )
    .use(
      consoleGuard({
        admission,
        judge,
        facts,
        clientAddress,
        publicUrl: config.publicUrl,
      }),
    )
    // Before jsonBody, which it does without: a bad body has an answer of JSON-RPC's own.
    .use(
      mcpRoutes({
        knowledge: services.knowledge,
        search: services.search,
        version: packageJson.version,
        publicUrl: config.publicUrl,
        bodyLimits,
        facts,
        onUnexpected,
      }),
    )
    .use(
      jsonBody({
        admission,
        bytesMaxOf: bodyBytesMaxOf,
        deletesWithBody: ['/console/api/projects/:project'],
        judge,
      }),
    )
    .use(
      openApi({
        version: packageJson.version,
        scriptPath: docsScriptPath,
        securitySchemes: vapiSecuritySchemes,
      }),
    )
    .use(docsRoutes(facts))
    .use(guideRoutes())
    .use(
      serviceRoutes({
        notReadyBecause: services.notReadyBecause,
        replication: services.database.replication,
        metricsText: () => metrics.text(),
        metricsToken: config.metricsToken,
        isPublished: config.publicUrl !== null || trustedProxies !== null,
        peerAddress: peerOf,
      }),
    )
    .use(callRoutes(services.calls, outbox))
    .use(knowledgeRoutes({ ...services, outbox }))
    .use(erasureRoutes(services.erasureReceipts))
    .use(
      vapiRoutes({
        search: services.search,
        onFailure: (error, request) =>
          log.error({ error, requestId: facts.of(request).requestId }, 'A search for Vapi failed'),
      }),
    )
    .use(
      difyRoutes({
        search: services.search,
        knowledge: services.knowledge,
        project: (projectId) => services.projects.get(projectId),
      }),
    )
    // Of their own: whoever does not read keeps nobody from writing.
    .use(ingestRoutes(services.ingest, new Outbox()))
    .use(consoleApi({ ...services, outbox, publicUrl: config.publicUrl }))
    .use(pagesRoutes(readAssets(consoleFolder)))
  return app
}
