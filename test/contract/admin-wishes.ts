// Wishes: what members ask for beyond the rules of their group, and what those who manage it decide. Run by
// test/contract/admin.test.ts on both databases.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/core/ids.ts'
import { insertPerson } from '../../src/store/people/people.ts'
import { openTestAdmin, type Answer, type Asked, type TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

const DAY_MS = 86_400_000

export function adminWishesContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  let group = ''
  let member: Asked = {}
  let manager: Asked = {}
  const inDays = (count: number): string => new Date(Date.now() + count * DAY_MS).toISOString()

  const done = async (answer: Promise<Answer>): Promise<Record<string, never>> => {
    const { status, text, body } = await answer
    assert.ok(status < 300, text)
    return body
  }
  const call = (method: string, path: string, asked?: Asked) => admin.call(method, path, asked)
  const ask = (key: string, body: object, who = member) =>
    call('POST', `/keys/${key}/wishes`, { body: { reason: 'a larger batch', ...body }, ...who })
  const decide = (wish: string, verb: 'grant' | 'decline', asked: Asked = {}) =>
    call('POST', `/wishes/${wish}/${verb}`, { ...manager, body: {}, ...asked })
  const withdraw = (wish: string, who: Asked) => call('POST', `/wishes/${wish}/withdraw`, who)
  const reasonOf = ({ body }: Answer) => body['error']?.['reason']
  const open = async (key: string, body: object): Promise<string> =>
    String((await done(ask(key, body)))['id'])

  before(async () => {
    admin = await openTestAdmin(fresh)
    const rules = {
      self_service: true,
      budget_max: { budget: '10', period: 'month' },
      days_max: 30,
    }
    const body = { name: 'search', key_rules: rules, models: ['sandbox-chat', 'sandbox-reasoner'] }
    group = String((await done(call('POST', '/groups', { body })))['id'])
    member = { person: await newMember('dev@example.com', 'Member') }
    manager = { person: await newMember('lead@example.com', 'Manager') }
  })
  after(() => admin[Symbol.asyncDispose]())

  async function newMember(email: string, role: string): Promise<string> {
    const { db, clock } = admin.store
    const id = newId('person', clock)
    await insertPerson(db, { id, email, name: email, roleId: 'member' }, clock.now())
    await db.updateTable('people').set({ joined_at: 1 }).where('id', '=', id).execute()
    await done(call('PUT', `/groups/${group}/members/${id}`, { body: { role } }))
    return id
  }

  async function newKey(name: string): Promise<string> {
    const body = { name, group, models: ['sandbox-chat'], budget: '10', expires_at: inDays(20) }
    return String((await done(call('POST', '/keys', { body, ...member })))['id'])
  }

  describe('wishes', () => {
    test('what is granted is on the key at once, recorded, and told by mail', async () => {
      const key = await newKey('granted')
      const later = inDays(90)
      const wanted = { budget: '25', models: ['sandbox-reasoner'], expires_at: later }
      const wish = await open(key, wanted)
      const listed = await done(call('GET', '/wishes', manager))
      assert.equal(listed['open'], 1)
      const granted = await done(decide(wish, 'grant', { body: { reason: 'for the launch' } }))
      assert.equal(granted['state'], 'granted')
      assert.deepEqual(granted['decision']?.['given'], wanted)
      const now = await done(call('GET', `/keys/${key}`, member))
      assert.deepEqual([now['budget'], now['expires_at']], ['25', later])
      assert.deepEqual(now['models'], ['sandbox-chat', 'sandbox-reasoner'])
      const { entries } = await done(call('GET', `/keys/${key}/activity`, manager))
      const [given, asked] = rowsOf(entries)
      assert.deepEqual(
        [given?.['action'], given?.['actor']],
        ['key.grant_wish', 'lead@example.com'],
      )
      assert.equal(given?.['reason'], 'for the launch')
      const budget = { field: 'budget', before: '10', after: '25' }
      for (const entry of [given, asked]) assert.deepEqual(fieldOf(entry, 'budget'), budget)
      assert.deepEqual([asked?.['action'], asked?.['actor']], ['key.wish', 'dev@example.com'])
      const mail = admin.mails.at(-1)
      assert.equal(mail?.to, 'dev@example.com')
      assert.match(mail?.subject ?? '', /"granted" was granted/)
      assert.match(mail?.text ?? '', /You now have: a budget of 25 USD[^]*Why: for the launch/)
    })

    test('less can be granted, and a part left out', async () => {
      const key = await newKey('less')
      const wish = await open(key, { budget: '25', models: ['sandbox-reasoner'] })
      const granted = await done(decide(wish, 'grant', { body: { budget: '12', models: [] } }))
      assert.deepEqual(granted['decision']?.['given'], { budget: '12' })
      const now = await done(call('GET', `/keys/${key}`))
      assert.deepEqual([now['budget'], now['models']], ['12', ['sandbox-chat']])
      const other = await open(key, { budget: '25' })
      const nothing = await decide(other, 'grant', { body: { budget: null } })
      assert.deepEqual([nothing.status, reasonOf(nothing)], [400, 'wish_grants_nothing'])
      await done(withdraw(other, member))
    })

    test('what is declined leaves the key as it is, and says why', async () => {
      const key = await newKey('declined')
      const wish = await open(key, { budget: '25' })
      assert.equal((await decide(wish, 'decline', { body: {} })).status, 400)
      await done(decide(wish, 'decline', { body: { reason: 'not this month' } }))
      const { wishes } = await done(call('GET', '/wishes?state=decided', member))
      const [told] = rowsOf(wishes)
      assert.deepEqual(
        [told?.['state'], Object(told?.['decision']).by, Object(told?.['decision']).reason],
        ['declined', 'lead@example.com', 'not this month'],
      )
      assert.equal((await done(call('GET', `/keys/${key}`)))['budget'], '10')
      assert.match(admin.mails.at(-1)?.text ?? '', /It was declined\.\nWhy: not this month/)
      const again = await decide(wish, 'grant')
      assert.deepEqual([again.status, reasonOf(again)], [409, 'wish_decided'])
    })

    test('each key has one open wish, of its owner, which they can take back', async () => {
      const key = await newKey('one')
      const wish = await open(key, { budget: '25' })
      const second = await ask(key, { budget: '30' })
      assert.deepEqual([second.status, reasonOf(second)], [409, 'wish_open'])
      const notOwner = await ask(key, { budget: '30' }, manager)
      assert.deepEqual([notOwner.status, reasonOf(notOwner)], [409, 'wish_not_own'])
      const notAsker = await withdraw(wish, manager)
      assert.deepEqual([notAsker.status, reasonOf(notAsker)], [409, 'wish_not_own'])
      assert.equal((await decide(wish, 'grant', member)).status, 403)
      assert.equal(
        (await decide(wish, 'decline', { body: { reason: 'x' }, ...member })).status,
        403,
      )
      await done(withdraw(wish, member))
      await open(key, { budget: '30' })
      // A key that is gone needs nothing.
      await done(call('POST', `/keys/${key}/revoke`, { body: { reason: 'over' }, ...member }))
      assert.equal((await done(call('GET', '/wishes?state=open')))['open'], 0)
      const gone = await ask(key, { budget: '40' })
      assert.equal(gone.status, 409)
    })

    test('of two who decide at the same moment, one is told that it is decided', async () => {
      const key = await newKey('race')
      const wish = await open(key, { budget: '25' })
      const answers = await Promise.all([
        decide(wish, 'grant'),
        decide(wish, 'decline', { body: { reason: 'no' } }),
        decide(wish, 'grant', { body: { budget: '12' } }),
      ])
      assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), [
        '200',
        '409',
        '409',
      ])
    })

    test('only what is more than the key has can be asked for', async () => {
      const key = await newKey('more')
      for (const [body, field, reason] of [
        [{}, 'budget', 'wish_empty'],
        [{ models: ['sandbox-chat'] }, 'budget', 'wish_empty'],
        [{ budget: '10' }, 'budget', 'wish_not_more'],
        [{ expires_at: inDays(19) }, 'expires_at', 'wish_not_later'],
        [{ budget: '25', reason: ' ' }, 'reason', 'reason_needed'],
      ] as const) {
        const answer = await ask(key, body)
        const { field: at, reason: why } = Object(answer.body['error'])
        assert.deepEqual([answer.status, at, why], [400, field, reason], answer.text)
      }
      const outside = await open(key, { models: ['sandbox-embedding'] })
      const above = await decide(outside, 'grant')
      assert.deepEqual([above.status, reasonOf(above)], [400, 'wish_above_ceiling'])
      assert.equal((await done(call('GET', '/wishes?state=open')))['open'], 1)
    })
  })
}

function rowsOf(list: unknown): readonly Record<string, unknown>[] {
  assert.ok(Array.isArray(list))
  return list
}

function fieldOf(entry: Record<string, unknown> | undefined, name: string): unknown {
  const fields = (entry?.['fields'] ?? []) as readonly { readonly field: string }[]
  return fields.find(({ field }) => field === name)
}
