// The contract for people and roles on any database: permissions, the last manager, one-time links, and shared limits
// on attempts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AdminError } from '../../src/admin/contract/errors.ts'
import type { Permission } from '../../src/admin/contract/permissions.ts'
import {
  hashPassword,
  limitTries,
  signInTries,
  takeTriesBack,
} from '../../src/admin/people/credentials.ts'
import { makePersonLink, makeSetupLink, useOpenLink } from '../../src/admin/people/links.ts'
import {
  addPerson,
  answerPeople,
  answerPerson,
  blockPerson,
  changePerson,
  removePerson,
  resetTwoFactor,
  signOutPerson,
  unblockPerson,
  unlinkPerson,
} from '../../src/admin/people/people.ts'
import {
  answerRoles,
  changeRole,
  createRole,
  operatorOf,
  removeRole,
  type Actor,
} from '../../src/admin/people/roles.ts'
import type { Clock } from '../../src/core/clock.ts'
import { openHttp } from '../../src/providers/upstream/connections.ts'
import { listAudit } from '../../src/store/audit/record.ts'
import { withChangeLock } from '../../src/store/database/revision.ts'
import type { Store } from '../../src/store/database/store.ts'
import { openStore } from '../../src/store/open.ts'
import { markJoined } from '../../src/store/people/people.ts'
import { deleteSessions, listPersonSessions, setPassword } from '../../src/store/people/sign-in.ts'
import type { Log } from '../../src/telemetry/log.ts'
import { CLIENT, startOidcProvider } from '../support/oidc.ts'
import type { FreshDatabase } from '../support/store.ts'

const PASSWORD = 'correct horse battery'

/** Advances with every reading, so that records have an order. */
function tickingClock(): Clock & { at: number } {
  return {
    at: Date.UTC(2026, 9, 15, 12),
    now() {
      return this.at++
    },
    monotonicMs: () => 0,
  }
}

