// Single sign-on against a real provider: who gets in, who does not, and what must never count as proof.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { TRIES_MAX } from '../../../src/admin/people/credentials.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { openStore } from '../../../src/store/open.ts'
import { Browser, tokenOf } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import {
  answerJson,
  DISCOVERY,
  discovery,
  signOnConfig,
  startOidcProvider,
  type Claims,
  type OidcProvider,
} from '../../support/oidc.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { freePort } from '../../support/process.ts'
import { freshSqlite, type FreshDatabase } from '../../support/store.ts'

/** Goes to the provider and back like a browser; returns where it ends. */
async function signOn(browser: Browser, change = (back: URL) => back): Promise<string> {
  const started = await browser.post('/sso/start')
  assert.equal(started.status, 200, JSON.stringify(started.json))
  // The browser returns from another site and must bring this cookie.
  assert.match(
    started.headers.getSetCookie()[0] ?? '',
    /^tollgate\.state=.*HttpOnly; SameSite=Lax$/,
  )
  const atProvider = await fetch(started.json.location, { redirect: 'manual' })
  const back = change(new URL(atProvider.headers.get('location') ?? ''))
  assert.equal(back.origin, browser.url)
  const path = back.pathname.replace('/admin/api/v1', '') + back.search
  const ended = await browser.get(path)
  assert.equal(ended.status, 303)
  return ended.headers.get('location') ?? ''
}

const somebody = { sub: 'a1', email: 'ann@example.com', email_verified: true, name: 'Ann' }

describe('single sign-on of invited people on SQLite', () => invitedPeople(freshSqlite))
describe('single sign-on of invited people on PostgreSQL', () => invitedPeople(freshDatabase))

