import { networkOf } from '../auth/ip-rules.ts'
import type { Keys } from '../auth/keys.ts'
import type { ConsoleParts } from '../console/api-routes.ts'
import { ServiceState } from '../console/operator/service-state.ts'
import type { Auth } from '../console/people/auth.ts'
import { Invitations } from '../console/people/invitations.ts'
import { Links } from '../console/people/links.ts'
import { Members } from '../console/people/members.ts'
import { OpenSessions } from '../console/people/open-sessions.ts'
import { People } from '../console/people/people.ts'
import { Provider } from '../console/people/provider.ts'
import { ProviderSignIn } from '../console/people/provider-sign-in.ts'
import { Sessions } from '../console/people/sessions.ts'
import { SignInLimits } from '../console/people/sign-in-limits.ts'
import { TwoFactor } from '../console/people/two-factor.ts'
import { TwoFactorRule } from '../console/people/two-factor-rule.ts'
import { Views } from '../console/views.ts'
import type { Core } from '../core/core.ts'
import { readLastBackup } from '../db/backup-note.ts'
import type { Embedder } from '../knowledge/embedding/embedder.ts'
import { version } from '../version.ts'
import type { ConfiguredModel } from './chat-model.ts'

interface Beside {
  embedder: Embedder
  chat: ConfiguredModel | null
  keys: Keys
  problem: () => Promise<string | null>
}

/** The parts that only the console uses: people, their sessions and their links. */
export function createConsole(
  { config, log, database, audit, sessionSecret, now }: Core,
  { embedder, chat, keys, problem }: Beside,
): ConsoleParts {
  const { oidc } = config
  const common = { read: database.read, write: database.write, audit, now, log, oidc }
  const limits = new SignInLimits({ ...common, networkOf })
  let loading: Promise<Auth> | undefined
  // Loaded only when it is used: better-auth takes 17 MB of memory.
  const auth = () => {
    loading ??= import('../console/people/auth.ts').then(({ createAuth }) =>
      createAuth({
        store: database,
        secret: sessionSecret,
        publicUrl: config.publicUrl,
        onFailure: (error) => log.error({ error }, 'Sign-in failed with an internal error'),
      }),
    )
    return loading
  }
  const sessions = new Sessions({ ...common, auth, limits })
  const people = new People(common)
  return {
    audit,
    sessions,
    openSessions: new OpenSessions({ ...common, dataVersion: database.dataVersion }),
    people,
    views: new Views(common),
    twoFactor: new TwoFactor({ ...common, auth, limits }),
    twoFactorRule: new TwoFactorRule(common),
    serviceState: new ServiceState({
      version,
      startedAt: now(),
      database,
      problem,
      embedder,
      model: chat,
      requestsOf: (keyId) => keys.requestsOf(keyId),
      readLastBackup: () => readLastBackup(config.dataDir),
      now,
    }),
    members: new Members(common),
    links: new Links({ ...common, auth, sessions, limits }),
    providerSignIn: new ProviderSignIn({
      ...common,
      auth,
      sessions,
      limits,
      provider: oidc && new Provider(oidc, log),
      publicUrl: config.publicUrl,
    }),
    invitations: new Invitations({ ...common, people }),
  }
}