export function peopleContract(fresh: FreshDatabase): void {
  let database: Awaited<ReturnType<FreshDatabase>>
  let store: Store
  let operator: Actor
  const clock = tickingClock()

  before(async () => {
    database = await fresh()
    store = await openStore(database.url, { clock })
    operator = operatorOf(store)
  })
  after(async () => {
    await store.close()
    await database.drop()
  })

  const add = (email: string, role: string) =>
    addPerson(operator, { email, role, passwordHash: 'a hash' })
  const actorOf = async (email: string, rights: readonly Permission[]): Promise<Actor> => ({
    store,
    personId: (await answerPerson(store.db, email)).id,
    rights: new Set(rights),
  })
  const refuses = (code: string, work: Promise<unknown>) =>
    assert.rejects(work, (error: unknown) => {
      assert.ok(error instanceof AdminError, String(error))
      assert.equal(error.code, code, error.message)
      assert.doesNotMatch(error.message, /\n/)
      return true
    })
  const lastRecord = async () => (await listAudit(store, { limit: 1 }))[0]

  test('only one of several links for the first administrator makes one', async () => {
    const tokens = [await makeSetupLink(store), await makeSetupLink(store)]
    const results = await Promise.allSettled(
      [...tokens, ...tokens].map((token = '', index) =>
        useOpenLink(store, {
          token,
          email: `first${index}@example.com`,
          name: 'F',
          password: PASSWORD,
        }),
      ),
    )
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    const people = await answerPeople(store.db)
    assert.deepEqual(
      people.map(({ role, status }) => [role.name, status]),
      [['Administrator', 'active']],
    )
    assert.equal(await makeSetupLink(store), undefined)
    await add('ann@example.com', 'administrator')
    await removePerson(operator, people[0]?.email ?? '')
  })

  describe('the last manager', () => {
    test('cannot be demoted, blocked or removed, even by the operator', async () => {
      const ann = 'ann@example.com'
      await refuses('last_manager', changePerson(operator, ann, { role: 'Viewer' }))
      await refuses('last_manager', changePerson(operator, ann, { role: 'Manager' }))
      await refuses('last_manager', blockPerson(operator, ann))
      await refuses('last_manager', removePerson(operator, ann))
      assert.equal((await answerPerson(store.db, 'ann@example.com')).role.name, 'Administrator')
      const record = await lastRecord()
      assert.deepEqual([record?.action, record?.outcome], ['person.remove', 'refused'])
    })

    test('is not someone who is only invited, or is blocked', async () => {
      await addPerson(operator, { email: 'invited@example.com', role: 'Administrator' })
      await refuses('last_manager', blockPerson(operator, 'ann@example.com'))
      await add('blocked@example.com', 'Administrator')
      await blockPerson(operator, 'blocked@example.com')
      await refuses('last_manager', removePerson(operator, 'ann@example.com'))
      await removePerson(operator, 'blocked@example.com')
      await removePerson(operator, 'invited@example.com')
    })

    test('keeps the rights of a role that nobody else has', async () => {
      const { id } = await createRole(operator, {
        name: 'Chief',
        permissions: ['people:manage', 'configuration:manage'],
      })
      await changePerson(operator, 'ann@example.com', { role: 'chief' })
      await refuses('last_manager', changeRole(operator, id, { permissions: ['people:manage'] }))
      await refuses('wrong_state', removeRole(operator, id))
      await changePerson(operator, 'ann@example.com', { role: 'Administrator' })
      await removeRole(operator, id)
    })

    test('remains when two managers remove each other at the same moment', async () => {
      const rights: Permission[] = ['people:manage', 'configuration:manage']
      const { id } = await createRole(operator, { name: 'Twin', permissions: rights })
      await add('bob@example.com', id)
      await changePerson(operator, 'ann@example.com', { role: id })
      const ann = await actorOf('ann@example.com', rights)
      const bob = await actorOf('bob@example.com', rights)
      const results = await Promise.allSettled([
        removePerson(ann, 'bob@example.com'),
        removePerson(bob, 'ann@example.com'),
      ])
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      const [left, ...more] = await answerPeople(store.db)
      assert.equal(more.length, 0)
      await changePerson(operator, left?.id ?? '', { role: 'Administrator' })
      await removeRole(operator, id)
      if (left?.email === 'ann@example.com') return
      await add('ann@example.com', 'Administrator')
      await removePerson(operator, left?.id ?? '')
    })
  })

  describe('someone who manages people and may do little else', () => {
    let actor: Actor
    before(async () => {
      const rights: Permission[] = ['people:manage', 'usage:read']
      await createRole(operator, { name: 'Host', permissions: rights })
      await add('host@example.com', 'Host')
      actor = await actorOf('host@example.com', rights)
    })

    test('cannot give a right they do not hold', async () => {
      await refuses('not_permitted', addPerson(actor, { email: 'x@example.com', role: 'Manager' }))
      await refuses('not_permitted', changePerson(actor, 'host@example.com', { role: 'Viewer' }))
      await refuses(
        'not_permitted',
        createRole(actor, { name: 'More', permissions: ['usage:read', 'audit:read'] }),
      )
      const { id } = await createRole(actor, { name: 'Reader', permissions: ['usage:read'] })
      await refuses('not_permitted', changeRole(actor, id, { permissions: ['audit:read'] }))
      await addPerson(actor, { email: 'guest@example.com', role: id })
      assert.ok(!(await answerPeople(store.db)).some(({ email }) => email === 'x@example.com'))
      const roles = await answerRoles(store.db)
      assert.ok(!roles.some(({ name }) => name === 'More'))
      assert.equal(roles.find(({ name }) => name === 'Reader')?.people, 1)
    })

    test('cannot touch anyone who holds more, because a reset link would give them that', async () => {
      const ann = 'ann@example.com'
      for (const work of [
        () => changePerson(actor, ann, { name: 'Mine' }),
        () => changePerson(actor, ann, { role: 'Reader' }),
        () => changePerson(actor, ann, { email: 'mine@example.com' }),
        () => makePersonLink(actor, ann, 'reset'),
        () => resetTwoFactor(actor, ann),
        () => unlinkPerson(actor, ann),
        () => signOutPerson(actor, ann),
        () => blockPerson(actor, ann),
        () => removePerson(actor, ann),
      ])
        await refuses('not_permitted', work())
      const record = await lastRecord()
      assert.deepEqual(
        [record?.action, record?.outcome, record?.subjectId],
        ['person.remove', 'refused', ann],
      )
      await makePersonLink(actor, 'guest@example.com', 'invitation')
    })

    test('cannot change anyone once blocked or given another role, even with an earlier request', async () => {
      const late = 'late@example.com'
      await add(late, 'Host')
      const lateActor = await actorOf(late, ['people:manage', 'usage:read'])
      const results = await Promise.allSettled([
        blockPerson(actor, late),
        blockPerson(lateActor, 'host@example.com'),
      ])
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const email of ['host@example.com', late]) await unblockPerson(operator, email)
      await changePerson(operator, late, { role: 'Viewer' })
      await refuses('not_permitted', blockPerson(lateActor, 'guest@example.com'))
      await removePerson(operator, late)
      await refuses('not_signed_in', blockPerson(lateActor, 'guest@example.com'))
    })

    test('cannot block or remove themselves, nor change their own address without the password', async () => {
      await refuses(
        'wrong_state',
        changePerson(actor, 'host@example.com', { email: 'h@example.com' }),
      )
      await refuses('wrong_state', blockPerson(actor, 'host@example.com'))
      await refuses('wrong_state', removePerson(actor, 'host@example.com'))
    })
  })

  describe('roles', () => {
    test('cannot be changed if they are built in', async () => {
      for (const id of ['administrator', 'manager', 'viewer']) {
        await refuses('wrong_state', changeRole(operator, id, { permissions: [] }))
        await refuses('wrong_state', removeRole(operator, id))
      }
      await refuses('not_found', removeRole(operator, 'role_unknown'))
    })

    test('have unique names', async () => {
      for (const name of ['VIEWER', 'reader', 'Ｒeader'])
        await refuses('duplicate_name', createRole(operator, { name, permissions: [] }))
      const reader = (await answerRoles(store.db)).find(({ name }) => name === 'Reader')
      await refuses('duplicate_name', changeRole(operator, reader?.id ?? '', { name: 'host' }))
    })

    test('decide what their people may do', async () => {
      const role = (await answerRoles(store.db)).find(({ name }) => name === 'Reader')
      const changed = await changeRole(operator, role?.id ?? '', { permissions: ['audit:read'] })
      assert.deepEqual([changed.name, changed.permissions], ['Reader', ['audit:read']])
      const record = await lastRecord()
      assert.deepEqual(record?.fields, [
        { field: 'permissions', before: ['usage:read'], after: ['audit:read'] },
      ])
    })
  })

  test('no session from the old password survives a new one, however close in time', async () => {
    const { betterAuthSignIn } = await import('../../src/admin/people/better-auth.ts')
    const signIn = betterAuthSignIn(signInParts(store))
    const visit = { cookie: undefined, address: '127.0.0.1', userAgent: undefined }
    const email = 'quick@example.com'
    const [old, changed] = [await hashPassword(PASSWORD), await hashPassword('another password')]
    const { id: personId } = await add(email, 'viewer')
    // A little later each time, so that some changes fall between the check and the session.
    for (let reads = 0; reads < 30; reads++) {
      await setPassword(store, store.db, { personId, hash: old })
      const coming = signIn.signIn(visit, { email, password: PASSWORD })
      for (let read = 0; read < reads; read++) await answerPerson(store.db, email)
      await withChangeLock(store, async (tx) => {
        await setPassword(store, tx, { personId, hash: changed })
        await deleteSessions(tx, { personId })
      })
      await coming
      const sessions = await listPersonSessions(store.db, { personId, now: clock.now() })
      assert.deepEqual(sessions, [], `after ${reads} reads`)
    }
    await removePerson(operator, email)
  })

  test('no session of an identity survives its unlinking, however close in time', async () => {
    const { betterAuthSignIn } = await import('../../src/admin/people/better-auth.ts')
    await using provider = await startOidcProvider()
    const email = 'linked@example.com'
    const { id: personId } = await add(email, 'viewer')
    provider.person = { sub: 'l1', email, email_verified: true }
    const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret }
    const oidc = {
      issuer: provider.issuer,
      ...client,
      roleId: undefined,
      trustEmail: false,
      mayCome: () => false,
    }
    const signIn = betterAuthSignIn({ ...signInParts(store), oidc })
    const visit = { cookie: undefined, address: '127.0.0.1', userAgent: undefined }
    const comes = async (): Promise<string> => {
      const started = await signIn.startSingleSignOn(visit)
      const cookie = started?.cookies.map((each) => each.split(';', 1)[0]).join('; ')
      const atProvider = await fetch(started?.location ?? '', { redirect: 'manual' })
      const { searchParams } = new URL(atProvider.headers.get('location') ?? '')
      const query = Object.fromEntries(searchParams)
      return (await signIn.finishSingleSignOn({ ...visit, cookie }, query)).outcome
    }
    for (let reads = 0; reads < 30; reads++) {
      // Linked, without a session.
      assert.equal(await comes(), 'signed-in')
      await deleteSessions(store.db, { personId })
      const returned = provider.returned.length
      const coming = comes()
      while (provider.returned.length === returned) await answerPerson(store.db, email)
      for (let read = 0; read < reads; read++) await answerPerson(store.db, email)
      await unlinkPerson(operator, email)
      await coming
      const person = await answerPerson(store.db, email)
      const sessions = await listPersonSessions(store.db, { personId, now: clock.now() })
      // They came either before, and are out, or after, and are linked again.
      assert.equal(sessions.length > 0, person.has_identity, `after ${reads} reads`)
      if (person.has_identity) await unlinkPerson(operator, email)
    }
    await removePerson(operator, email)
  })

  test('a link works for only one of several concurrent uses', async () => {
    const { token } = await makePersonLink(operator, 'guest@example.com', 'invitation')
    const use = () => useOpenLink(store, { token, name: 'Guest', password: PASSWORD })
    const results = await Promise.allSettled([use(), use(), use(), use()])
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await answerPerson(store.db, 'guest@example.com')).status, 'active')
  })

  describe('a link can do only what its maker could do now', () => {
    const rights: Permission[] = ['people:manage', 'usage:read']
    const [maker, guest] = ['maker@example.com', 'told@example.com']
    let roleId = ''
    const withdrawn = (token: string) =>
      refuses('link_expired', useOpenLink(store, { token, name: 'T', password: PASSWORD }))
    const made = async (kind: 'invitation' | 'reset' = 'invitation') =>
      (await makePersonLink(await actorOf(maker, rights), guest, kind)).token
    before(async () => {
      roleId = (await createRole(operator, { name: 'Told', permissions: ['usage:read'] })).id
      await createRole(operator, { name: 'Maker', permissions: rights })
      await add(maker, 'Maker')
      await addPerson(operator, { email: guest, role: 'Told' })
    })

    test('it fails once the person has rights that the maker lacks', async () => {
      const token = await made()
      await changePerson(operator, guest, { role: 'Administrator' })
      await withdrawn(token)
      assert.equal((await answerPerson(store.db, guest)).status, 'invited')
      await changePerson(operator, guest, { role: 'Told' })
      await changeRole(operator, roleId, { permissions: ['usage:read', 'audit:read'] })
      await withdrawn(token)
      await changeRole(operator, roleId, { permissions: ['usage:read'] })
    })

    test('it fails if it needs a right that the token that made it lacked', async () => {
      await changePerson(operator, maker, { role: 'Administrator' })
      const token = await made()
      await changePerson(operator, guest, { role: 'Viewer' })
      await withdrawn(token)
      await changePerson(operator, guest, { role: 'Told' })
      await changePerson(operator, maker, { role: 'Maker' })
    })

    test('it fails while the maker is blocked or may not manage people, and for good once they are removed', async () => {
      const token = await made()
      await blockPerson(operator, maker)
      await withdrawn(token)
      await unblockPerson(operator, maker)
      await changePerson(operator, maker, { role: 'Viewer' })
      await withdrawn(token)
      await removePerson(operator, maker)
      await withdrawn(token)
      await add(maker, 'Maker')
      await withdrawn(token)
    })

    test('it fails after the person was blocked and unblocked', async () => {
      const token = await made()
      await blockPerson(operator, guest)
      await refuses('wrong_state', useOpenLink(store, { token, password: PASSWORD }))
      await unblockPerson(operator, guest)
      await refuses('invalid_link', useOpenLink(store, { token, name: 'T', password: PASSWORD }))
    })

    test('an invitation fails after the person has joined another way', async () => {
      const token = await made()
      const { id } = await answerPerson(store.db, guest)
      await markJoined(store.db, id, clock.now())
      await refuses('link_used', useOpenLink(store, { token, name: 'T', password: PASSWORD }))
    })

    test('it works if none of that happened', async () => {
      const token = await made('reset')
      await changeRole(operator, roleId, { permissions: [] })
      await useOpenLink(store, { token, name: 'T', password: PASSWORD })
      assert.equal((await answerPerson(store.db, guest)).has_password, true)
    })
  })

  test('a link expires', async () => {
    const { token } = await makePersonLink(operator, 'guest@example.com', 'reset')
    clock.at += 24 * 60 * 60 * 1_000
    await refuses('link_expired', useOpenLink(store, { token, password: PASSWORD }))
  })

  test('attempts at one account from one place are counted together, and can be taken back', async () => {
    const tries = signInTries('ann@example.com', '203.0.113.8')
    await Promise.all(Array.from({ length: 9 }, () => limitTries(store, tries)))
    await limitTries(store, tries)
    await takeTriesBack(store, tries)
    await limitTries(store, tries)
    await refuses('too_many_attempts', limitTries(store, tries))
    assert.equal((await lastRecord())?.action, 'person.sign_in')
    const { id } = (await lastRecord()) ?? {}
    await refuses('too_many_attempts', limitTries(store, tries))
    assert.equal((await lastRecord())?.id, id, 'only the first of them is recorded')
    // The limit applies neither to other addresses nor to other accounts.
    await limitTries(store, signInTries('ann@example.com', '203.0.113.9'))
    await limitTries(store, signInTries('bob@example.com', '203.0.113.8'))
    clock.at += 15 * 60 * 1_000
    await limitTries(store, tries)
  })

  test('all addresses of one IPv6 network count as one place', async () => {
    for (let index = 0; index < 10; index++)
      await limitTries(store, signInTries('ann@example.com', `2001:db8:1:2::${index}`))
    await refuses(
      'too_many_attempts',
      limitTries(store, signInTries('ann@example.com', '2001:db8:1:2:3:4:5:6')),
    )
    await limitTries(store, signInTries('ann@example.com', '2001:db8:1:3::1'))
  })
}

/** What signing in needs beside the database. */
function signInParts(store: Store) {
  const log: Log = { info: () => {}, warn: () => {}, error: () => {}, flush: () => {} }
  const http = openHttp({})
  const publicUrl = 'http://127.0.0.1:4000'
  return { store, log, http, publicUrl, secret: 'a secret of the test', oidc: undefined }
}
