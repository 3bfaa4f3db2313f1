// Service tokens as programs use them: made on the machine, used on the admin API with their role, rotated and revoked.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { API_PREFIX } from '../../../src/admin/contract/route.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'

let gateway: TestGateway
before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

type Json = Record<string, unknown>

const create = async (name: string, role: string, ...more: string[]): Promise<string> => {
  const words = ['--name', name, '--role', role, ...more]
  return String((await gateway.tollgate('tokens', 'create', ...words))['secret'])
}

/** A call of the admin API, by a program. */
const call = async (secret: string, path: string, body?: Json) => {
  const response = await fetch(`${gateway.url}${API_PREFIX}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Json }
}
const NEW_KEY = { models: ['sandbox-chat'], budget: '5' }

test('a program may do what the role of its token allows, in the name of the token', async () => {
  const manager = await create('deploy', 'Manager')
  const viewer = await create('monitor', 'Viewer')
  assert.match(manager, /^tgs_[0-9A-Za-z]{49}$/)
  assert.equal((await call(manager, '/keys', { ...NEW_KEY, name: 'made' })).status, 201)
  assert.equal((await call(viewer, '/keys')).status, 200)
  const refused = await call(viewer, '/keys', { ...NEW_KEY, name: 'not made' })
  assert.equal(refused.status, 403)
  const { body } = await call(manager, '/audit?action=key.create')
  const actors = (body['entries'] as Json[]).map(({ actor, source, outcome }) => ({
    actor,
    source,
    outcome,
  }))
  assert.deepEqual(actors, [
    { actor: 'service token monitor', source: 'api', outcome: 'refused' },
    { actor: 'service token deploy', source: 'api', outcome: 'done' },
  ])
})

test('a program manages people with that permission, and not its own sign-in', async () => {
  const secret = await create('onboarding', 'Administrator')
  const person = { email: 'ann@example.com', role: 'viewer' }
  const invited = await call(secret, '/people', person)
  assert.equal(invited.status, 201, JSON.stringify(invited.body))
  const { url } = invited.body['link'] as { url: string }
  const token = url.slice(url.indexOf('#') + 1)
  const opened = await call(secret, '/links/look', { token })
  assert.equal(opened.status, 200, JSON.stringify(opened.body))
  const own = { name: 'more', expires_at: '2027-01-01T00:00:00Z' }
  assert.equal((await call(secret, '/profile/tokens', own)).status, 403)
})

test('the list says when a token was last used, and never its secret', async () => {
  const secret = await create('used', 'Viewer', '--expires', '2999-01-01')
  await create('unused', 'Viewer')
  await call(secret, '/keys')
  const listed = await gateway.tollgate('tokens', 'list')
  const tokens = listed['tokens'] as Json[]
  const byName = (name: string): Json => tokens.find((token) => token['name'] === name) ?? {}
  assert.ok(Date.parse(String(byName('used')['last_used_at'])) > 0)
  assert.equal(byName('used')['expires_at'], '2999-01-01T00:00:00.000Z')
  assert.equal(byName('unused')['last_used_at'], null)
  assert.equal(byName('unused')['expires_at'], null)
  assert.equal(byName('used')['masked'], `tgs_…${secret.slice(-4)}`)
  assert.ok(!JSON.stringify(listed).includes(secret))
})

test('a token for a group reaches what belongs to the group, and nothing else', async () => {
  await gateway.tollgate('groups', 'create', '--name', 'search', '--budget', '20')
  await gateway.key('outside', 'sandbox-chat')
  await gateway.key('crawler', 'sandbox-chat', '--group', 'search')
  const secret = await create('search-ci', 'Manager', '--group', 'search')
  const { body } = await call(secret, '/keys')
  assert.deepEqual(
    (body['keys'] as Json[]).map(({ name }) => name),
    ['crawler'],
  )
  assert.equal(body['frame'], null)
  const { id } = await gateway.tollgate('groups', 'show', 'search')
  assert.equal((await call(secret, '/keys', { ...NEW_KEY, name: 'more', group: id })).status, 201)
  assert.notEqual((await call(secret, '/keys', { ...NEW_KEY, name: 'out' })).status, 201)
  assert.equal((await call(secret, '/frame')).status, 403)
  const { tokens } = await gateway.tollgate('tokens', 'list')
  const listed = (tokens as Json[]).find(({ name }) => name === 'search-ci')
  assert.deepEqual(listed?.['group'], { id, name: 'search' })
  await assert.rejects(create('nowhere', 'Manager', '--group', 'nowhere'), /no group/)
})

test('a rotated token opens nothing by its old secret, a revoked one by none', async () => {
  const old = await create('turned', 'Viewer')
  const renewed = String((await gateway.tollgate('tokens', 'rotate', 'turned'))['secret'])
  assert.equal((await call(old, '/keys')).status, 401)
  assert.equal((await call(renewed, '/keys')).status, 200)
  await gateway.tollgate('tokens', 'revoke', 'turned')
  assert.equal((await call(renewed, '/keys')).status, 401)
  // Its name is free again.
  await create('turned', 'Viewer')
})

test('a token is no key, and a key no token', async () => {
  const secret = await create('lost', 'Viewer')
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  assert.equal(response.status, 401)
  assert.match(await response.text(), /works only with the admin API/)
})

for (const [what, words, code, line] of [
  ['a name twice', ['--name', 'twice', '--role', 'Viewer'], 1, /already a service token "twice"/],
  ['an unknown role', ['--name', 'a', '--role', 'Emperor'], 2, /there is no role "Emperor"/],
  ['an empty name', ['--name', ' ', '--role', 'Viewer'], 2, /needs a name of 1 to 100/],
  [
    'an expiry in the past',
    ['--name', 'a', '--role', 'Viewer', '--expires', '2020-01-01'],
    2,
    /in the future/,
  ],
] as const)
  test(`${what} is refused in one line`, async () => {
    if (code === 1) await create('twice', 'Viewer')
    await assert.rejects(gateway.tollgate('tokens', 'create', ...words), (error: Error) => {
      assert.match(error.message, new RegExp(`ended with ${code}: `))
      assert.match(error.message, line)
      return true
    })
  })

test('an unknown token is refused with where to look', async () => {
  await assert.rejects(gateway.tollgate('tokens', 'rotate', 'nobody'), /tollgate tokens list/)
})