function invitedPeople(fresh: FreshDatabase): void {
  let provider: OidcProvider
  let gateway: TestGateway
  let database: Awaited<ReturnType<FreshDatabase>>
  before(async () => {
    database = await fresh()
    provider = await startOidcProvider()
    gateway = await startGateway({ database: database.url, config: signOnConfig(provider) })
    await gateway.tollgate('users', 'create', '--email', 'ann@example.com', '--role', 'Manager')
  })
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
    await database.drop()
  })

  test('the sign-in page gets the provider’s name', async () => {
    const { json } = await new Browser(gateway.url).get('/session')
    assert.deepEqual(json.single_sign_on, { name: 'Acme' })
  })

  test('an invited person gets in, and is the same person the next time', async () => {
    provider.person = somebody
    const ids = []
    for (const _ of [1, 2]) {
      const ann = new Browser(gateway.url)
      assert.equal(await signOn(ann), '/')
      const { person } = (await ann.get('/session')).json
      assert.deepEqual([person.email, person.role.name], ['ann@example.com', 'Manager'])
      ids.push(person.id)
    }
    assert.equal(ids[0], ids[1])
    // Even if the address changes at the provider: the identity is the subject, not the address.
    provider.person = { ...somebody, email: 'ann.new@example.com' }
    const renamed = new Browser(gateway.url)
    assert.equal(await signOn(renamed), '/')
    assert.equal((await renamed.get('/session')).json.person.id, ids[0])
  })

  test('a person without a password can make a token', async () => {
    provider.person = somebody
    const ann = new Browser(gateway.url)
    await signOn(ann)
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    const { status } = await ann.post('/profile/tokens', { name: 'script', expires_at })
    assert.equal(status, 201)
  })

  test('no token of the provider is stored', async () => {
    const store = await openStore(database.url, { clock: systemClock })
    const rows = await store.db
      .selectFrom('identities')
      .select(['subject', 'access_token', 'refresh_token', 'id_token'])
      .where('provider_id', '=', `oidc ${provider.issuer}`)
      .execute()
    await store.close()
    const nothing = { access_token: null, refresh_token: null, id_token: null }
    assert.deepEqual(rows, [{ subject: 'a1', ...nothing }])
  })

  const refused = async (expected: string, browser = new Browser(gateway.url)): Promise<void> => {
    assert.equal(await signOn(browser), `/sign-in?error=${expected}`)
    assert.equal((await browser.get('/session')).json.person, null)
  }

  test('a person who was not invited stays out', async () => {
    provider.person = { ...somebody, sub: 'e1', email: 'eve@example.com' }
    await refused('not_invited')
    const { users } = await gateway.tollgate('users', 'list')
    assert.equal((users as unknown[]).length, 1)
  })

  test('an address that the provider has not verified is refused', async () => {
    await gateway.tollgate('users', 'create', '--email', 'bob@example.com', '--role', 'Viewer')
    provider.person = { sub: 'b1', email: 'bob@example.com', email_verified: false, name: 'Bob' }
    await refused('email_not_verified')
    provider.person = { sub: 'b1', email: 'bob@example.com', name: 'Bob' }
    await refused('email_not_verified')
    // Only a clear yes counts, and only under its standard name.
    for (const email_verified of ['false', '0', 'no', 1, {}, []]) {
      provider.person = { sub: 'b1', email: 'bob@example.com', email_verified }
      await refused('email_not_verified')
    }
    provider.person = { sub: 'b1', email: 'bob@example.com', emailVerified: true }
    await refused('email_not_verified')
    // Some providers send the flag as text.
    provider.person = { sub: 'b1', email: 'bob@example.com', email_verified: 'true' }
    assert.equal(await signOn(new Browser(gateway.url)), '/')
    await gateway.tollgate('users', 'remove', 'bob@example.com')
  })

  test('an address that only looks like another after lower-casing is refused', async () => {
    await gateway.tollgate('users', 'create', '--email', 'kim@example.com', '--role', 'Viewer')
    // The Kelvin sign, whose lower case is an ordinary k.
    provider.person = { ...somebody, sub: 'k1', email: '\u{212a}im@example.com' }
    await refused('email_not_verified')
    provider.person = { ...somebody, sub: 'k2', email: 'KIM@Example.com' }
    assert.equal(await signOn(new Browser(gateway.url)), '/')
    await gateway.tollgate('users', 'remove', 'kim@example.com')
  })

  test('a self-chosen address is not linked until an administrator confirms it', async () => {
    const words = ['--email', 'eve@example.com', '--role', 'Viewer', '--name', 'Eve']
    const { link } = await gateway.tollgate('users', 'create', ...words)
    const eve = new Browser(gateway.url)
    const password = 'correct horse battery'
    const token = tokenOf((link as { readonly url: string }).url)
    assert.equal((await eve.post('/links/use', { token, password })).status, 200)
    const email = 'owner@example.com'
    assert.equal((await eve.post('/profile/email', { email, password })).status, 200)
    provider.person = { ...somebody, sub: 'o1', email }
    await refused('email_not_verified')
    await gateway.tollgate('users', 'email', email, email)
    assert.equal(await signOn(new Browser(gateway.url)), '/')
    // The new link between account and identity is on record.
    const ann = new Browser(gateway.url)
    provider.person = somebody
    assert.equal(await signOn(ann), '/')
    const { json } = await ann.get('/audit?action=person.link_identity')
    const [{ actor, subject_name, fields }] = json.entries
    assert.deepEqual([actor, subject_name], [email, email])
    const identity = `o1 at ${provider.issuer}`
    assert.deepEqual(fields, [{ field: 'identity', before: null, after: identity }])
    await gateway.tollgate('users', 'remove', email)
  })

  test('an address that belongs to another identity now does not open the old account', async () => {
    provider.person = { ...somebody, sub: 'a2' }
    await refused('already_linked')
    const { message } = await gateway.logged('single_sign_on_refused')
    assert.match(String(message), /^a2 at http\S+ has the address of person_\w+, who is linked/)
    // The old identity still opens it, until somebody unlinks the two.
    const [before, after] = [new Browser(gateway.url), new Browser(gateway.url)]
    provider.person = somebody
    assert.equal(await signOn(before), '/')
    const { id } = (await before.get('/session')).json.person
    assert.equal((await gateway.tollgate('users', 'unlink', id))['has_identity'], false)
    assert.equal((await before.get('/session')).json.person, null)
    provider.person = { ...somebody, sub: 'a2' }
    assert.equal(await signOn(after), '/')
    assert.equal((await after.get('/session')).json.person.id, id)
    provider.person = somebody
    await refused('already_linked')
    const { json } = await after.get('/audit?action=person.unlink_identity')
    assert.equal(json.entries[0].fields[0].before, `a1 at ${provider.issuer}`)
    // For the tests below.
    await gateway.tollgate('users', 'unlink', id)
    assert.equal(await signOn(new Browser(gateway.url)), '/')
  })

  test('an account that is blocked is not linked', async () => {
    const email = 'old@example.com'
    await gateway.tollgate('users', 'create', '--email', email, '--role', 'Viewer')
    await gateway.tollgate('users', 'block', email)
    provider.person = { ...somebody, sub: 'x1', email }
    await refused('blocked')
    const removed = await gateway.tollgate('users', 'remove', email)
    assert.equal(removed['has_identity'], false)
  })

  test('a blocked person stays out', async () => {
    await gateway.tollgate('users', 'create', '--email', 'zoe@example.com', '--role', 'Viewer')
    provider.person = { ...somebody, sub: 'z1', email: 'zoe@example.com' }
    assert.equal(await signOn(new Browser(gateway.url)), '/')
    await gateway.tollgate('users', 'block', 'zoe@example.com')
    await refused('blocked')
  })

  test('invalid identity tokens are refused', async () => {
    provider.person = somebody
    for (const forged of [
      { iss: 'https://elsewhere.example' },
      { aud: 'another client' },
      { exp: 1 },
      { nonce: 'of another sign-in' },
    ]) {
      provider.forged = forged
      await refused('failed')
    }
    provider.forged = {}
    provider.isSignedWrongly = true
    await refused('failed')
    provider.isSignedWrongly = false
  })

  test('a return that this browser did not start is refused', async () => {
    provider.person = somebody
    const victim = new Browser(gateway.url)
    // Login CSRF: a thief's code, to sign the victim in as the thief.
    const thief = new Browser(gateway.url)
    const started = await thief.post('/sso/start')
    const atProvider = await fetch(started.json.location, { redirect: 'manual' })
    const back = new URL(atProvider.headers.get('location') ?? '')
    const path = back.pathname.replace('/admin/api/v1', '') + back.search
    const ended = await victim.get(path)
    assert.equal(ended.headers.get('location'), '/sign-in?error=failed')
    assert.equal((await victim.get('/session')).json.person, null)
    const altered = (url: URL) => {
      url.searchParams.set('state', 'made-up')
      return url
    }
    assert.equal(await signOn(new Browser(gateway.url), altered), '/sign-in?error=failed')
    const cancelled = (url: URL) => {
      url.searchParams.delete('code')
      url.searchParams.set('error', 'access_denied')
      return url
    }
    assert.equal(await signOn(new Browser(gateway.url), cancelled), '/sign-in?error=failed')
    // Whatever error code the provider, or an impostor, sends: the pages know only a few.
    for (const word of ['constructor', '__proto__', 'toString', '%0d%0aset-cookie: a=b']) {
      const named = (url: URL) => {
        url.searchParams.set('error', word)
        return url
      }
      assert.equal(await signOn(new Browser(gateway.url), named), '/sign-in?error=failed')
    }
  })

  test('a return works once', async () => {
    provider.person = somebody
    const ann = new Browser(gateway.url)
    assert.equal(await signOn(ann), '/')
    const last = provider.returned.at(-1) ?? new URL(gateway.url)
    const copy = ann.stolen()
    const path = last.pathname.replace('/admin/api/v1', '') + last.search
    assert.equal((await copy.get(path)).headers.get('location'), '/sign-in?error=failed')
  })

  test('refusals are on record', async () => {
    const ann = new Browser(gateway.url)
    provider.person = somebody
    assert.equal(await signOn(ann), '/')
    const { json } = await ann.get('/audit?outcome=refused&action=person.sign_in')
    const told = json.entries.map(({ count }: { readonly count: number }) => count)
    // Equal refusals within a minute share an entry.
    assert.ok(
      told.reduce((sum: number, count: number) => sum + count, 0) >= 10,
      JSON.stringify(json),
    )
    assert.ok(new Set(json.entries.map((entry: { reason: string }) => entry.reason)).size >= 3)
    assert.match(json.entries[0].reason, /^single sign-on: /)
  })
}

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const)
  test(`after a change of provider, its subjects open no accounts of the old one on ${name}`, async () => {
    const database = await fresh()
    await using first = await startOidcProvider()
    await using second = await startOidcProvider()
    const comes = async (provider: OidcProvider, claims: Claims) => {
      await using gateway = await startGateway({
        database: database.url,
        config: signOnConfig(provider, ', role: Viewer'),
      })
      provider.person = { email_verified: true, ...claims }
      const browser = new Browser(gateway.url)
      assert.equal(await signOn(browser), '/')
      return (await browser.get('/session')).json.person
    }
    const ann = await comes(first, { sub: 'a1', email: 'ann@example.com' })
    // Only the identity can lead to the account: the address is new.
    const again = await comes(first, { sub: 'a1', email: 'ann.new@example.com' })
    assert.equal(again.id, ann.id)
    const eve = await comes(second, { sub: 'a1', email: 'eve@example.com' })
    assert.equal(eve.email, 'eve@example.com')
    // Nobody is locked out: an address that the new provider verifies still opens its account.
    const moved = await comes(second, { sub: 'a7', email: 'ann@example.com' })
    assert.equal(moved.id, ann.id)
    await database.drop()
  })

