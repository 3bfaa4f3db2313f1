// A gateway in use, for tests that look at every page: groups with members and wishes, keys in every state, calls that
// succeeded, failed and were refused, people, roles, destinations of alerts and an access token.
import type { Page } from 'playwright-core'
import { appCode, tokenOf } from '../browser.ts'
import type { OidcProvider } from '../oidc.ts'
import { administrator, callModel, newKey, newVisitor, send } from './web.ts'
import type { SignedInWeb } from './web.ts'

/** A member of the group search, with a second factor and an identity at the single sign-on provider. */
export const developer = { email: 'dev@example.com', name: 'Dana Developer' }

/** Ids: of a key that was called, its group and one of its requests, a key with two secrets, and one that is refused. */
export type Furniture = KeyIds & {
  readonly group: string
  /** The address of one that nobody has used. */
  readonly invitation: string
  /** The developer's own browser. */
  readonly own: Page
}

type KeyIds = Readonly<Record<'key' | 'request' | 'rotated' | 'refused', string>>

/** `provider`: that of the gateway's single sign-on. */
export async function furnish(web: SignedInWeb, provider: OidcProvider): Promise<Furniture> {
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
  const people = await furnishPeople(web, group)
  await linkToProvider(web, people.own, provider)
  await ask('POST', '/alerts/destinations', {
    ...{ name: 'on-call', kind: 'webhook', url: 'https://hooks.example.com/tollgate' },
    ...{ kinds: ['outage', 'ledger', 'refusals'], tags: ['batch'], environments: ['production'] },
  })
  await ask('POST', '/profile/tokens', {
    ...{ name: 'nightly report', permissions: null, password: administrator.password },
    expires_at: inDays(30),
  })
  return { ...keys, ...people, group }
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

async function furnishPeople(
  web: SignedInWeb,
  group: string,
): Promise<Pick<Furniture, 'invitation' | 'own'>> {
  const { ask } = web
  await ask('POST', '/roles', { name: 'Auditor', permissions: ['audit:read', 'requests:read'] })
  const bob = { email: 'bob@example.com', name: 'Bob', role: 'viewer' }
  const { link: unused } = await ask('POST', '/people', bob)
  const { link, person } = await ask('POST', '/people', { ...developer, role: 'member' })
  await ask('PUT', `/groups/${group}/members/${developer.email}`, { role: 'member' })
  await ask('PUT', `/groups/${group}/members/${administrator.email}`, { role: 'manager' })
  const { people } = await ask('GET', '/people')
  const ann = (people as { id: string; email: string }[]).find(
    ({ email }) => email === administrator.email,
  )
  await newKey(web, 'my notebook', { group, owner_person: ann?.id })
  const owned = { group, owner_person: Object(person).id }
  const theirs = await newKey(web, 'notebook', owned)
  await newKey(web, 'nightly evaluation', owned)
  const own = await join(web, link, developer.name)
  const wish = { budget: '15', models: ['sandbox-chat', 'sandbox-embedding'], reason: 'a trial' }
  await sender(web, own)(`/keys/${theirs.id}/wishes`, wish)
  const erin = await ask('POST', '/people', { ...bob, email: 'erin@example.com', name: 'Erin' })
  await (await join(web, erin['link'], 'Erin')).context().close()
  await ask('POST', `/people/${Object(erin['person']).id}/block`)
  return { invitation: String(Object(unused).url), own }
}

/** Signs in by an invitation, in another browser. */
async function join(web: SignedInWeb, link: unknown, name: string): Promise<Page> {
  const own = await newVisitor(web)
  const { password } = administrator
  await sender(web, own)('/links/use', { token: tokenOf(Object(link).url), name, password })
  return own
}

/** Switches on the second factor, then signs in through the provider, which says that the address is theirs. */
async function linkToProvider(web: SignedInWeb, own: Page, provider: OidcProvider): Promise<void> {
  const { password } = administrator
  const post = sender(web, own)
  const { uri } = await post('/profile/two-factor', { password })
  await post('/profile/two-factor/confirm', { code: appCode(String(uri)) })
  provider.person = { sub: 'dana', ...developer, email_verified: true }
  const { location } = await post('/sso/start')
  await own.goto(String(location))
  await own.getByRole('heading', { name: 'My keys', level: 1 }).waitFor()
}

/** Sends what this browser's person would. */
function sender({ url }: SignedInWeb, on: Page) {
  return (path: string, data?: object) => send(on.context(), url, { method: 'POST', path, data })
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString()
}
