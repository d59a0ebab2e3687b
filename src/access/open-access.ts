import type { Core } from '../core/core.ts'
import { networkOf } from './keys/ip-rules.ts'
import { KeyChanges } from './keys/key-changes.ts'
import { Keys } from './keys/keys.ts'
import type { Auth } from './people/auth.ts'
import { Invitations } from './people/invitations.ts'
import { Links } from './people/links.ts'
import { Members } from './people/members.ts'
import { OpenSessions } from './people/open-sessions.ts'
import { People } from './people/people.ts'
import { Provider } from './people/provider.ts'
import { ProviderSignIn } from './people/provider-sign-in.ts'
import { Sessions } from './people/sessions.ts'
import { SignInLimits } from './people/sign-in-limits.ts'
import { TwoFactor } from './people/two-factor.ts'
import { TwoFactorRule } from './people/two-factor-rule.ts'

/** Who may do what: keys, and the people who sign in to the console. */
export function openAccess(core: Core) {
  // A key can be revoked on a full disk, too.
  const ofKeys = { ...core, write: core.writeWhenFull }
  return { keys: new Keys(ofKeys), keyChanges: new KeyChanges(ofKeys), people: openPeople(core) }
}

function openPeople(core: Core) {
  const { config, log, database, sessionSecret } = core
  const { oidc, publicUrl } = config
  const limits = new SignInLimits(core, { networkOf })
  let loading: Promise<Auth> | undefined
  // Loaded only when it is used: better-auth takes 17 MB of memory.
  const auth = () => {
    loading ??= import('./people/auth.ts').then(({ createAuth }) =>
      createAuth({
        store: database,
        secret: sessionSecret,
        publicUrl,
        onFailure: (error) => log.error({ error }, 'Sign-in failed with an internal error'),
      }),
    )
    return loading
  }
  const sessions = new Sessions(core, { auth, limits })
  const people = new People(core)
  const provider = oidc && new Provider(oidc, log)
  return {
    sessions,
    people,
    openSessions: new OpenSessions(core),
    twoFactor: new TwoFactor(core, { auth, limits }),
    twoFactorRule: new TwoFactorRule(core),
    members: new Members(core),
    links: new Links(core, { auth, sessions, limits }),
    providerSignIn: new ProviderSignIn(core, { auth, sessions, limits, provider }),
    invitations: new Invitations(core, { people }),
  }
}