test('with a configured role, people get in without an invitation and have that role', async () => {
  await using provider = await startOidcProvider()
  await using gateway = await startGateway({
    config: signOnConfig(provider, ', role: Viewer, trust_email: true'),
  })
  // Whatever roles the provider claims: roles are granted here.
  const claims = { roleId: 'administrator', role_id: 'administrator', role: 'administrator' }
  provider.person = { sub: 'n1', email: 'new@example.com', name: 'New', ...claims }
  const browser = new Browser(gateway.url)
  assert.equal(await signOn(browser), '/')
  const { person } = (await browser.get('/session')).json
  assert.deepEqual(
    [person.email, person.role.name, person.name],
    ['new@example.com', 'Viewer', 'New'],
  )
})

test('nobody joins under an address that is not verified, or is none', async () => {
  await using provider = await startOidcProvider()
  await using gateway = await startGateway({ config: signOnConfig(provider, ', role: Viewer') })
  const joins = async (claims: Claims): Promise<string> => {
    provider.person = { sub: `${claims['email']}`, ...claims }
    return signOn(new Browser(gateway.url))
  }
  const refused = '/sign-in?error=email_not_verified'
  assert.equal(await joins({ email: 'boss@example.com', email_verified: false }), refused)
  for (const email of ['root', '<b>@example.com', `${'a'.repeat(300)}@example.com`])
    assert.equal(await joins({ email, email_verified: true }), refused)
  // An unusable name keeps nobody out: they can enter one themselves.
  assert.equal(
    await joins({ email: 'boss@example.com', email_verified: 'true', name: 'Boss' }),
    '/',
  )
  for (const [index, name] of ['n'.repeat(101), 'a\0b', ['Ann'], { first: 'Ann' }].entries())
    assert.equal(await joins({ email: `${index}@example.com`, email_verified: true, name }), '/')
  const { users } = await gateway.tollgate('users', 'list')
  const people = users as readonly { readonly email: string; readonly name: string }[]
  assert.deepEqual(
    people.map(({ email, name }) => [email, name]),
    [
      ['0@example.com', ''],
      ['1@example.com', ''],
      ['2@example.com', ''],
      ['3@example.com', ''],
      ['boss@example.com', 'Boss'],
    ],
  )
})

