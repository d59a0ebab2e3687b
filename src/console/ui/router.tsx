import type { QueryClient } from '@tanstack/react-query'
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { PagePath } from '../page-paths.ts'
import { api, unwrap } from './api.ts'
import { ownPath } from './own-path.ts'
import { parseSearch, stringifySearch } from './search-params.ts'
import { lastProject, sessionQuery } from './session.ts'
import { NotFound, NothingHere, PageProblem } from './shell/page-problem.tsx'
import { alertSearch } from './views/alerts/alert-search.ts'
import { analysisSearch } from './views/analysis/analysis-search.ts'
import { callsQuery, requestCall } from './views/calls/call-queries.ts'
import { readFilters, readOpenTab } from './views/calls/chosen-filters.ts'
import { chartSearch } from './views/charts/chart-search.ts'
import { compareSearch } from './views/compare/compare-search.ts'
import { dropDrafts } from './views/knowledge/drafts.ts'
import { itemSearch, knowledgeSearch, newItemSearch } from './views/knowledge/item-search.ts'
import { overviewSearch } from './views/overview/overview-search.ts'
import { playgroundSearch } from './views/playground/playground-search.ts'
import { questionsSearch } from './views/questions/questions-search.ts'
import { auditSearch } from './views/settings/audit-search.ts'

/** Loads a page's code when it is first shown, or when a link to it is hovered. */
function view<Views extends Record<string, unknown>, Name extends keyof Views & string>(
  load: () => Promise<Views>,
  name: Name,
) {
  const loadOrSay = async () => {
    try {
      return await load()
    } catch (error) {
      // The router reloads the page if a file is missing, as after an update. Without the service, that shows nothing.
      await unwrap(api.session.get())
      throw error
    }
  }
  return lazyRouteComponent(loadOrSay, name)
}

type Search = Record<string, unknown>

/** A row of the table: a page that only shows something. @param read the parameters in its address */
function page<
  Parent extends AnyRoute,
  const Path extends string,
  Views extends Record<string, unknown>,
  Read extends ((search: Search) => object) | undefined = undefined,
>(parent: Parent, path: Path, load: () => Promise<Views>, name: keyof Views & string, read?: Read) {
  return createRoute({
    getParentRoute: () => parent,
    path,
    component: view(load, name),
    validateSearch: read as Read,
  })
}

/** `create` opens the dialog of a new one, for links to it. */
function creates<What extends string>(what: What) {
  return ({ create }: Search): { create?: What } => (create === what ? { create: what } : {})
}

/** `show` lists the failed attempts alone, `message` opens one. */
function webhookSearch({ show, message }: Search): { show?: 'failed'; message?: string } {
  return {
    ...(show === 'failed' ? { show } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  }
}

function alertsSearch({ tab }: Search): { tab?: 'fired' } {
  return tab === 'fired' ? { tab } : {}
}

/** Where a person goes on after they have entered. */
function readFrom(search: Search): { from?: string } {
  const from = ownPath(search.from)
  return from ? { from } : {}
}

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Outlet })

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async ({ context: { queryClient } }) => {
    const { person, projects, isSetUp, mustSetUpTwoFactor } = await queryClient.ensureQueryData(sessionQuery)
    if (!isSetUp) throw redirect({ to: '/setup', replace: true })
    if (!person) throw redirect({ to: '/sign-in', replace: true })
    if (mustSetUpTwoFactor) throw redirect({ to: '/second-factor', replace: true })
    const last = lastProject.read()
    const project =
      projects.find(({ id }) => id === last) ?? projects.find(({ calls }) => calls > 0) ?? projects[0]
    if (project)
      throw redirect({ to: '/p/$project/overview', params: { project: project.id }, replace: true })
  },
  component: view(() => import('./views/entry/first-project-view.tsx'), 'FirstProjectView'),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: readFrom,
  beforeLoad: async ({ context: { queryClient } }) => {
    const { person, isSetUp } = await queryClient.ensureQueryData(sessionQuery)
    if (person || !isSetUp) throw redirect({ to: '/', replace: true })
  },
  component: view(() => import('./views/entry/sign-in-view.tsx'), 'SignInView'),
})

const secondFactor = createRoute({
  getParentRoute: () => root,
  path: '/second-factor',
  validateSearch: readFrom,
  beforeLoad: async ({ context: { queryClient } }) => {
    const { mustSetUpTwoFactor } = await queryClient.ensureQueryData(sessionQuery)
    if (!mustSetUpTwoFactor) throw redirect({ to: '/', replace: true })
  },
  component: view(() => import('./views/settings/second-factor-view.tsx'), 'SecondFactorView'),
})

