import { Button, Divider } from '@mantine/core'
import type { SessionAnswer } from '../../../../access/people/session-answer.ts'

/** What to do after signing in at the provider, and where that opens. */
export interface ProviderLinkProps {
  from?: string | undefined
  /** The token of an invitation to accept. */
  invitation?: string
  /** Keeps this page as it is. */
  inNewTab?: boolean
}

interface FullProps extends ProviderLinkProps {
  provider: NonNullable<SessionAnswer['provider']>
}

/** Leads to the provider, with a line below it where there is another way to sign in. */
export function ProviderLink({ provider, from, invitation, inNewTab = false }: FullProps) {
  const query = from ? `?${new URLSearchParams({ from })}` : ''
  const hash = invitation ? `#${invitation}` : ''
  return (
    <>
      <Button
        component="a"
        href={`/console/sign-in/oidc${query}${hash}`}
        {...(inNewTab ? { target: '_blank' } : {})}
        variant={provider.isOnly ? 'filled' : 'default'}
        fullWidth
      >
        Sign in with {provider.name}
        {inNewTab && ' in a new tab'}
      </Button>
      {!provider.isOnly && <Divider label="or" />}
    </>
  )
}