test('starting sign-ons over and over is limited', async () => {
  await using provider = await startOidcProvider()
  await using gateway = await startGateway({ config: signOnConfig(provider) })
  let begun = 0
  while ((await new Browser(gateway.url).post('/sso/start')).status === 200) begun++
  // A new rate-limit window may have begun meanwhile.
  assert.ok(begun >= TRIES_MAX['sign-on'] && begun <= 2 * TRIES_MAX['sign-on'], String(begun))
  // People who sign in with a password are not locked out by it.
  const wrong = { email: 'ann@example.com', password: 'not the password' }
  assert.equal((await new Browser(gateway.url).post('/session', wrong)).status, 401)
})

test('a configured role that does not exist lets nobody in uninvited', async () => {
  await using provider = await startOidcProvider()
  await using gateway = await startGateway({ config: signOnConfig(provider, ', role: Nobodys') })
  provider.person = somebody
  assert.equal(await signOn(new Browser(gateway.url)), '/sign-in?error=not_invited')
  const line = await gateway.logged('single_sign_on_role_unknown')
  assert.match(String(line['message']), /^admin\.oidc\.role: there is no role "Nobodys"/)
})

test('an unreachable provider does not prevent signing in with a password', async () => {
  const port = await freePort()
  const provider = await startOidcProvider(port)
  await provider[Symbol.asyncDispose]()
  await using gateway = await startGateway({ config: signOnConfig(provider) })
  const browser = new Browser(gateway.url)
  const away = await browser.post('/sso/start')
  assert.deepEqual([away.status, away.json.error.code], [503, 'unavailable'])
  const wrong = await browser.post('/session', {
    email: 'ann@example.com',
    password: 'no such one',
  })
  assert.equal(wrong.status, 401)
  // It works again as soon as the provider is back.
  await using back = await startOidcProvider(port)
  assert.equal(back.issuer, provider.issuer)
  assert.equal((await browser.post('/sso/start')).status, 200)
})