const project = createRoute({
  getParentRoute: () => root,
  path: '/p/$project',
  beforeLoad: async ({ context: { queryClient }, location, params }) => {
    const { person, projects, mustSetUpTwoFactor } = await queryClient.ensureQueryData(sessionQuery)
    const from = ownPath(location.href)
    const search = from ? { from } : {}
    if (!person) throw redirect({ to: '/sign-in', search, replace: true })
    if (mustSetUpTwoFactor) throw redirect({ to: '/second-factor', search, replace: true })
    // Another person may have used this browser before.
    dropDrafts({ except: person.id })
    if (projects.some(({ id }) => id === params.project)) lastProject.keep(params.project)
  },
  component: view(() => import('./shell/shell.tsx'), 'Shell'),
  notFoundComponent: NothingHere,
})

const projectStart = createRoute({
  getParentRoute: () => project,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/p/$project/overview', params, replace: true })
  },
})

const drawnOnceWithinMs = 100

/** Waits a moment for a page's first requests: rendering once with the answers is faster than rendering twice. */
function waitBriefly(...requests: Promise<unknown>[]): Promise<unknown> {
  return Promise.race([
    Promise.all(requests),
    new Promise((resolve) => setTimeout(resolve, drawnOnceWithinMs)),
  ])
}

/** Requests the first page of a list. One of a relative date waits for the project's time zone, so the view does. */
async function requestCalls(
  queryClient: QueryClient,
  projectId: string,
  search: Search,
  meta = {},
): Promise<void> {
  const filters = readFilters(search)
  if (filters.date === undefined && filters.status !== 'live' && filters.status !== 'silent')
    await queryClient.prefetchInfiniteQuery({ ...callsQuery(projectId, filters), meta })
}

/** The call's route is inside the list's, since the list stays while a call is open beside it. */
const calls = createRoute({
  getParentRoute: () => project,
  path: '/calls',
  validateSearch: readFilters,
  // Requests the first page while the view's code is still loading.
  loader: ({ context: { queryClient }, params, location }) =>
    waitBriefly(requestCalls(queryClient, params.project, location.search)),
  component: view(() => import('./views/calls/calls-view.tsx'), 'CallsView'),
})

const call = createRoute({
  getParentRoute: () => calls,
  path: '/$call',
  validateSearch: readOpenTab,
  // As above. Hovering a link loads only the code, because requesting a call is audited as opening it.
  loader: async ({ context: { queryClient }, params, cause, preload }) => {
    if (preload) return
    const parts = waitBriefly(...requestCall(queryClient, params.project, params.call))
    // Moving from call to call does not wait.
    if (cause === 'enter') await parts
  },
  preloadStaleTime: 0,
  component: view(() => import('./views/calls/call-view.tsx'), 'CallView'),
})

/** The modules of the pages in the table. */
const load = {
  provider: () => import('./views/entry/provider-view.tsx'),
  links: () => import('./views/entry/link-views.tsx'),
  overview: () => import('./views/overview/overview-view.tsx'),
  chart: () => import('./views/charts/chart-view.tsx'),
  cases: () => import('./views/cases/cases-view.tsx'),
  compare: () => import('./views/compare/compare-view.tsx'),
  caller: () => import('./views/callers/caller-view.tsx'),
  knowledge: () => import('./views/knowledge/knowledge-view.tsx'),
  item: () => import('./views/knowledge/item-view.tsx'),
  newItem: () => import('./views/knowledge/item-form.tsx'),
  questions: () => import('./views/questions/questions-view.tsx'),
  playground: () => import('./views/playground/playground-view.tsx'),
  settings: () => import('./views/settings/settings-view.tsx'),
  keys: () => import('./views/settings/keys-view.tsx'),
  integrations: () => import('./views/settings/integrations-view.tsx'),
  source: () => import('./views/settings/source-view.tsx'),
  webhooks: () => import('./views/settings/webhooks-view.tsx'),
  webhook: () => import('./views/settings/webhook-view.tsx'),
  alerts: () => import('./views/alerts/alerts-view.tsx'),
  alert: () => import('./views/alerts/alert-view.tsx'),
  analysis: () => import('./views/analysis/analysis-view.tsx'),
  people: () => import('./views/settings/people-view.tsx'),
  privacy: () => import('./views/settings/privacy-view.tsx'),
  receipts: () => import('./views/settings/receipts-view.tsx'),
  audit: () => import('./views/settings/audit-view.tsx'),
  general: () => import('./views/settings/general-view.tsx'),
  account: () => import('./views/settings/account-view.tsx'),
  service: () => import('./views/settings/service-view.tsx'),
}

const settings = page(project, '/settings', load.settings, 'SettingsView')

