// Permissions: every route of the contract against every role, and every field of a write against callers without write
// permission. Run by test/contract/admin-rights.test.ts on both databases.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { contract } from '../../src/admin/contract/contract.ts'
import { keyChange, newKey } from '../../src/admin/contract/keys.ts'
import {
  BUILT_IN_ROLES,
  PERMISSIONS,
  type Permission,
} from '../../src/admin/contract/permissions.ts'
import type { AdminRoute } from '../../src/admin/contract/route.ts'
import { adminHandlers } from '../../src/admin/open.ts'
import { openTestAdmin, type TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

/** The routes that the built-in roles below Administrator may call, restated beside the table that decides it. */
const VIEWER = [
  ...[
    'about',
    'listKeys',
    'listLabels',
    'exportKeys',
    'readKey',
    'findKey',
    'readLimits',
    'readFrame',
    'listModels',
  ],
  ...['readUsage', 'exportUsage', 'readKeyUsage', 'readStatement', 'exportStatement'],
  ...['listRequests', 'readRequest', 'listKeyRequests'],
  ...['listRefusals', 'listKeyRefusals', 'listGroups', 'readGroup', 'listMembers'],
  ...['listDestinations', 'listDeliveries', 'readKeyAlerts', 'readFrameAlerts', 'exportManifest'],
  ...['listOwnGroups', 'listWishes'],
]
const WRITES = [
  ...['addWish', 'grantWish', 'declineWish', 'withdrawWish'],
  ...['createKey', 'changeKeys', 'changeKey', 'pauseKey', 'resumeKey', 'revokeKey', 'rotateKey'],
  ...['endOverlap', 'resetKey', 'topUpKey', 'testKey', 'changeFrame', 'topUpFrame', 'resetFrame'],
  ...['createDestination', 'changeDestination', 'deleteDestination', 'testDestination'],
  ...['changeKeyAlerts', 'changeFrameAlerts', 'applyManifest', 'play'],
  ...['createGroup', 'changeGroup', 'archiveGroup', 'activateGroup', 'topUpGroup', 'resetGroup'],
]
const MANAGER = [...VIEWER, ...WRITES, 'listAudit', 'exportAudit', 'listKeyActivity']

export function adminAccessContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  let id = ''
  const routes = Object.entries(contract).filter(([name]) => name in adminHandlers(NO_PARTS))

  before(async () => {
    admin = await openTestAdmin(fresh)
    const body = { name: 'guarded', models: ['sandbox-chat'], budget: '5' }
    id = (await admin.call('POST', '/keys', { body })).body['id'] ?? ''
  })
  after(() => admin[Symbol.asyncDispose]())

  const attempt = (route: AdminRoute, permissions: readonly Permission[] | null) => {
    const path = route.path.replace(':id', id)
    const hasBody = route.body !== undefined
    // The body is invalid on purpose: a caller who passes the guard gets a 400, and nothing is done.
    return admin.call(route.method, path, {
      permissions,
      ...(hasBody ? { body: { wrong: 1 } } : {}),
    })
  }
  const state = async (): Promise<unknown> => [
    // A test call counts as a use, and uses are written a few seconds later.
    { ...(await admin.call('GET', `/keys/${id}`)).body, last_used_at: undefined },
    (await admin.call('GET', '/frame')).body,
    (await admin.call('GET', '/keys?per_page=1')).body['total'],
  ]

  describe('roles', () => {
    for (const [role, names] of [
      ['viewer', VIEWER],
      ['manager', MANAGER],
    ] as const)
      test(`${role} may call the listed routes, and no others`, async () => {
        const { permissions = [] } = BUILT_IN_ROLES.find((each) => each.id === role) ?? {}
        const allowed = routes
          .filter(
            ([, { access }]) =>
              access === 'signed-in' || (access !== 'public' && permissions.includes(access)),
          )
          .map(([name]) => name)
        assert.deepEqual(allowed.toSorted(), names.toSorted())
      })
  })

  describe('every route refuses callers without its permission', () => {
    let beforehand: unknown
    before(async () => void (beforehand = await state()))
    for (const [name, route] of routes as readonly (readonly [string, AdminRoute])[]) {
      const { access, method, path } = route
      if (access === 'public') continue
      test(`${name}: ${method} ${path} needs ${access}`, async () => {
        const nobody = await attempt(route, null)
        assert.deepEqual([nobody.status, nobody.body['error']?.['code']], [401, 'not_signed_in'])
        if (access !== 'signed-in') {
          const others = PERMISSIONS.filter((each) => each !== access)
          const refused = await attempt(route, others)
          assert.equal(refused.status, 403)
          assert.equal(refused.body['error']?.['permission'], access)
        }
        assert.deepEqual(await state(), beforehand)
        if (method !== 'GET' && route.body === undefined) return
        const passed = await attempt(route, access === 'signed-in' ? [] : [access])
        assert.ok(![401, 403].includes(passed.status), passed.text)
      })
    }
  })

  describe('/metrics, which is not a route of the contract', () => {
    const read = async (permissions: readonly Permission[] | null): Promise<number> => {
      const headers = permissions && { 'x-test-permissions': permissions.join(',') }
      const response = await fetch(`${admin.url}/metrics`, headers === null ? {} : { headers })
      await response.arrayBuffer()
      return response.status
    }
    test('only usage:read opens it', async () => {
      assert.equal(await read(null), 401)
      assert.equal(await read(PERMISSIONS.filter((each) => each !== 'usage:read')), 403)
      assert.equal(await read(['usage:read']), 200)
    })
  })

  describe('no field can be written without the permission', () => {
    const values: Readonly<Record<string, unknown>> = {
      ...{ name: 'taken over', environment: 'x', owner: 'x', description: 'x', tags: ['x'] },
      ...{ models: ['x'], add_models: ['x'], remove_models: ['sandbox-chat'], permissions: [] },
      ...{ budget: '9', period: 'day', timezone: 'Asia/Tokyo', week_start: 'sun', rpm: 1, tpm: 1 },
      ...{ concurrency: 1, when_tight: 'refuse', expires_at: '2099-01-01T00:00:00Z', mode: 'test' },
      ...{ alert_thresholds: [1], expiry_reminders: [1], group: 'x', owner_person: 'x' },
      ...{ window: { budget: '1', period: 'day' }, request_cost_max: '1' },
      ...{ model_budgets: [{ model: 'sandbox-chat', budget: '1', period: 'day' }] },
      ...{ add_model_budgets: [{ model: 'sandbox-chat', budget: '1', period: 'day' }] },
      ...{ remove_model_budgets: ['sandbox-chat'], reason: 'x' },
    }
    const permissions = PERMISSIONS.filter((each) => each !== 'configuration:manage')
    const headers = { 'if-match': '"1"' }
    let beforehand: unknown
    before(async () => void (beforehand = await state()))
    for (const field of Object.keys(keyChange.shape))
      test(`changing ${field}`, async () => {
        const body = { [field]: values[field] }
        assert.notEqual(values[field], undefined)
        const { status } = await admin.call('PATCH', `/keys/${id}`, { body, headers, permissions })
        assert.equal(status, 403)
        assert.deepEqual(await state(), beforehand)
      })
    for (const field of Object.keys(newKey.shape))
      test(`creating with ${field}`, async () => {
        const body = { name: 'new', models: [], budget: '1', [field]: values[field] }
        assert.equal((await admin.call('POST', '/keys', { body, permissions })).status, 403)
        assert.deepEqual(await state(), beforehand)
      })
    for (const field of Object.keys(keyChange.shape))
      test(`a wrong ${field} is refused by name`, async () => {
        const body = { [field]: { not: 'this' } }
        const answer = await admin.call('PATCH', `/keys/${id}`, { body, headers })
        const [named] = String(answer.body['error']?.['field']).split('.')
        assert.deepEqual([answer.status, named], [400, field])
      })
  })

  describe('other methods', () => {
    for (const path of new Set(routes.map(([, route]) => route.path)))
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        if (routes.some(([, route]) => route.path === path && route.method === method)) continue
        test(`${method} ${path} is not found`, async () => {
          const { status } = await admin.call(method, path.replace(':id', id))
          // A path that takes an id may answer 400 here, because the segment is not an id.
          assert.ok(status === 404 || (path === '/keys/bulk' && status === 400), String(status))
        })
      }
  })

  describe('the origin of a write', () => {
    for (const [from, via, status] of [
      [{ origin: 'https://evil.example.com' }, 'session', 403],
      [{ origin: 'null' }, 'session', 403],
      [{ origin: 'not a url' }, 'session', 403],
      [{ 'sec-fetch-site': 'cross-site' }, 'session', 403],
      [{ 'sec-fetch-site': 'same-site' }, 'session', 403],
      [{ 'sec-fetch-site': 'same-origin' }, 'session', 200],
      [{ origin: 'https://tollgate.example.com' }, 'session', 200],
      [{ origin: 'https://evil.example.com' }, 'token', 200],
      [{}, 'session', 200],
    ] as const)
      test(`${JSON.stringify(from)} with a ${via}: ${status}`, async () => {
        const answer = await admin.call('POST', `/keys/${id}/resume`, { headers: from, via })
        assert.equal(answer.status, status)
        if (status === 403) assert.equal(answer.body['error']?.['code'], 'wrong_origin')
      })

    test('the address the gateway was reached at is its own origin', async () => {
      const headers = { origin: admin.url }
      assert.equal((await admin.call('POST', `/keys/${id}/resume`, { headers })).status, 200)
    })

    test('a read is answered whatever its origin, but no page of another site can see the answer', async () => {
      const answer = await admin.call('GET', '/keys', {
        headers: { origin: 'https://evil.example.com' },
      })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('access-control-allow-origin'), null)
    })
  })

  describe('malformed requests', () => {
    for (const [what, init, status] of [
      ['invalid JSON', { body: '{', headers: { 'content-type': 'application/json' } }, 400],
      ['another content type', { body: 'a=1', headers: { 'content-type': 'text/plain' } }, 400],
      [
        'a __proto__ member',
        { body: '{"__proto__":{}}', headers: { 'content-type': 'application/json' } },
        400,
      ],
      [
        'a body that is too large',
        { body: `"${'a'.repeat(1_100_000)}"`, headers: { 'content-type': 'application/json' } },
        413,
      ],
    ] as const)
      test(`${what}: ${status}, in the usual envelope`, async () => {
        const response = await fetch(`${admin.url}/admin/api/v1/keys`, {
          method: 'POST',
          body: init.body,
          headers: { ...init.headers, 'x-test-permissions': PERMISSIONS.join(',') },
        })
        assert.equal(response.status, status)
        const { error } = (await response.json()) as { error: Record<string, unknown> }
        assert.equal(typeof error['message'], 'string')
        assert.equal(error['request_id'], response.headers.get('x-request-id'))
      })

    test('an unknown path gets the same envelope and headers', async () => {
      const { status, body, headers } = await admin.call('GET', '/nowhere', { permissions: null })
      assert.deepEqual([status, body['error']?.['code']], [404, 'not_found'])
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
    })
  })

  describe('the OpenAPI document', () => {
    test('it has every route, and no dangling references', async () => {
      const { body, text } = await admin.call('GET', '/openapi.json', { permissions: null })
      const document = body as unknown as {
        openapi: string
        paths: Record<string, Record<string, { operationId: string }>>
      }
      assert.equal(document.openapi, '3.1.0')
      const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
      assert.deepEqual(
        operations.map(({ operationId }) => operationId).toSorted(),
        Object.keys(contract).toSorted(),
      )
      for (const [, reference] of text.matchAll(/"\$ref":"([^"]+)"/g))
        assert.equal(reference, '#/components/schemas/Error')
    })
  })
}

/** Only the handler names are needed here. */
const NO_PARTS = {} as Parameters<typeof adminHandlers>[0]