describe('a provider whose answers cannot be used', () => {
  let provider: OidcProvider
  let gateway: TestGateway
  before(async () => {
    provider = await startOidcProvider()
    gateway = await startGateway({ config: signOnConfig(provider, ', role: Viewer') })
    provider.person = somebody
    provider.userInfo = somebody
  })
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
  })
  const logged = (cause: string) =>
    gateway.printed(new RegExp(`"event":"single_sign_on_failed","cause":"Error: .*${cause}`))
  const filler = 'x'.repeat(2 * 1024 * 1024)

  for (const [what, change, told] of [
    ['is no JSON', () => '<html>', 'openid-configuration, because .*no JSON object'],
    [
      'names no issuer',
      (description: Claims) => ({ ...description, issuer: undefined }),
      'has no usable issuer',
    ],
    [
      'names another issuer',
      (description: Claims) => ({ ...description, issuer: `${String(description['issuer'])}/` }),
      'says that its issuer is http.*/: write that as admin.oidc.issuer',
    ],
    [
      'gives an address that is none',
      (description: Claims) => ({ ...description, token_endpoint: 'file:///etc/passwd' }),
      'has no usable token_endpoint',
    ],
    [
      'is too long',
      (description: Claims) => ({ ...description, filler }),
      'openid-configuration, because .*too long: more than 1 MB',
    ],
  ] as const)
    test(`a description that ${what} counts as no answer`, async () => {
      provider.instead.set(DISCOVERY, (response) =>
        answerJson(response, change(discovery(provider.issuer))),
      )
      assert.equal((await new Browser(gateway.url).post('/sso/start')).status, 503)
      await logged(told)
      provider.instead.clear()
    })

  const fails = async (told: string): Promise<void> => {
    assert.equal(await signOn(new Browser(gateway.url)), '/sign-in?error=failed')
    await logged(told)
    provider.instead.clear()
  }

  // The keys first, because they are not fetched again once they are known.
  for (const path of ['/keys', '/token', '/userinfo'])
    test(`nobody gets in by an answer of ${path} that is too long`, async () => {
      provider.instead.set(path, (response) =>
        answerJson(response, { ...somebody, keys: [], filler }),
      )
      await fails(`${path}, because .*too long: more than 1 MB`)
    })

  test('an answer that trickles in for ever fails the sign-on after ten seconds', async () => {
    provider.instead.set('/token', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 500)
      response.once('close', () => clearInterval(drip))
    })
    await fails('/token, because .*did not answer in time')
  })

  test('an answer without an ID token signs nobody in', async () => {
    provider.instead.set('/token', (response) => answerJson(response, { access_token: 'a' }))
    await fails('/token answered without an ID token')
  })

  test('an address comes from userinfo only if that is about the subject of the ID token', async () => {
    const ann = new Browser(gateway.url)
    assert.equal(await signOn(ann), '/')
    assert.equal((await ann.get('/session')).json.person.email, 'ann@example.com')
    provider.person = { sub: 'e1' }
    for (const sub of ['a1', undefined, ['e1']]) {
      provider.userInfo = { ...somebody, sub }
      await fails('/userinfo answered about another subject than the ID token')
    }
  })
})

test('its routes are not found if single sign-on is not configured', async () => {
  await using gateway = await startGateway()
  const browser = new Browser(gateway.url)
  assert.equal((await browser.post('/sso/start')).status, 404)
  assert.equal((await browser.get('/sso/callback/oidc?code=1&state=2')).status, 404)
})