const settingsStart = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: async ({ context: { queryClient }, params }) => {
    const { projects } = await queryClient.ensureQueryData(sessionQuery)
    const isOwner = projects.some(({ id, role }) => id === params.project && role === 'owner')
    const to = isOwner ? '/p/$project/settings/keys' : '/p/$project/settings/general'
    throw redirect({ to, params, replace: true })
  },
})

const routeTree = root.addChildren([
  start,
  signIn,
  // The link to sign in at the provider, and where the provider sends the browser back to.
  page(root, '/sign-in/oidc', load.provider, 'ProviderView'),
  page(root, '/setup', load.links, 'SetupView'),
  page(root, '/join', load.links, 'JoinView'),
  page(root, '/reset', load.links, 'ResetView'),
  secondFactor,
  project.addChildren([
    projectStart,
    page(project, '/overview', load.overview, 'OverviewView', overviewSearch),
    // Below the overview, whose entry in the navigation is its own.
    page(project, '/overview/chart', load.chart, 'ChartView', chartSearch),
    page(project, '/overview/compare', load.compare, 'CompareView', compareSearch),
    calls.addChildren([call]),
    // A person, named by an address that does not show their number.
    page(project, '/callers/$caller', load.caller, 'CallerView'),
    page(project, '/tests', load.cases, 'CasesView'),
    page(project, '/knowledge', load.knowledge, 'KnowledgeView', knowledgeSearch),
    page(project, '/knowledge/$item', load.item, 'ItemView', itemSearch),
    // These are not under /knowledge, where an item may have any name.
    page(project, '/new-item', load.newItem, 'NewItemView', newItemSearch),
    page(project, '/questions', load.questions, 'QuestionsView', questionsSearch),
    page(project, '/playground', load.playground, 'PlaygroundView', playgroundSearch),
    settings.addChildren([
      settingsStart,
      page(settings, '/keys', load.keys, 'KeysView', creates('key')),
      page(settings, '/keys/$key', load.keys, 'KeyView'),
      page(settings, '/integrations', load.integrations, 'IntegrationsView', creates('source')),
      page(settings, '/integrations/$integration', load.integrations, 'IntegrationView'),
      page(settings, '/integrations/sources/$source', load.source, 'SourceView'),
      page(settings, '/webhooks', load.webhooks, 'WebhooksView', creates('webhook')),
      page(settings, '/webhooks/$webhook', load.webhook, 'WebhookView', webhookSearch),
      page(settings, '/alerts', load.alerts, 'AlertsView', alertsSearch),
      page(settings, '/alerts/new', load.alert, 'NewAlertView', alertSearch),
      page(settings, '/alerts/$alert', load.alert, 'AlertView'),
      page(settings, '/analysis', load.analysis, 'AnalysisView', analysisSearch),
      page(settings, '/people', load.people, 'PeopleView'),
      page(settings, '/privacy', load.privacy, 'PrivacyView'),
      page(settings, '/privacy/receipts', load.receipts, 'ReceiptsView'),
      page(settings, '/privacy/receipts/$receipt', load.receipts, 'ReceiptView'),
      page(settings, '/audit', load.audit, 'AuditView', auditSearch),
      page(settings, '/general', load.general, 'GeneralView'),
      page(settings, '/account', load.account, 'AccountView'),
      page(settings, '/service', load.service, 'ServiceView'),
    ]),
  ]),
])

/** Every page, by path. */
export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/console',
    context: { queryClient },
    parseSearch,
    stringifySearch,
    scrollRestoration: true,
    // Scrolling lists start at the top and are restored as pages are.
    scrollToTopSelectors: ['#calls-list'],
    defaultPreload: 'intent',
    defaultErrorComponent: PageProblem,
    defaultNotFoundComponent: NotFound,
  })
}

type ConsoleRouter = ReturnType<typeof createConsoleRouter>
type OwnPath = Exclude<keyof ConsoleRouter['routesByPath'], `/p/${string}/`>
/** A page that the server does not know, or knows in vain, is a type error. */
true satisfies [OwnPath, PagePath] extends [PagePath, OwnPath] ? true : never

/** Requests everything that the page at the address needs, at once, before anything is rendered. */
export function preloadPage(router: ConsoleRouter): void {
  const { queryClient } = router.options.context
  void queryClient.prefetchQuery(sessionQuery)
  const { pathname, search } = router.latestLocation
  const [matchedRoutes, params] = router.getMatchedRoutes(pathname)
  if (matchedRoutes.some(({ id }) => id === calls.id)) {
    void requestCalls(queryClient, params.project ?? '', search, { isEarly: true })
  }
  for (const { options } of matchedRoutes) {
    const { component } = options
    if (component && 'preload' in component) void component.preload?.()
  }
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ConsoleRouter
  }
}
