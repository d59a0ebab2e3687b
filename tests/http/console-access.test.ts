import { describe, expect, test } from 'bun:test'
import { type ConsoleAccess, consoleAccess } from '../../src/http/console-access.ts'

const everyone: ConsoleAccess = { for: 'everyone' }
const signedIn: ConsoleAccess = { for: 'signedIn' }
const consoleOwner: ConsoleAccess = { for: 'consoleOwner' }
const members: ConsoleAccess = { for: 'members', project: 'prj_1' }
const owners: ConsoleAccess = { for: 'owners', project: 'prj_1' }

describe("who may send what to the console's interface", () => {
  test.each([
    ['GET', '/console/api/session', everyone],
    ['HEAD', '/console/api/session/', everyone],
    ['POST', '/console/api/session', everyone],
    ['DELETE', '/console/api/session', signedIn],
    ['POST', '/console/api/session/more', signedIn],
    ['POST', '/console/api/links/setup', everyone],
    ['GET', '/console/api/links/setup', signedIn],
    ['POST', '/console/api/links', signedIn],
    ['POST', '/console/api/links/', signedIn],
    ['GET', '/console/api/sessions', signedIn],
    ['POST', '/console/api/password', signedIn],
    ['POST', '/console/api/projects', signedIn],
    ['POST', '/console/api/projects/', signedIn],
    ['GET', '/console/api/people', consoleOwner],
    ['DELETE', '/console/api/people/per_1', consoleOwner],
    ['PATCH', '/console/api/person', signedIn],
    ['GET', '/console/api', signedIn],
    ['GET', '/console/api/nowhere', signedIn],
    ['GET', '/console/api/projects/prj_1/calls', members],
    ['DELETE', '/console/api/projects/prj_1/calls/c-1', members],
    ['GET', '/console/api/projects/prj_1/overview/figures', members],
    ['POST', '/console/api/projects/prj_1/knowledge', members],
    ['PATCH', '/console/api/projects/prj_1', owners],
    ['PATCH', '/console/api/projects/prj_1/', owners],
    ['DELETE', '/console/api/projects/prj_1', owners],
    ['DELETE', '/console/api/projects/prj_1/', owners],
    ['GET', '/console/api/projects/prj_1/keys', owners],
    ['PATCH', '/console/api/projects/prj_1/people/p', owners],
    ['GET', '/console/api/projects/prj_1/audit', owners],
    ['POST', '/console/api/projects/prj_1/invitations', owners],
    ['GET', '/console/api/projects/prj_1/callsign', owners],
    ['GET', '/console/api/projects/prj_1/Calls', owners],
    ['GET', '/console/api/projects/prj_1//calls', { for: 'owners', project: 'prj_1' }],
    ['GET', '/console', null],
    ['GET', '/console/apiary', null],
    ['GET', '/v1/calls', null],
  ] as const)('%s %s', (method, path, access) => {
    expect(consoleAccess(method, path)).toEqual(access)
  })

  test('what nobody thought of is for owners in a project, and for the signed in elsewhere', () => {
    expect(consoleAccess('PUT', '/console/api/projects/prj_1/anything/new')).toEqual(owners)
    expect(consoleAccess('POST', '/console/api/anything/new')).toEqual(signedIn)
  })
})
