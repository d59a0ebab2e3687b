import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { PagePath } from '../page-paths.ts'
import { api, unwrap } from './api.ts'
import { lastProject } from './last-project.ts'
import { ownPath } from './own-path.ts'
import { parseSearch, stringifySearch } from './search-params.ts'
import { sessionQuery } from './session.ts'
import { NotFound, NothingHere } from './shell/not-found.tsx'
import { PageProblem } from './shell/page-problem.tsx'
import { alertSearch } from './views/alerts/alert-search.ts'
import { analysisSearch } from './views/analysis/analysis-search.ts'
import { callsQuery, requestCall } from './views/calls/call-queries.ts'
import { readFilters } from './views/calls/chosen-filters.ts'
import { readOpenTab } from './views/calls/open-tab.ts'
import { chartSearch } from './views/charts/chart-search.ts'
import { dropDrafts } from './views/knowledge/drafts.ts'
import { itemSearch, knowledgeSearch, newItemSearch } from './views/knowledge/item-search.ts'
import { overviewSearch } from './views/overview/overview-search.ts'
import { playgroundSearch } from './views/playground/playground-search.ts'
import { questionsSearch } from './views/questions/questions-search.ts'
import { auditSearch } from './views/settings/audit-search.ts'

/** Loads a view's code when it is first shown, or when a link to it is hovered. */
function lazyView<Views extends Record<string, unknown>, Name extends keyof Views & string>(
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

const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Outlet })

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
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
  component: lazyView(() => import('./views/entry/first-project-view.tsx'), 'FirstProjectView'),
})

/** Where a person goes on after they have entered. */
function readFrom(search: Record<string, unknown>): { from?: string } {
  const from = ownPath(search.from)
  return from ? { from } : {}
}

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: readFrom,
  beforeLoad: async ({ context: { queryClient } }) => {
    const { person, isSetUp } = await queryClient.ensureQueryData(sessionQuery)
    if (person || !isSetUp) throw redirect({ to: '/', replace: true })
  },
  component: lazyView(() => import('./views/entry/sign-in-view.tsx'), 'SignInView'),
})

/** The link to sign in at the provider, and where the provider sends the browser back to. */
const providerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/oidc',
  component: lazyView(() => import('./views/entry/provider-view.tsx'), 'ProviderView'),
})

const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  component: lazyView(() => import('./views/entry/link-views.tsx'), 'SetupView'),
})

const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/join',
  component: lazyView(() => import('./views/entry/link-views.tsx'), 'JoinView'),
})

const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset',
  component: lazyView(() => import('./views/entry/link-views.tsx'), 'ResetView'),
})

const secondFactorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/second-factor',
  validateSearch: readFrom,
  beforeLoad: async ({ context: { queryClient } }) => {
    const { mustSetUpTwoFactor } = await queryClient.ensureQueryData(sessionQuery)
    if (!mustSetUpTwoFactor) throw redirect({ to: '/', replace: true })
  },
  component: lazyView(() => import('./views/settings/second-factor-view.tsx'), 'SecondFactorView'),
})

const projectRoute = createRoute({
  getParentRoute: () => rootRoute,
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
  component: lazyView(() => import('./shell/shell.tsx'), 'Shell'),
  notFoundComponent: NothingHere,
})

const projectStartRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/p/$project/overview', params, replace: true })
  },
})

const overviewRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/overview',
  validateSearch: overviewSearch,
  component: lazyView(() => import('./views/overview/overview-view.tsx'), 'OverviewView'),
})

/** Below the overview, whose entry in the navigation is its own. */
const chartRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/overview/chart',
  validateSearch: chartSearch,
  component: lazyView(() => import('./views/charts/chart-view.tsx'), 'ChartView'),
})

const drawnOnceWithinMs = 100

