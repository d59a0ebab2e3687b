import { describe, expect, test } from 'bun:test'
import { type ConsoleAccess, consoleAccess } from '../../src/http/console-access.ts'

const everyone: ConsoleAccess = { for: 'everyone' }
const signedIn: ConsoleAccess = { for: 'signedIn', isForEntry: false }
const entering: ConsoleAccess = { for: 'signedIn', isForEntry: true }
const consoleOwner: ConsoleAccess = { for: 'consoleOwner' }
const see: ConsoleAccess = { for: 'see', project: 'prj_1' }
const change: ConsoleAccess = { for: 'change', project: 'prj_1' }
const remove: ConsoleAccess = { for: 'delete', project: 'prj_1' }
const manage: ConsoleAccess = { for: 'manage', project: 'prj_1' }

describe("who may send what to the console's interface", () => {
  test.each([
    ['GET', '/console/api/session', everyone],
    ['HEAD', '/console/api/session/', everyone],
    ['POST', '/console/api/session', everyone],
    ['DELETE', '/console/api/session', entering],
    ['POST', '/console/api/session/more', entering],
    ['POST', '/console/api/two-factor/turn-on', entering],
    ['POST', '/console/api/links/setup', everyone],
    ['GET', '/console/api/links/setup', signedIn],
    ['POST', '/console/api/links', signedIn],
    ['POST', '/console/api/links/', signedIn],
    ['GET', '/console/api/sessions', signedIn],
    ['POST', '/console/api/password', signedIn],
    ['POST', '/console/api/projects', signedIn],
    ['POST', '/console/api/projects/', signedIn],
    ['GET', '/console/api/people', consoleOwner],
    ['GET', '/console/api/operator', consoleOwner],
    ['PUT', '/console/api/operator/two-factor', consoleOwner],
    ['DELETE', '/console/api/people/per_1', consoleOwner],
    ['PATCH', '/console/api/person', signedIn],
    ['GET', '/console/api', signedIn],
    ['GET', '/console/api/nowhere', signedIn],
    ['GET', '/console/api/projects/prj_1/calls', see],
    ['DELETE', '/console/api/projects/prj_1/calls/c-1', remove],
    ['DELETE', '/console/api/projects/prj_1/calls/c-1/', remove],
    ['GET', '/console/api/projects/prj_1/calls/holds', see],
    ['GET', '/console/api/projects/prj_1/calls/c-1/holds', change],
    ['HEAD', '/console/api/projects/prj_1/calls/c-1/holds/', change],
    ['GET', '/console/api/projects/prj_1/overview/knowledge', see],
    ['POST', '/console/api/projects/prj_1/knowledge', change],
    ['POST', '/console/api/projects/prj_1/knowledge/search', see],
    ['POST', '/console/api/projects/prj_1/knowledge/search/', see],
    ['POST', '/console/api/projects/prj_1/knowledge/search/more', change],
    ['PUT', '/console/api/projects/prj_1/knowledge/search', change],
    ['POST', '/console/api/projects/prj_1/knowledge/kn_1/preview', change],
    ['POST', '/console/api/projects/prj_1/views', see],
    ['PATCH', '/console/api/projects/prj_1/views/view_1', see],
    ['DELETE', '/console/api/projects/prj_1/views/view_1/', see],
    ['DELETE', '/console/api/projects/prj_1/views', remove],
    ['PATCH', '/console/api/projects/prj_1', manage],
    ['PATCH', '/console/api/projects/prj_1/', manage],
    ['DELETE', '/console/api/projects/prj_1', manage],
    ['DELETE', '/console/api/projects/prj_1/', manage],
    ['GET', '/console/api/projects/prj_1/keys', manage],
    ['PATCH', '/console/api/projects/prj_1/people/p', manage],
    ['GET', '/console/api/projects/prj_1/audit', manage],
    ['POST', '/console/api/projects/prj_1/invitations', manage],
    ['GET', '/console/api/projects/prj_1/callsign', manage],
    ['GET', '/console/api/projects/prj_1/Calls', manage],
    ['GET', '/console/api/projects/prj_1//calls', { for: 'manage', project: 'prj_1' }],
    ['GET', '/console', null],
    ['GET', '/console/apiary', null],
    ['GET', '/v1/calls', null],
  ] as const)('%s %s', (method, path, access) => {
    expect(consoleAccess(method, path)).toEqual(access)
  })

  test('what nobody thought of is for owners in a project, and for the signed in elsewhere', () => {
    expect(consoleAccess('PUT', '/console/api/projects/prj_1/anything/new')).toEqual(manage)
    expect(consoleAccess('POST', '/console/api/anything/new')).toEqual(signedIn)
  })
})
