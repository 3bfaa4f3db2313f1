// A gateway in use, for tests that look at every page: groups with members and wishes, keys in every state, calls that
// succeeded, failed and were refused, people, roles, destinations of alerts and an access token.
import { tokenOf } from '../browser.ts'
import { administrator, callModel, newKey, newVisitor, send } from './web.ts'
import type { SignedInWeb } from './web.ts'

/** Ids: of a key that was called, its group and one of its requests, a key with two secrets, and one that is refused. */
export type Furniture = KeyIds & {
  readonly group: string
  /** The address of one that nobody has used. */
  readonly invitation: string
}

type KeyIds = Readonly<Record<'key' | 'request' | 'rotated' | 'refused', string>>

export async function furnish(web: SignedInWeb): Promise<Furniture> {
  const { ask } = web
  const rules = { self_service: true, budget_max: { budget: '20', period: 'month' }, days_max: 30 }
  const search = await ask('POST', '/groups', {
    ...{ name: 'search', description: 'Everybody who works on search, and their nightly jobs' },
    ...{ budget: '200', window: { budget: '10', period: 'day' }, rpm: 600, key_rules: rules },
    models: ['sandbox-chat', 'sandbox-embedding'],
  })
  const group = String(search['id'])
  await ask('POST', '/groups', { name: 'billing' })
  const keys = await furnishKeys(web, group)
  const invitation = await furnishPeople(web, group)
  await ask('POST', '/alerts/destinations', {
    ...{ name: 'on-call', kind: 'webhook', url: 'https://hooks.example.com/tollgate' },
    ...{ kinds: ['outage', 'ledger', 'refusals'], tags: ['batch'], environments: ['production'] },
  })
  await ask('POST', '/profile/tokens', {
    ...{ name: 'nightly report', permissions: null, password: administrator.password },
    expires_at: inDays(30),
  })
  return { ...keys, group, invitation }
}

async function furnishKeys(web: SignedInWeb, group: string): Promise<KeyIds> {
  const { ask, url } = web
  const crawler = await newKey(web, 'crawler', {
    ...{ group, owner: 'Ann', environment: 'production', tags: ['nightly'], rpm: 60 },
    ...{ budget: '250', window: { budget: '5', period: 'day' } },
    models: ['sandbox-chat', 'sandbox-reasoner', 'sandbox-embedding'],
    model_budgets: [{ model: 'sandbox-chat', budget: '4', period: 'week' }],
  })
  const states = {
    'paused job': (id: string) => ask('POST', `/keys/${id}/pause`),
    'ended trial': (id: string) => ask('POST', `/keys/${id}/revoke`, { reason: 'it ended' }),
  }
  for (const [name, change] of Object.entries(states)) await change((await newKey(web, name)).id)
  const rotated = await newKey(web, 'rotated service')
  await ask('POST', `/keys/${rotated.id}/rotate`, {})
  await newKey(web, 'expiring', { expires_at: inDays(3) })
  const poor = await newKey(web, 'poor', { budget: '0.000001', when_tight: 'refuse' })
  let request = ''
  for (const word of ['hello', 'good morning', 'good night'])
    request =
      (await callModel(url, crawler.secret, `Say ${word}.`)).headers.get('x-request-id') ?? ''
  await callModel(url, crawler.secret, '[[sandbox error=503]]')
  await callModel(url, poor.secret, 'Say hello.')
  await callModel(url, 'tg_live_wrong', 'Say hello.')
  return { key: crawler.id, request, rotated: rotated.id, refused: poor.id }
}

/** The address of an invitation that nobody has used. */
async function furnishPeople(web: SignedInWeb, group: string): Promise<string> {
  const { ask } = web
  await ask('POST', '/roles', { name: 'Auditor', permissions: ['audit:read', 'requests:read'] })
  const bob = { email: 'bob@example.com', name: 'Bob', role: 'viewer' }
  const { link: unused } = await ask('POST', '/people', bob)
  const dana = { email: 'dev@example.com', name: 'Dana Developer' }
  const { link, person } = await ask('POST', '/people', { ...dana, role: 'member' })
  await ask('PUT', `/groups/${group}/members/${dana.email}`, { role: 'member' })
  await ask('PUT', `/groups/${group}/members/${administrator.email}`, { role: 'manager' })
  const { people } = await ask('GET', '/people')
  const ann = (people as { id: string; email: string }[]).find(
    ({ email }) => email === administrator.email,
  )
  await newKey(web, 'my notebook', { group, owner_person: ann?.id })
  const theirs = await newKey(web, 'notebook', { group, owner_person: Object(person).id })
  const context = (await newVisitor(web)).context()
  const joining = { token: tokenOf(Object(link).url), name: dana.name }
  const wish = { budget: '15', models: ['sandbox-chat', 'sandbox-embedding'], reason: 'a trial' }
  for (const [path, data] of [
    ['/links/use', { ...joining, password: administrator.password }],
    [`/keys/${theirs.id}/wishes`, wish],
  ] as const)
    await send(context, web.url, { method: 'POST', path, data })
  await context.close()
  return String(Object(unused).url)
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString()
}