/** Waits a moment for a page's first requests: rendering once with the answers is faster than rendering twice. */
function soon(...requests: Promise<unknown>[]): Promise<unknown> {
  return Promise.race([
    Promise.all(requests),
    new Promise((resolve) => setTimeout(resolve, drawnOnceWithinMs)),
  ])
}

/** Requests the first page of a list. One of a relative date waits for the project's time zone, so the view does. */
async function requestCalls(
  queryClient: QueryClient,
  project: string,
  search: Record<string, unknown>,
  meta = {},
): Promise<void> {
  const filters = readFilters(search)
  if (filters.date === undefined && filters.status !== 'live' && filters.status !== 'silent')
    await queryClient.prefetchInfiniteQuery({ ...callsQuery(project, filters), meta })
}

/** The call's route is inside the list's, since the list stays while a call is open beside it. */
const callsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/calls',
  validateSearch: readFilters,
  // Requests the first page while the view's code is still loading.
  loader: ({ context: { queryClient }, params, location }) =>
    soon(requestCalls(queryClient, params.project, location.search)),
  component: lazyView(() => import('./views/calls/calls-view.tsx'), 'CallsView'),
})

const callRoute = createRoute({
  getParentRoute: () => callsRoute,
  path: '/$call',
  validateSearch: readOpenTab,
  // As above. Hovering a link loads only the code, because requesting a call is audited as opening it.
  loader: async ({ context: { queryClient }, params: { project, call }, cause, preload }) => {
    if (preload) return
    const parts = soon(...requestCall(queryClient, project, call))
    // Moving from call to call does not wait.
    if (cause === 'enter') await parts
  },
  preloadStaleTime: 0,
  component: lazyView(() => import('./views/calls/call-view.tsx'), 'CallView'),
})

const knowledgeRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/knowledge',
  validateSearch: knowledgeSearch,
  component: lazyView(() => import('./views/knowledge/knowledge-view.tsx'), 'KnowledgeView'),
})

const newItemRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/new-item',
  validateSearch: newItemSearch,
  component: lazyView(() => import('./views/knowledge/item-form.tsx'), 'NewItemView'),
})

/** A person, named by an address that does not show their number. */
const callerRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/callers/$caller',
  component: lazyView(() => import('./views/callers/caller-view.tsx'), 'CallerView'),
})

/** Not under /knowledge, where an item may have any name. */
const questionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/questions',
  validateSearch: questionsSearch,
  component: lazyView(() => import('./views/questions/questions-view.tsx'), 'QuestionsView'),
})

const itemRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/knowledge/$item',
  validateSearch: itemSearch,
  component: lazyView(() => import('./views/knowledge/item-view.tsx'), 'ItemView'),
})

const playgroundRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/playground',
  validateSearch: playgroundSearch,
  component: lazyView(() => import('./views/playground/playground-view.tsx'), 'PlaygroundView'),
})

const settingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/settings',
  component: lazyView(() => import('./views/settings/settings-view.tsx'), 'SettingsView'),
})

const settingsStartRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/',
  beforeLoad: async ({ context: { queryClient }, params }) => {
    const { projects } = await queryClient.ensureQueryData(sessionQuery)
    const isOwner = projects.some(({ id, role }) => id === params.project && role === 'owner')
    const to = isOwner ? '/p/$project/settings/keys' : '/p/$project/settings/general'
    throw redirect({ to, params, replace: true })
  },
})

const keysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/keys',
  /** `create` opens the dialog, for links to it. */
  validateSearch: ({ create }: Record<string, unknown>): { create?: 'key' } =>
    create === 'key' ? { create } : {},
  component: lazyView(() => import('./views/settings/keys-view.tsx'), 'KeysView'),
})

const keyRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/keys/$key',
  component: lazyView(() => import('./views/settings/key-view.tsx'), 'KeyView'),
})

const integrationsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/integrations',
  /** `create` opens the dialog, for links to it. */
  validateSearch: ({ create }: Record<string, unknown>): { create?: 'source' } =>
    create === 'source' ? { create } : {},
  component: lazyView(() => import('./views/settings/integrations-view.tsx'), 'IntegrationsView'),
})

const sourceRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/integrations/sources/$source',
  component: lazyView(() => import('./views/settings/source-view.tsx'), 'SourceView'),
})

const integrationRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/integrations/$integration',
  component: lazyView(() => import('./views/settings/integration-view.tsx'), 'IntegrationView'),
})

const webhooksRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/webhooks',
  /** `create` opens the dialog of a new webhook. */
  validateSearch: ({ create }: Record<string, unknown>): { create?: 'webhook' } =>
    create === 'webhook' ? { create } : {},
  component: lazyView(() => import('./views/settings/webhooks-view.tsx'), 'WebhooksView'),
})

const webhookRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/webhooks/$webhook',
  /** `show` lists the failed attempts alone, `message` opens one. */
  validateSearch: ({ show, message }: Record<string, unknown>): { show?: 'failed'; message?: string } => ({
    ...(show === 'failed' ? { show } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  }),
  component: lazyView(() => import('./views/settings/webhook-view.tsx'), 'WebhookView'),
})

const alertsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/alerts',
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: 'fired' } => (tab === 'fired' ? { tab } : {}),
  component: lazyView(() => import('./views/alerts/alerts-view.tsx'), 'AlertsView'),
})

const newAlertRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/alerts/new',
  validateSearch: alertSearch,
  component: lazyView(() => import('./views/alerts/alert-view.tsx'), 'NewAlertView'),
})

const alertRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/alerts/$alert',
  component: lazyView(() => import('./views/alerts/alert-view.tsx'), 'AlertView'),
})

const analysisRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/analysis',
  validateSearch: analysisSearch,
  component: lazyView(() => import('./views/analysis/analysis-view.tsx'), 'AnalysisView'),
})

const peopleRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/people',
  component: lazyView(() => import('./views/settings/people-view.tsx'), 'PeopleView'),
})

const privacyRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/privacy',
  component: lazyView(() => import('./views/settings/privacy-view.tsx'), 'PrivacyView'),
})

const receiptsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/privacy/receipts',
  component: lazyView(() => import('./views/settings/receipts-view.tsx'), 'ReceiptsView'),
})

const receiptRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/privacy/receipts/$receipt',
  component: lazyView(() => import('./views/settings/receipts-view.tsx'), 'ReceiptView'),
})

const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyView(() => import('./views/settings/audit-view.tsx'), 'AuditView'),
})

const generalRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/general',
  component: lazyView(() => import('./views/settings/general-view.tsx'), 'GeneralView'),
})

const accountRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/account',
  component: lazyView(() => import('./views/settings/account-view.tsx'), 'AccountView'),
})

const serviceRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/service',
  component: lazyView(() => import('./views/settings/service-view.tsx'), 'ServiceView'),
})

const routeTree = rootRoute.addChildren([
  startRoute,
  signInRoute,
  providerRoute,
  setupRoute,
  joinRoute,
  resetRoute,
  secondFactorRoute,
  projectRoute.addChildren([
    projectStartRoute,
    overviewRoute,
    chartRoute,
    callsRoute.addChildren([callRoute]),
    callerRoute,
    knowledgeRoute,
    newItemRoute,
    questionsRoute,
    itemRoute,
    playgroundRoute,
    settingsRoute.addChildren([
      settingsStartRoute,
      keysRoute,
      keyRoute,
      integrationsRoute,
      integrationRoute,
      sourceRoute,
      webhooksRoute,
      webhookRoute,
      alertsRoute,
      newAlertRoute,
      alertRoute,
      analysisRoute,
      peopleRoute,
      privacyRoute,
      receiptsRoute,
      receiptRoute,
      auditRoute,
      generalRoute,
      accountRoute,
      serviceRoute,
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
  if (matchedRoutes.some(({ id }) => id === callsRoute.id)) {
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
