import type { TwoFactorRule } from '../access/people/two-factor-rule.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import type { ServiceState } from './operator/service-state.ts'
import { ChangedTwoFactorRule } from './schemas.ts'

interface OperatorRoutesOptions {
  serviceState: ServiceState
  twoFactorRule: TwoFactorRule
}

/** /console/api/operator: the service and its rules, for the console's owner. */
export function operatorRoutes({ serviceState, twoFactorRule }: OperatorRoutesOptions) {
  return consoleRoutes('/console/api/operator')
    .get('', () => serviceState.read())
    .get('/two-factor', async () => ({ isOn: await twoFactorRule.isOn() }))
    .put('/two-factor', ({ by, body }) => twoFactorRule.change(body.isOn, by), jsonBody(ChangedTwoFactorRule))
}
