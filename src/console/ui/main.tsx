import './styles.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { loadLater } from './components/load-later.ts'
import { ownPath } from './own-path.ts'
import { createQueryClient } from './query-client.ts'
import { createConsoleRouter, preloadPage } from './router.tsx'
import { sessionEndedQuery, sessionQuery } from './session.ts'
import { colorSchemeManager, cssVariables, theme } from './theme.ts'

const noticesAfterMs = 2_000
// Loads after the first page, which does not need it. Notifications shown earlier wait for it, and tooltips.
const Notices = lazy(() => loadLater(() => import('./components/notices.tsx'), noticesAfterMs))

/** The nonce that the page's security policy asks of style elements. Only scripts can read it. */
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
setNonce(nonce)

const queryClient = createQueryClient({
  signedOut: () => {
    if (ownPath(router.state.location.href)) queryClient.setQueryData(sessionEndedQuery.queryKey, true)
  },
  // The router leads to its set-up, and back.
  twoFactorRequired: () => location.reload(),
  changed: () => {
    if (queryClient.getQueryData(sessionEndedQuery.queryKey))
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
  },
})
const router = createConsoleRouter(queryClient)
preloadPage(router)

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        colorSchemeManager={colorSchemeManager}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
        <Suspense>
          <Notices />
        </Suspense>
      </MantineProvider>
    </StrictMode>,
  )
}
