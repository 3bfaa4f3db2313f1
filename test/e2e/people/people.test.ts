// People at a real gateway, on both databases: the first administrator, signing in with and without codes, invitations,
// and everything that must be refused, recorded, and change nothing.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../src/core/clock.ts'
import { openStore } from '../../../src/store/open.ts'
import { appCode, Browser, tokenOf } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { wrongClock, type WrongClock } from '../../support/programs/wrong-clock.ts'
import { freshSqlite } from '../../support/store.ts'

const PASSWORD = 'correct horse battery'
const folder = mkdtempSync(`${tmpdir()}/tollgate-people-`)
after(() => rmSync(folder, { recursive: true, force: true }))

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const) {
  describe(`people on ${name}`, () => {
    let database: Awaited<ReturnType<typeof fresh>>
    let clock: WrongClock
    let gateway: TestGateway
    let ann: Browser

    before(async () => {
      database = await fresh()
      clock = wrongClock(`${folder}/${name}`)
      gateway = await startGateway({ database: database.url, env: clock.env })
      ann = new Browser(gateway.url)
    })
    after(async () => {
      await gateway.stop()
      await database.drop()
    })

    const signIn = async (email: string, password = PASSWORD): Promise<Browser> => {
      const browser = new Browser(gateway.url)
      const { status, json } = await browser.post('/session', { email, password })
      assert.deepEqual([status, json], [200, { step: 'done' }])
      return browser
    }

    /** Invites someone, accepts the invitation, and returns their browser. */
    const join = async (email: string, role: string): Promise<Browser> => {
      const invited = await ann.post('/people', { email, name: email.split('@')[0], role })
      assert.equal(invited.status, 201, JSON.stringify(invited.json))
      const browser = new Browser(gateway.url)
      const token = tokenOf(invited.json.link.url)
      const joined = await browser.post('/links/use', { token, password: PASSWORD })
      assert.deepEqual(joined.json, { step: 'done' })
      return browser
    }

    /** A program that holds someone's personal access token. */
    const tokenHolder = async (browser: Browser) => {
      const expires_at = new Date(Date.now() + 86_400_000).toISOString()
      const token = { name: 'script', expires_at, password: PASSWORD }
      const { json } = await browser.post('/profile/tokens', token)
      const bearer = { authorization: `Bearer ${json.secret}` }
      return () => new Browser(gateway.url).get('/profile', bearer)
    }

    const idOf = async (email: string): Promise<string> => {
      const { json } = await ann.get('/people')
      return json.people.find((person: { email: string }) => person.email === email).id
    }

    const inDatabase = async (
      work: (db: Awaited<ReturnType<typeof openStore>>['db']) => Promise<unknown>,
    ): Promise<unknown> => {
      const store = await openStore(database.url, { clock: systemClock })
      try {
        return await work(store.db)
      } finally {
        await store.close()
      }
    }

    /** The latest audit entry for an action. */
    const recorded = (action: string) =>
      inDatabase((db) =>
        db
          .selectFrom('audit')
          .select(['actor', 'outcome', 'subject_name', 'source'])
          .where('action', '=', action)
          .orderBy('id', 'desc')
          .executeTakeFirst(),
      )

    test('the first start prints a link that makes the first administrator, and works once', async () => {
      const [, link = ''] = await gateway.printed(/(http\S+\/welcome#\S+)/)
      assert.equal(new URL(link).origin, gateway.url)
      const token = tokenOf(link)
      const before = await ann.get('/session')
      assert.deepEqual(before.json, {
        person: null,
        setup_needed: true,
        single_sign_on: null,
        insecure: true,
      })
      assert.equal((await ann.post('/links/look', { token })).json.kind, 'setup')

      const person = { name: 'Ann', email: 'Ann@Example.com' }
      const weak = await ann.post('/links/use', { token, ...person, password: 'aaaaaaaaaaaaaaaa' })
      assert.deepEqual([weak.status, weak.json.error.field], [400, 'password'])
      const nameless = await ann.post('/links/use', { token, password: PASSWORD })
      assert.deepEqual([nameless.status, nameless.json.error.field], [400, 'email'])

      const used = await ann.post('/links/use', { token, ...person, password: PASSWORD })
      assert.deepEqual([used.status, used.json], [200, { step: 'done' }])
      const [cookie = ''] = used.headers.getSetCookie()
      assert.match(cookie, /^tollgate\.session_token=/)
      assert.match(cookie, /; HttpOnly; SameSite=Strict$/)
      assert.doesNotMatch(cookie, /Secure|Domain/)

      const { json } = await ann.get('/session')
      assert.equal(json.person.email, 'ann@example.com')
      assert.equal(json.person.role.name, 'Administrator')
      assert.equal(json.setup_needed, false)
      const again = await ann.post('/links/use', { token, ...person, password: PASSWORD })
      assert.deepEqual([again.status, again.json.error.code], [410, 'link_used'])
      assert.deepEqual(await recorded('person.setup'), {
        actor: 'ann@example.com',
        outcome: 'done',
        subject_name: 'ann@example.com',
        source: 'ui',
      })
    })

    test('a wrong password and an unknown address get the same answer', async () => {
      const browser = new Browser(gateway.url)
      const answers = []
      for (const email of ['ann@example.com', 'nobody@example.com']) {
        const { status, json, headers } = await browser.post('/session', {
          email,
          password: 'wrong wrong wrong',
        })
        assert.equal(json.error.code, 'wrong_credentials')
        assert.match(json.error.message, /^the e-mail address or the password is wrong/)
        delete json.error.request_id
        answers.push([status, json, headers.getSetCookie()])
      }
      assert.deepEqual(answers[0], answers[1])
      assert.equal(answers[0]?.[0], 401)
      assert.equal(browser.cookies.size, 0)
      assert.deepEqual(await recorded('person.sign_in'), {
        actor: 'not signed in',
        outcome: 'refused',
        subject_name: 'nobody@example.com',
        source: 'ui',
      })
    })

    test('an invitation shows its link when there is no mail, and works once', async () => {
      const invited = await ann.post('/people', { email: 'bob@example.com', role: 'Viewer' })
      assert.equal(invited.status, 201)
      const { person, link } = invited.json
      const { json: log } = await ann.get(`/audit?subject=person&subject_id=${person.id}`)
      assert.deepEqual(
        log.entries.map(({ action }: { action: string }) => action),
        ['person.invite'],
        'one invitation is one entry',
      )
      assert.deepEqual([person.status, person.role.id, link.mailed], ['invited', 'viewer', false])
      const token = tokenOf(link.url)
      const twice = await ann.post('/people', { email: 'BOB@example.com', role: 'Viewer' })
      assert.deepEqual([twice.status, twice.json.error.field], [409, 'email'])

      const bob = new Browser(gateway.url)
      const use = { token, name: 'Bob', password: PASSWORD }
      assert.deepEqual((await bob.post('/links/use', use)).json, { step: 'done' })
      assert.equal((await bob.get('/session')).json.person.name, 'Bob')
      assert.equal((await bob.post('/links/use', use)).status, 410)
      for (const answer of [
        await bob.get('/people'),
        await bob.post('/people', { email: 'eve@example.com', role: 'Viewer' }),
        await bob.patch(`/people/${person.id}`, { role: 'Administrator' }),
      ]) {
        assert.deepEqual(
          [answer.status, answer.json.error.code, answer.json.error.permission],
          [403, 'not_permitted', 'people:manage'],
        )
      }
    })

    test('an expired, replaced or made-up link is refused and recorded', async () => {
      const invited = await ann.post('/people', { email: 'late@example.com', role: 'Viewer' })
      const { id } = invited.json.person
      const browser = new Browser(gateway.url)
      const use = (token: string) =>
        browser.post('/links/use', { token, name: 'L', password: PASSWORD })
      await inDatabase((db) =>
        db.updateTable('person_links').set({ expires_at: 1 }).where('person_id', '=', id).execute(),
      )
      const old = await use(tokenOf(invited.json.link.url))
      assert.deepEqual([old.status, old.json.error.code], [410, 'link_expired'])
      assert.deepEqual(await recorded('person.use_link'), {
        actor: 'not signed in',
        outcome: 'refused',
        subject_name: 'late@example.com',
        source: 'ui',
      })
      const first = await ann.post(`/people/${id}/invite`)
      const second = await ann.post(`/people/${id}/invite`)
      assert.equal((await use(tokenOf(first.json.url))).json.error.code, 'invalid_link')
      assert.equal((await use('made-up')).status, 404)
      assert.equal((await ann.get(`/people/${id}`)).json.status, 'invited')
      assert.equal((await use(tokenOf(second.json.url))).status, 200)
    })

    test('app codes can be set up, are then required, work once each, and can be recovered', async () => {
      const carl = await join('carl@example.com', 'Viewer')
      const wrong = await carl.post('/profile/two-factor', { password: 'not the password' })
      assert.deepEqual([wrong.status, wrong.json.error.field], [400, 'password'])
      const setup = await carl.post('/profile/two-factor', { password: PASSWORD })
      assert.equal(setup.json.recovery_codes.length, 10)
      const { uri, recovery_codes } = setup.json
      assert.match(uri, /^otpauth:\/\/totp\/Tollgate:carl/)
      // No code is required until the first one has been confirmed.
      await signIn('carl@example.com')
      const bad = await carl.post('/profile/two-factor/confirm', { code: '000000' })
      assert.deepEqual([bad.status, bad.json.error.field], [400, 'code'])
      const shown = appCode(uri)
      const confirmed = await carl.post('/profile/two-factor/confirm', { code: shown })
      assert.equal(confirmed.status, 200, JSON.stringify(confirmed.json))
      assert.equal((await carl.get('/profile')).json.two_factor, true)

      const enter = async (given: object) => {
        const browser = new Browser(gateway.url)
        const step = await browser.post('/session', {
          email: 'carl@example.com',
          password: PASSWORD,
        })
        assert.deepEqual(step.json, { step: 'code' })
        assert.equal((await browser.get('/session')).json.person, null)
        const { status, json } = await browser.post('/session/code', given)
        if (status === 401) assert.match(json.error.message, /^this code is wrong or has expired/)
        return { status, person: (await browser.get('/session')).json.person }
      }
      assert.equal((await enter({ code: '000000' })).person, null)
      // This code was visible on the screen during setup, so it must not work again.
      assert.deepEqual(await enter({ code: shown }), { status: 401, person: null })
      const code = appCode(uri, Date.now() + 30_000)
      assert.equal((await enter({ code })).person.email, 'carl@example.com')
      assert.deepEqual(await enter({ code }), { status: 401, person: null })
      const recovery = { code: recovery_codes[0], kind: 'recovery' }
      assert.equal((await enter(recovery)).status, 200)
      assert.deepEqual(await enter(recovery), { status: 401, person: null })

      const without = new Browser(gateway.url)
      assert.equal((await without.post('/session/code', { code: appCode(uri) })).status, 401)
      await ann.post(`/people/${await idOf('carl@example.com')}/reset-two-factor`)
      await signIn('carl@example.com')
    })

    test('turning app codes on or off twice is refused, and not recorded as a change', async () => {
      const email = 'tom@example.com'
      const tom = await join(email, 'Viewer')
      const proof = { password: PASSWORD }
      const changes = async (): Promise<number> => {
        const entries = inDatabase((db) =>
          db
            .selectFrom('audit')
            .select('action')
            .where('subject_name', '=', email)
            .where('action', 'like', 'person.%_two_factor')
            .execute(),
        )
        return ((await entries) as unknown[]).length
      }
      const off = await tom.post('/profile/two-factor/end', proof)
      assert.deepEqual([off.status, off.json.error.code], [409, 'wrong_state'])
      assert.equal(await changes(), 0)
      const { json: setup } = await tom.post('/profile/two-factor', proof)
      const code = { code: appCode(setup.uri) }
      assert.equal((await tom.post('/profile/two-factor/confirm', code)).status, 200)
      const again = await tom.post('/profile/two-factor/confirm', code)
      assert.deepEqual([again.status, again.json.error.code], [409, 'wrong_state'])
      assert.equal((await tom.post('/profile/two-factor', proof)).json.error.code, 'wrong_state')
      assert.equal(await changes(), 1)
      assert.equal((await tom.post('/profile/recovery-codes', proof)).status, 200)
      assert.equal((await tom.post('/profile/two-factor/end', proof)).status, 200)
      assert.equal(await changes(), 2)
      const none = await tom.post('/profile/recovery-codes', proof)
      assert.deepEqual([none.status, none.json.error.code], [409, 'wrong_state'])
      await signIn(email)
    })

    test('a stolen cookie is useless after signing out everywhere', async () => {
      const dora = await join('dora@example.com', 'Viewer')
      const elsewhere = await signIn('dora@example.com')
      const thief = dora.stolen()
      assert.equal((await thief.get('/profile')).status, 200)
      const token = await tokenHolder(dora)
      assert.equal((await token()).status, 200)
      const { sessions } = (await dora.get('/profile/sessions')).json
      assert.equal(sessions.length, 2)
      assert.equal(sessions.filter((session: { current: boolean }) => session.current).length, 1)
      assert.equal((await dora.post('/profile/sign-out-everywhere')).status, 200)
      for (const browser of [thief, elsewhere, dora]) {
        assert.equal((await browser.get('/profile')).status, 401)
        assert.equal((await browser.post('/profile/sign-out-everywhere')).status, 401)
      }
      assert.equal((await token()).status, 401)
      // A cookie with a forged signature is never accepted.
      const forged = (await signIn('dora@example.com')).stolen()
      const [[cookie, value] = ['', '']] = forged.cookies
      forged.cookies.set(
        cookie,
        `${value.split('.')[0]}.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D`,
      )
      assert.equal((await forged.get('/profile')).status, 401)
      for (const nonsense of ['%zz', '.', 'x.%', '%00.%00', 'a'.repeat(4_000)]) {
        forged.cookies.set(cookie, nonsense)
        forged.cookies.set('tollgate.two_factor', nonsense)
        assert.equal((await forged.get('/profile')).status, 401, nonsense)
        assert.equal((await forged.post('/session/code', { code: '1' })).status, 401, nonsense)
        assert.equal((await forged.delete('/session')).status, 200, nonsense)
      }
    })

    test('signing out ends the session itself, not only the cookie', async () => {
      const browser = await signIn('dora@example.com')
      const copy = browser.stolen()
      assert.equal((await browser.delete('/session')).status, 200)
      assert.equal(browser.cookies.size, 0)
      assert.equal((await copy.get('/profile')).status, 401)
      // Signing out twice is not an error.
      assert.equal((await browser.delete('/session')).status, 200)
    })

    test('a request from another site is refused and changes nothing', async () => {
      const before = (await ann.get('/people')).json
      const evil = ann.stolen()
      for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
        evil.origin = origin
        for (const answer of [
          await evil.post('/people', { email: 'eve@example.com', role: 'Administrator' }),
          await evil.post('/session', { email: 'ann@example.com', password: PASSWORD }),
          await evil.post('/profile/sign-out-everywhere'),
        ])
          assert.deepEqual([answer.status, answer.json.error.code], [403, 'wrong_origin'])
      }
      evil.origin = null
      const headers = { 'sec-fetch-site': 'cross-site' }
      const hidden = await evil.send('POST', '/profile/sign-out-everywhere', { headers })
      assert.equal(hidden.status, 403)
      assert.deepEqual((await ann.get('/people')).json, before)
      const refused = { outcome: 'refused', subject_name: null, source: 'ui' }
      assert.deepEqual(await recorded('person.invite'), { actor: 'ann@example.com', ...refused })
      const stranger = new Browser(gateway.url)
      stranger.origin = 'https://evil.example'
      await stranger.post('/session', { email: 'ann@example.com', password: PASSWORD })
      assert.deepEqual(await recorded('person.sign_in'), { actor: 'not signed in', ...refused })
    })

    test('a new password ends every other session, and a reset ends all of them', async () => {
      const fay = await join('fay@example.com', 'Viewer')
      const elsewhere = await signIn('fay@example.com')
      const password = 'another good password'
      const id = await idOf('fay@example.com')
      const earlier = tokenOf((await ann.post(`/people/${id}/reset-password`)).json.url)
      const wrong = await fay.post('/profile/password', { current: 'nothing like it', password })
      assert.deepEqual([wrong.status, wrong.json.error.field], [400, 'current'])
      const changed = await fay.post('/profile/password', { current: PASSWORD, password })
      assert.equal(changed.status, 200)
      assert.equal((await elsewhere.get('/profile')).status, 401)
      assert.equal((await fay.get('/profile')).status, 200)
      assert.equal((await fay.post('/links/look', { token: earlier })).status, 404)

      const link = await ann.post(`/people/${id}/reset-password`)
      // Nothing changes until it is used.
      await signIn('fay@example.com', password)
      const script = await tokenHolder(fay)
      const browser = new Browser(gateway.url)
      const token = tokenOf(link.json.url)
      assert.equal((await browser.post('/links/look', { token })).json.email, 'fay@example.com')
      assert.equal((await browser.post('/links/use', { token, password: PASSWORD })).status, 200)
      assert.equal((await fay.get('/profile')).status, 401)
      assert.equal((await script()).status, 401)
      assert.equal((await browser.get('/profile')).status, 200)
      const late = await browser.post('/session', { email: 'fay@example.com', password })
      assert.equal(late.status, 401)
    })

    test('a new e-mail address needs the password, must be unused, and ends every other session', async () => {
      const kim = await join('kim@example.com', 'Viewer')
      const elsewhere = await signIn('kim@example.com')
      const id = await idOf('kim@example.com')
      const sent = tokenOf((await ann.post(`/people/${id}/reset-password`)).json.url)
      for (const [body, field] of [
        [{ email: 'kim2@example.com', password: 'nothing like it' }, 'password'],
        [{ email: 'nonsense', password: PASSWORD }, 'email'],
        [{ email: 'ANN@example.com', password: PASSWORD }, 'email'],
      ] as const) {
        const refused = await kim.post('/profile/email', body)
        assert.ok([400, 409].includes(refused.status), String(refused.status))
        assert.equal(refused.json.error.field, field)
      }
      assert.equal((await elsewhere.get('/profile')).status, 200)
      const moved = await kim.post('/profile/email', {
        email: 'Kim2@example.com',
        password: PASSWORD,
      })
      assert.deepEqual([moved.status, moved.json.email], [200, 'kim2@example.com'])
      assert.equal((await elsewhere.get('/profile')).status, 401)
      assert.equal((await kim.get('/profile')).json.email, 'kim2@example.com')
      assert.equal((await kim.post('/links/look', { token: sent })).status, 404)
      await signIn('kim2@example.com')

      const taken = await ann.patch(`/people/${id}`, { email: 'ann@example.com' })
      assert.deepEqual([taken.status, taken.json.error.field], [409, 'email'])
      const again = await ann.patch(`/people/${id}`, { email: 'kim3@example.com' })
      assert.deepEqual([again.status, again.json.email], [200, 'kim3@example.com'])
      assert.equal((await kim.get('/profile')).status, 401)
      await signIn('kim3@example.com')
      const { entries } = (await ann.get(`/audit?subject_id=${id}`)).json
      assert.deepEqual(
        entries
          .filter(({ action, outcome }: Entry) => action === 'person.change' && outcome === 'done')
          .map(({ actor, fields }: Entry) => [actor, fields]),
        [
          ['ann@example.com', [moveFrom('kim2@example.com', 'kim3@example.com')]],
          ['kim@example.com', [moveFrom('kim@example.com', 'kim2@example.com')]],
        ],
      )
    })

    test('an unattended browser cannot get around the password', async () => {
      const id = await idOf('ann@example.com')
      const moved = await ann.patch(`/people/${id}`, { email: 'eve@example.com' })
      assert.deepEqual([moved.status, moved.json.error.code], [409, 'wrong_state'])
      for (const path of ['reset-password', 'reset-two-factor', 'unlink', 'block']) {
        const refused = await ann.post(`/people/${id}/${path}`)
        assert.deepEqual([refused.status, refused.json.error.code], [409, 'wrong_state'], path)
      }
    })

    test('a blocked person is out at once, and gets the same answer as a stranger', async () => {
      const gil = await join('gil@example.com', 'Viewer')
      const id = await idOf('gil@example.com')
      const script = await tokenHolder(gil)
      assert.equal((await script()).status, 200)
      const reset = tokenOf((await ann.post(`/people/${id}/reset-password`)).json.url)
      assert.equal((await ann.post(`/people/${id}/block`)).json.status, 'blocked')
      assert.equal((await gil.get('/profile')).status, 401)
      assert.equal((await script()).status, 401)
      const refused = await gil.post('/session', { email: 'gil@example.com', password: PASSWORD })
      assert.deepEqual([refused.status, refused.json.error.code], [401, 'wrong_credentials'])
      assert.equal((await ann.post(`/people/${id}/reset-password`)).status, 409)
      assert.equal((await gil.post('/links/use', { token: reset, password: PASSWORD })).status, 409)
      assert.equal((await ann.post(`/people/${id}/unblock`)).json.status, 'active')
      await signIn('gil@example.com')
    })

    test('a thief with the old password can neither undo an earlier reset nor keep a token', async () => {
      const email = 'ivy@example.com'
      await join(email, 'Viewer')
      const id = await idOf(email)
      let known = PASSWORD
      for (let round = 0; round < 3; round++) {
        const thief = await signIn(email, known)
        const { json } = await ann.post(`/people/${id}/reset-password`)
        const link = { token: tokenOf(json.url), password: `chosen by herself ${round}` }
        const theft = { current: known, password: `chosen by a thief ${round}` }
        const expires_at = new Date(Date.now() + 86_400_000).toISOString()
        const [reset, changed, token] = await Promise.all([
          new Browser(gateway.url).post('/links/use', link),
          thief.post('/profile/password', theft),
          thief.post('/profile/tokens', { name: 'kept', expires_at, password: known }),
        ])
        // A new password ends the link; a used link ends the session.
        const isReset = reset.status === 200
        assert.notEqual(isReset, changed.status === 200)
        known = isReset ? link.password : theft.password
        await signIn(email, known)
        if (!isReset) continue
        const bearer = { authorization: `Bearer ${token.json.secret}` }
        assert.equal((await new Browser(gateway.url).get('/profile', bearer)).status, 401)
      }
    })

    test('a sign-in waiting for its code ends when the password changes', async () => {
      const email = 'jan@example.com'
      const jan = await join(email, 'Viewer')
      const { json: setup } = await jan.post('/profile/two-factor', { password: PASSWORD })
      await jan.post('/profile/two-factor/confirm', { code: appCode(setup.uri) })
      const waiting = new Browser(gateway.url)
      const begun = await waiting.post('/session', { email, password: PASSWORD })
      assert.deepEqual(begun.json, { step: 'code' })
      const { json } = await ann.post(`/people/${await idOf(email)}/reset-password`)
      const link = { token: tokenOf(json.url), password: 'another good password' }
      assert.equal((await new Browser(gateway.url).post('/links/use', link)).status, 200)
      const code = { code: setup.recovery_codes[0], kind: 'recovery' }
      assert.equal((await waiting.post('/session/code', code)).status, 401)
    })

    test('too many attempts are refused on every node, even with the right password', async () => {
      await join('hal@example.com', 'Viewer')
      await using other =
        name === 'PostgreSQL'
          ? await startGateway({ database: database.url, env: clock.env })
          : undefined
      // Tries are counted by quarter of an hour, and none may end between them.
      const quarterMs = 15 * 60_000
      clock.set(Math.ceil(Date.now() / quarterMs) * quarterMs)
      const nodes = [gateway.url, other?.url ?? gateway.url]
      const wrong = { email: 'hal@example.com', password: 'guess number one' }
      for (let index = 0; index < 10; index++) {
        const browser = new Browser(nodes[index % 2] ?? '')
        assert.equal((await browser.post('/session', wrong)).status, 401)
      }
      for (const url of nodes) {
        const right = await new Browser(url).post('/session', { ...wrong, password: PASSWORD })
        assert.deepEqual([right.status, right.json.error.code], [429, 'too_many_attempts'])
        assert.ok(Number(right.headers.get('retry-after')) > 0)
      }
      // Others still get in from the same address.
      const dora = await signIn('dora@example.com')
      // A session is valid on every node, and ends on every node.
      const there = new Browser(nodes[1] ?? '')
      for (const [cookie, value] of dora.cookies) there.cookies.set(cookie, value)
      assert.equal((await there.get('/profile')).status, 200)
      assert.equal((await dora.post('/profile/sign-out-everywhere')).status, 200)
      assert.equal((await there.get('/profile')).status, 401)
      clock.set(Date.now())
    })

    test('a second start prints no link', async () => {
      await using second = await startGateway({ database: database.url })
      await second.printed(/Tollgate is listening/)
      await second.printed(/There is no key yet/)
      await assert.rejects(
        Promise.race([second.printed(/welcome#/), second.stop().then(() => Promise.reject())]),
      )
    })
  })
}

type Entry = {
  readonly action: string
  readonly outcome: string
  readonly actor: string
  readonly fields: readonly unknown[]
}

function moveFrom(before: string, after: string) {
  return { field: 'email', before, after }
}
