// Groups of keys on the command line, as people use it: real processes on a real database, with output and exit codes.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../src/core/clock.ts'
import { findGroup } from '../../../src/store/groups/groups.ts'
import { createKey } from '../../../src/store/keys/lifecycle.ts'
import { addWish } from '../../../src/store/keys/wishes.ts'
import { openStore } from '../../../src/store/open.ts'
import { findPerson } from '../../../src/store/people/people.ts'
import { COMMAND } from '../../support/gateway.ts'
import { bareEnv, run } from '../../support/process.ts'

describe('groups', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-groups-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const call = (...argv: readonly string[]) => {
    const env = { ...bareEnv, TOLLGATE_DATABASE: `sqlite:${join(folder, 'groups.db')}` }
    return run(process.execPath, [COMMAND, ...argv], { cwd: folder, env })
  }
  const json = async (...argv: readonly string[]): Promise<Record<string, never>> => {
    const { code, stdout, stderr } = await call(...argv, '--json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Record<string, never>
  }
  const key = ['--models', 'sandbox-chat', '--budget', '1'] as const

  test('a group is created, changed, archived and activated', async () => {
    const made = await json(
      ...['groups', 'create', '--name', 'search', '--budget', '500', '--window', '40/day'],
      ...['--models', 'sandbox-chat', '--request-cost-max', '0.5', '--rpm', '60'],
      ...['--self-service', 'on', '--key-budget-max', '20/month'],
    )
    assert.match(String(made['id']), /^grp_[0-9a-z]{26}$/)
    assert.partialDeepStrictEqual(made as object, {
      ...{ name: 'search', status: 'active', budget: '500', request_cost_max: '0.5', rpm: 60 },
      ...{ models: ['sandbox-chat'], keys: 0, allocated: '0' },
      window: { budget: '40', period: 'day', remaining: '40' },
      key_rules: { self_service: true, budget_max: { budget: '20', period: 'month' } },
    })
    const changed = await json('groups', 'update', 'search', '--window', 'none', '--keys-max', '2')
    assert.equal(changed['window'], null)
    assert.deepEqual(
      [changed['key_rules']?.['keys_max'], changed['key_rules']?.['self_service']],
      [2, true],
    )
    assert.equal((await json('groups', 'archive', 'search'))['status'], 'archived')
    assert.equal((await json('groups', 'activate', 'search'))['status'], 'active')
    const { stdout } = await call('groups', 'list')
    assert.match(stdout, /^NAME .*\nsearch +grp_\w+ +active +0 +500 USD per month/)
  })

  test('a statement is a page, CSV or JSON, and a month that is no month is refused', async () => {
    await json('groups', 'create', '--name', 'customer', '--timezone', 'Europe/Berlin')
    const month = new Date().toISOString().slice(0, 7)
    const asked = ['statement', '--group', 'customer', '--month'] as const
    const page = await call(...asked, month)
    assert.match(page.stdout, /^<!doctype html>[^]*<h1>customer<\/h1>[^]*\(Europe\/Berlin\)/)
    const csv = await call(...asked, month, '--csv')
    assert.match(csv.stdout, /^group,month,timezone,key,.*,cost,adjusted_by\n$/)
    const { lines, total } = await json(...asked, month)
    assert.deepEqual([lines, total?.['cost']], [[], '0'])
    for (const [wrong, why] of [
      ['2026-13', /enter a month such as 2026-11/],
      ['2019-01', /are not all kept any more: ledger.keep_usage is 400 days/],
    ] as const) {
      const { code, stdout, stderr } = await call(...asked, wrong)
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, why)
    }
  })

  test('keys are put into groups, found by GROUP/NAME, and listed by group', async () => {
    await json('groups', 'create', '--name', 'shop')
    const caps = ['--window', '0.5/day', '--model-budget', 'sandbox-chat=0.2/week']
    const made = await json('keys', 'create', '--name', 'bot', '--group', 'shop', ...key, ...caps)
    assert.partialDeepStrictEqual(made as object, {
      group: { name: 'shop' },
      window: { budget: '0.5', period: 'day' },
      model_budgets: [{ model: 'sandbox-chat', budget: '0.2', period: 'week' }],
    })
    await json('keys', 'create', '--name', 'bot', ...key, '--environment', 'test')
    const unclear = await call('keys', 'show', 'bot')
    assert.deepEqual([unclear.code, unclear.stdout], [1, ''])
    assert.match(unclear.stderr, /several keys are named "bot": write GROUP\/NAME/)
    assert.equal((await json('keys', 'show', 'shop/bot'))['id'], made['id'])
    const names = async (...filter: string[]) =>
      ((await json('keys', 'list', ...filter))['keys'] as unknown as { group: unknown }[]).length
    assert.deepEqual(
      [
        await names('--group', 'shop'),
        await names('--group', 'none', '--environment', 'test'),
        await names('--group', 'search'),
      ],
      [1, 1, 0],
    )
    const moved = await json('keys', 'update', 'shop/bot', '--group', 'search')
    assert.equal(moved['group']?.['name'], 'search')
    const bare = ['--model-budget', 'sandbox-chat=none', '--window', 'none'] as const
    assert.deepEqual((await json('keys', 'update', 'search/bot', ...bare))['model_budgets'], [])
    const { stderr } = await call('groups', 'update', 'search', '--models', 'sandbox-embedding')
    assert.match(stderr, /these keys can call nothing now.*: bot/)
  })

  test('a group and its window are topped up and reset', async () => {
    await json('groups', 'create', '--name', 'topped', '--budget', '5', '--window', '1/day')
    const amount = ['--amount', '2', '--reason', 'a sale'] as const
    const main = await json('ledger', 'top-up', 'topped', ...amount)
    const window = await json('ledger', 'top-up', 'topped', '--window', ...amount)
    assert.deepEqual(
      [main['remaining'], window['remaining'], window['window']?.['remaining']],
      ['7', '7', '3'],
    )
    const reset = await json('ledger', 'reset', 'topped', '--window', '--reason', 'a test')
    assert.equal(reset['window']?.['remaining'], '1')
    await json('keys', 'create', '--name', 'topped', ...key)
    const both = await call('ledger', 'reset', 'topped', '--reason', 'a test')
    assert.equal(both.code, 1)
    assert.match(both.stderr, /a key and a group are both named "topped"/)
    await json('keys', 'create', '--name', 'topped', '--group', 'topped', ...key)
    const three = await call('ledger', 'reset', 'topped', '--reason', 'a test')
    assert.equal(three.code, 1)
    assert.match(three.stderr, /several keys are named "topped"/)
  })

  test('members are added, listed and removed', async () => {
    const add = ['users', 'create', '--email', 'ann@example.com', '--role', 'Viewer']
    assert.equal((await call(...add)).code, 0)
    const person = ['search', 'ann@example.com'] as const
    await json('groups', 'members', 'add', ...person, '--role', 'Manager')
    const { stdout } = await call('groups', 'members', 'list', 'search')
    assert.match(stdout, /\nann@example\.com +- +Manager/)
    assert.deepEqual((await json('groups', 'members', 'remove', ...person))['members'], [])
  })

  test('what members ask for is listed, granted, and declined with a reason', async () => {
    const list = ['groups', 'wishes', 'list'] as const
    assert.equal((await call(...list)).stdout, 'There is nothing to decide.\n')
    const ids = await wishesOf('ann@example.com', ['first', 'second'])
    const { stdout } = await call(...list)
    assert.match(stdout, /\nwish_\w+ +search\/first +ann@example\.com +30 USD +why +/)
    const granted = await json('groups', 'wishes', 'grant', ids[0] ?? '', '--budget', '25')
    assert.equal(granted['state'], 'granted')
    assert.equal((await json('keys', 'show', 'search/first'))['budget'], '25')
    const decline = ['groups', 'wishes', 'decline', ids[1] ?? ''] as const
    assert.equal((await call(...decline)).code, 2)
    const declined = await json(...decline, '--reason', 'not this month')
    assert.equal(declined['decision']?.['reason'], 'not this month')
    const again = await call('groups', 'wishes', 'grant', ids[1] ?? '')
    assert.deepEqual([again.code, again.stdout], [1, ''])
    assert.match(
      (await call(...list, '--decided')).stdout,
      /granted[^]*declined|declined[^]*granted/,
    )
  })

  /** Asked for as its owner does, which no command can. */
  async function wishesOf(email: string, names: readonly string[]): Promise<readonly string[]> {
    const url = `sqlite:${join(folder, 'groups.db')}`
    const store = await openStore(url, { clock: systemClock, purpose: 'change' })
    try {
      const person = await findPerson(store.db, { email })
      assert.ok(person)
      const group = await findGroup(store, 'search')
      const ids: string[] = []
      for (const name of names) {
        const settings = { name, models: ['sandbox-chat'], limitNanodollars: 1_000_000_000n }
        const owned = { ownerPersonId: person.id, legs: { groupId: group.id } }
        const { key: made } = await createKey(store, { ...settings, ...owned })
        const wanted = { limitNanodollars: 30_000_000_000n }
        const wish = await addWish(store, { keyId: made.id, person, wanted, reason: 'why' })
        ids.push(wish.id)
      }
      return ids
    } finally {
      await store.close()
    }
  }

  test('what is wrong is said at once, in a line each, and nothing is changed', async () => {
    const wrong = await call(
      ...['keys', 'create', '--name', 'wrong', ...key, '--group', 'nowhere', '--window', '1/month'],
      ...['--model-budget', 'typo=1/day', '--request-cost-max', '0', '--timezone', 'Mars'],
    )
    assert.equal(wrong.code, 2)
    assert.equal(wrong.stderr.trimEnd().split('\n').length, 5, wrong.stderr)
    for (const why of [/no such group/, /another period/, /"typo"/, /above 0/, /time zone/])
      assert.match(wrong.stderr, why)
    const unreadable = await call(
      ...['keys', 'create', '--name', 'wrong', '--budget', '-1', '--period', 'decade'],
      ...['--window', '-1/day', '--window', '1', '--model-budget', 'x', '--rpm', '0'],
      ...['--request-cost-max', '0.0000000001', '--expires', '2027-02-30'],
    )
    assert.deepEqual([unreadable.code, unreadable.stdout], [2, ''])
    const fields = unreadable.stderr
      .trimEnd()
      .split('\n')
      .map((line) => /--[a-z-]+/.exec(line)?.[0])
    assert.deepEqual(fields, [
      ...['--budget', '--period', '--window', '--window', '--model-budget', '--rpm'],
      ...['--request-cost-max', '--expires', '--models'],
    ])
    const caps = ['--model-budget', 'sandbox-chat=1/day', '--model-budget', 'sandbox-chat=2/day']
    const more = ['--timezone', 'Mars', '--expires', '2020-01-01'] as const
    const twice = await call('keys', 'create', '--name', 'wrong', ...key, ...caps, ...more)
    assert.equal(twice.code, 2)
    for (const why of [/two budgets/, /time zone/, /in the past/]) assert.match(twice.stderr, why)
    assert.equal((await call('keys', 'show', 'wrong')).code, 1)
  })
})
