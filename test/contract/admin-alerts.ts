// The admin API's contract for alerts: sent once, signed, retried, on record. Run by test/contract/admin.test.ts.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { AlertWatch } from '../../src/admin/alerts/watch.ts'
import { NO_COST } from '../../src/catalog/worst-case.ts'
import { objectOf } from '../../src/core/json.ts'
import { listDeliveries } from '../../src/store/alerts/alerts.ts'
import { ThresholdScan, giveAlerts } from '../../src/store/alerts/give.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { findKey } from '../../src/store/keys/keys.ts'
import { openTestAdmin, type TestAdmin, type Json } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'
import { until } from '../support/until.ts'

/** Like the paths of Slack and Teams: anyone who knows it can post there. */
const PATH = '/hook/T0123456/known-to-few'

/** The time after which a slow webhook is given up. */
const ATTEMPT_MS_MAX = 15_000

function nextMonth(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toUTCString()
}

let named = 0

/** A new webhook, with a name of its own. */
function hookAt(url: string) {
  return { kind: 'webhook', name: `hook ${++named}`, url }
}

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string }

export function adminAlertsContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  let watches: readonly AlertWatch[] = []
  let url = ''
  /** The status of the webhook receiver's next answer. */
  let status = 200
  const received: Received[] = []
  const receiver = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      received.push({ headers: message.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
  })

  before(async () => {
    admin = await openTestAdmin(fresh)
    const { store, log, alerts: sender } = admin.parts
    // Two nodes over one database.
    watches = [new AlertWatch({ store, log, sender }), new AlertWatch({ store, log, sender })]
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${PATH}`
  })
  after(async () => {
    for (const watch of watches) await watch.stop()
    receiver.close()
    await admin[Symbol.asyncDispose]()
  })

  const spend = async (keyId: string): Promise<void> => {
    const { body } = await admin.call('POST', `/keys/${keyId}/test`, { body: {} })
    assert.equal(body['passes'], true)
  }
  const lookAll = async (): Promise<void> => {
    await Promise.all(watches.map((watch) => watch.look()))
  }
  /** Spends, and lets both nodes notice it. */
  const spendAndLook = async (keyId: string): Promise<void> => {
    await spend(keyId)
    const balances = await admin.parts.flow.ledger.balances(keyId)
    assert.ok(balances)
    for (const { settled } of watches)
      settled.set(keyId, balances.key).set(FRAME_ID, balances.frame)
    await lookAll()
  }
  /** The alert text after one call with a key of newKey. */
  const spentText = (name: string): string =>
    `The key "${name}" has spent 0.000012 of 0.0011 USD. The budget resets on ${nextMonth()}.`
  const deliveries = async (): Promise<Json[]> =>
    (await admin.call('GET', '/alerts/deliveries')).body['deliveries'] as unknown as Json[]
  const alertsOf = async (keyId: string): Promise<Json[]> =>
    (await admin.call('GET', `/keys/${keyId}/alerts`)).body['alerts'] as unknown as Json[]
  const newKey = async (name: string): Promise<string> => {
    // A test call costs 0.000012 USD, and its worst case must fit in the budget.
    const body = { name, models: ['sandbox-chat'], budget: '0.0011' }
    return (await admin.call('POST', '/keys', { body })).body['id'] ?? ''
  }
  const setBudget = async (keyId: string, budget: string): Promise<void> => {
    const { headers } = await admin.call('GET', `/keys/${keyId}`)
    const version = { 'if-match': headers.get('etag') ?? '' }
    const { status: done } = await admin.call('PATCH', `/keys/${keyId}`, {
      ...{ body: { budget }, headers: version },
    })
    assert.equal(done, 200)
  }

  describe('alerts', () => {
    let secret = ''
    let destination = ''

    test('a new destination shows its signing secret once', async () => {
      const { status: made, body } = await admin.call('POST', '/alerts/destinations', {
        body: hookAt(url),
      })
      assert.equal(made, 201)
      secret = body['secret'] ?? ''
      destination = body['id'] ?? ''
      assert.match(secret, /^whsec_/)
      const { text } = await admin.call('GET', '/alerts/destinations')
      assert.equal(text.includes(secret), false)
    })

    test('only the host and the end of a destination’s address are shown', async () => {
      const { origin } = new URL(url)
      for (const path of ['/alerts/destinations', `/audit?subject_id=${destination}`]) {
        const answer = await admin.call('GET', path)
        assert.ok(answer.text.includes(`${origin}/…-few`), answer.text)
        assert.doesNotMatch(answer.text, /T0123456|known-to/)
      }
    })

    for (const body of [
      { kind: 'webhook', name: 'x', url: 'ftp://example.com' },
      { kind: 'webhook', name: 'x', url: 'nonsense' },
      { kind: 'webhook', name: 'x', url: 'https://ann:secret@example.com/hook' },
      { kind: 'webhook', name: 'x', url: 'https://example.com/\0' },
      { kind: 'webhook', url: 'https://example.com/no-name' },
      { kind: 'webhook', name: ' ', url: 'https://example.com/blank-name' },
      { kind: 'email', name: 'x', to: 'nobody' },
      { kind: 'email', name: 'x', to: 'ops@example.com', kinds: [] },
      { kind: 'email', name: 'x', to: 'ops@example.com', kinds: ['weather'] },
      {
        kind: 'email',
        name: 'x',
        to: 'ops@example.com',
        groups: ['grp_00000000000000000000000000'],
      },
      { kind: 'pigeon', name: 'x' },
    ])
      test(`${JSON.stringify(body)} is refused as a destination`, async () => {
        assert.equal((await admin.call('POST', '/alerts/destinations', { body })).status, 400)
      })

    test('a passed threshold is reported once, whichever node saw it, with a signature the hook can check', async () => {
      const id = await newKey('alerting')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1, 90] } })
      for (const watch of watches) await watch.look()
      await spendAndLook(id)
      await spendAndLook(id)
      assert.equal(received.length, 1)
      const [hook] = received
      const [, seconds = '', signature = ''] =
        /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(hook?.headers['tollgate-signature'])) ?? []
      const expected = createHmac('sha256', secret).update(`${seconds}.${hook?.body}`)
      assert.equal(signature, expected.digest('hex'))
      assert.partialDeepStrictEqual(JSON.parse(hook?.body ?? ''), {
        type: 'budget.threshold_reached',
        text: spentText('alerting'),
        scope: 'key',
        key: { id, name: 'alerting' },
        threshold: 1,
        limit: '0.0011',
      })
      assert.equal((await alertsOf(id)).length, 1)
      const address = `${new URL(url).origin}/…-few`
      const delivered = { state: 'delivered', attempts: 1, address }
      assert.partialDeepStrictEqual((await deliveries())[0], delivered)
    })

    test('only the highest of several thresholds passed at once is reported', async () => {
      const id = await newKey('jumping')
      const count = received.length
      for (let calls = 0; calls < 3; calls++) await spend(id)
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1, 2, 3, 1] } })
      await lookAll()
      assert.equal(received.length, count + 1)
      assert.equal((JSON.parse(received.at(-1)?.body ?? '') as Json)['threshold'], 3)
      // The key's page shows the first of these as its latest alert.
      const given = (await alertsOf(id)).map((alert) => alert['threshold'])
      assert.deepEqual(given, [3, 2, 1])
    })

    test('a threshold that no settlement crossed is still found, and reported once', async () => {
      const id = await newKey('unseen')
      await spend(id)
      const { headers } = await admin.call('GET', `/keys/${id}`)
      const count = received.length
      await admin.call('PATCH', `/keys/${id}`, {
        body: { budget: '0.000015' },
        headers: { 'if-match': String(headers.get('etag')) },
      })
      await lookAll()
      await lookAll()
      assert.equal(received.length, count + 1)
      assert.deepEqual(
        (await alertsOf(id)).map((alert) => alert['threshold']),
        [80, 50],
      )
    })

    test('a scan checks a part of the accounts at a time, and all of them in each round', async () => {
      // On its own database, so that no other scan runs as well.
      await using alone = await openTestAdmin(fresh)
      const account = (id: string, spent: bigint) => ({
        ...{ id, limit_nanodollars: 1_000n, spent_nanodollars: spent, period_ends_at: null },
        ...{ period: 'never' as const, timezone: 'UTC', week_start: 'mon' as const },
      })
      const { db } = alone.store
      const accounts = [account('a', 500n), account('b', 490n), account('c', 0n), account('d', 10n)]
      const ended = { ...account('e', 900n), period_ends_at: 1 }
      const unlimited = { ...account('f', 900n), limit_nanodollars: null }
      const rows = [...accounts, ended, unlimited, account('g', 2_000n)]
      await db.insertInto('accounts').values(rows).execute()
      await db.insertInto('alert_rules').values({ account_id: 'd', thresholds: '[1]' }).execute()
      const count = rows.length + 1 // the frame
      for (const accountsAtOnce of [1, 2, 3, count, 100]) {
        const scan = new ThresholdScan(alone.store, accountsAtOnce)
        for (const round of ['first', 'second']) {
          const found: string[] = []
          for (let looked = 0; looked <= count - (count % accountsAtOnce); looked += accountsAtOnce)
            found.push(...(await scan.next()))
          assert.deepEqual(found, ['a', 'd', 'g'], `${accountsAtOnce} at a time, ${round} round`)
        }
      }
      await giveAlerts(alone.store, ['a', 'd'])
      assert.deepEqual(await new ThresholdScan(alone.store).next(), ['g'])
    })

    test('a watch that stops first gives the alerts it noticed', async () => {
      const { store, log, alerts: sender } = admin.parts
      const watch = new AlertWatch({ store, log, sender })
      const id = await newKey('noticed last')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
      await watch.look()
      await spend(id)
      const balances = await admin.parts.flow.ledger.balances(id)
      assert.ok(balances)
      watch.settled.set(id, balances.key)
      await watch.stop()
      assert.equal((await alertsOf(id)).length, 1)
    })

    test('a new period gives alerts again', async () => {
      const id = await newKey('renewed')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
      for (const watch of watches) await watch.look()
      await spendAndLook(id)
      await admin.call('POST', `/keys/${id}/reset-spend`, { body: { reason: 'a test' } })
      const empty = await admin.parts.flow.ledger.balances(id)
      assert.ok(empty)
      for (const { settled } of watches) settled.set(id, empty.key)
      await lookAll()
      await spendAndLook(id)
      assert.equal((await alertsOf(id)).length, 2)
    })

    test('a threshold no longer reached after a higher limit or a top-up is reported when reached again', async () => {
      const id = await newKey('raised')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
      await spendAndLook(id)
      const limits = async () => (await alertsOf(id)).map((alert) => alert['limit'])
      assert.deepEqual(await limits(), ['0.0011'])
      await setBudget(id, '0.005')
      await spendAndLook(id)
      assert.deepEqual(await limits(), ['0.0011'])
      await spendAndLook(id)
      assert.deepEqual(await limits(), ['0.005', '0.0011'])
      // The threshold is still reached and was already reported.
      await setBudget(id, '0.0051')
      await spendAndLook(id)
      assert.deepEqual(await limits(), ['0.005', '0.0011'])
      const body = { amount: '0.009', reason: 'a test' }
      await admin.call('POST', `/keys/${id}/top-up`, { body })
      await spendAndLook(id)
      assert.deepEqual(await limits(), ['0.005', '0.0011'])
      await spendAndLook(id)
      assert.deepEqual(await limits(), ['0.0141', '0.005', '0.0011'])
    })

    test('a key’s name can neither mention anybody in a chat nor be a link', async () => {
      const id = await newKey('<!channel> <https://example.com|sign in> & co')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
      for (const watch of watches) await watch.look()
      await spendAndLook(id)
      const told = JSON.parse(received.at(-1)?.body ?? '') as Json
      const shown = '&lt;!channel&gt; &lt;https://example.com|sign in&gt; &amp; co'
      assert.equal(told['text'], spentText(shown))
      assert.deepEqual(told['key'], { id, name: '<!channel> <https://example.com|sign in> & co' })
    })

    test('a failed hook is retried later, and its answer is kept', async () => {
      status = 500
      const id = await newKey('failing')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
      for (const watch of watches) await watch.look()
      await spendAndLook(id)
      status = 200
      const [delivery] = await deliveries()
      assert.partialDeepStrictEqual(delivery, {
        state: 'waiting',
        attempts: 1,
        result: 'answered 500',
      })
      assert.ok(Date.parse(String(delivery?.['next_attempt_at'])) > Date.now())
    })

    describe('calls refused for the budget', () => {
      /** Makes both nodes refuse the key: the remaining budget is below the worst case. */
      const refuse = async (keyId: string, times = 2): Promise<void> => {
        const { allowVersion, groupId, groupVersion } = await findKey(admin.parts.store, keyId)
        const group = { groupId, groupVersion }
        for (const watch of watches)
          for (let time = 0; time < times; time++) {
            const answer = await admin.parts.flow.ledger.reserve({
              requestId: `req_refused_${time}`,
              ...{ keyId, ...group, allowVersion, endpoint: 'chat', modelAsked: 'sandbox-chat' },
              candidates: [{ ...NO_COST, fixedPicodollars: 2_000_000_000n }],
              whenTight: 'refuse',
              estimatedTokens: 1,
              recounted: true,
            })
            assert.ok(!answer.reserved && answer.reason === 'budget')
            const asked = { keyId, groupId, endpoint: 'chat', modelAsked: 'sandbox-chat' } as const
            watch.noticeRefused(asked, answer.shortage)
          }
        await lookAll()
      }

      test('are reported once, before any threshold is reached', async () => {
        const id = await newKey('refusing')
        await spend(id)
        const count = received.length
        await refuse(id)
        await refuse(id)
        assert.equal(received.length, count + 1)
        assert.partialDeepStrictEqual(JSON.parse(received.at(-1)?.body ?? ''), {
          type: 'budget.calls_refused',
          text: `A call that could cost 0.002 USD was refused, because 0.001088 USD is left. ${spentText('refusing')}`,
          scope: 'key',
          key: { id, name: 'refusing' },
          required: '0.002',
          spent: '0.000012',
          limit: '0.0011',
        })
        const [alert, ...more] = await alertsOf(id)
        const refused = { kind: 'refused', key: id, required: '0.002', limit: '0.0011' }
        assert.partialDeepStrictEqual(alert, refused)
        assert.deepEqual(more, [])
      })

      const groupAlerts = async (groupId: string): Promise<Json[]> =>
        (await deliveries())
          .map(({ alert }) => alert as unknown as Json)
          .filter(({ group }) => (group as Json | null)?.['id'] === groupId)

      test('are reported for the group that has no room, and for its window by itself', async () => {
        const window = { budget: '0.0015', period: 'day' }
        const group = { name: 'search', budget: '0.0011', window }
        const { body } = await admin.call('POST', '/groups', { body: group })
        const groupId = body['id'] ?? ''
        const settings = { name: 'in a group', models: ['sandbox-chat'], budget: '5' }
        const made = await admin.call('POST', '/keys', { body: { ...settings, group: groupId } })
        const id = made.body['id'] ?? ''
        await refuse(id)
        const [alert, ...more] = await groupAlerts(groupId)
        assert.partialDeepStrictEqual(alert, {
          ...{ kind: 'refused', scope: 'group', key: null, limit: '0.0011' },
          group: { id: groupId, name: 'search' },
        })
        assert.deepEqual(more, [])
        assert.match(
          received.at(-1)?.body ?? '',
          /The group \\"search\\" has spent 0 of 0\.0011 USD/,
        )
        const { headers } = await admin.call('GET', `/groups/${groupId}`)
        const version = { 'if-match': headers.get('etag') ?? '' }
        await admin.call('PATCH', `/groups/${groupId}`, { body: { budget: '9' }, headers: version })
        await refuse(id)
        const [about] = await groupAlerts(groupId)
        assert.partialDeepStrictEqual(about, {
          kind: 'refused',
          limit: '0.0015',
          required: '0.002',
        })
        assert.deepEqual(await alertsOf(id), [])
      })

      test('leave the thresholds to be reported later', async () => {
        const id = await newKey('refusing early')
        await refuse(id)
        await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
        for (const watch of watches) await watch.look()
        await spendAndLook(id)
        assert.deepEqual(
          (await alertsOf(id)).map(({ kind }) => kind),
          ['budget', 'refused'],
        )
      })

      test('are reported again after a higher limit', async () => {
        const id = await newKey('refusing twice')
        await refuse(id)
        await setBudget(id, '0.0012')
        for (const watch of watches) await watch.stop()
        const { store, log, alerts: sender } = admin.parts
        watches = watches.map(() => new AlertWatch({ store, log, sender }))
        await refuse(id)
        assert.deepEqual(
          (await alertsOf(id)).map(({ limit }) => limit),
          ['0.0012', '0.0011'],
        )
      })

      test('are not reported if alerts are off or the limit is already reported as spent', async () => {
        const count = received.length
        const silent = await newKey('unspoken')
        await admin.call('PUT', `/keys/${silent}/alerts`, { body: { thresholds: [] } })
        await refuse(silent)
        assert.equal(received.length, count)
        const spent = await newKey('spent')
        await spend(spent)
        await setBudget(spent, '0.000012')
        await refuse(spent)
        assert.equal(received.length, count + 1)
        assert.deepEqual(
          (await alertsOf(spent)).map(({ threshold }) => threshold),
          [100, 80, 50],
        )
      })
    })

    test('mail goes to its recipient, with a subject of one line', async () => {
      const body = { kind: 'email', name: 'operators', to: 'ops@example.com' }
      await admin.call('POST', '/alerts/destinations', { body })
      const id = await newKey('mailed\nSubject: fake')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
      for (const watch of watches) await watch.look()
      await spendAndLook(id)
      assert.equal(admin.mails.length, 1)
      assert.equal(admin.mails[0]?.to, 'ops@example.com')
      assert.doesNotMatch(admin.mails[0]?.subject ?? '', /\n/)
    })

    test('alert thresholds are settings of the key: checked, shown and on record', async () => {
      const settings = { alert_thresholds: [90, 60, 90], expiry_reminders: [2, 14] }
      const created = await admin.call('POST', '/keys', {
        body: { name: 'alert settings', models: [], budget: '1', ...settings },
      })
      const { id } = created.body
      const own = { alert_thresholds: [60, 90], expiry_reminders: [14, 2] }
      assert.partialDeepStrictEqual(created.body, own)
      assert.deepEqual((await admin.call('GET', `/keys/${id}/alerts`)).body['thresholds'], [60, 90])
      const change = { alert_thresholds: [50, 80, 100], expiry_reminders: [] }
      const ifMatch = { 'if-match': String(created.headers.get('etag')) }
      const changed = await admin.call('PATCH', `/keys/${id}`, { body: change, headers: ifMatch })
      assert.partialDeepStrictEqual(changed.body, change)
      assert.equal((await admin.call('GET', `/keys/${id}/alerts`)).body['own'], false)
      const { body } = await admin.call('GET', `/audit?subject_id=${id}`)
      assert.deepEqual((body['entries'] as unknown as Json[])[0]?.['fields'], [
        { field: 'alert_thresholds', before: [60, 90], after: [50, 80, 100] },
        { field: 'expiry_reminders', before: [14, 2], after: [] },
      ])
      for (const [field, wrong] of [
        ['alert_thresholds', [0]],
        ['alert_thresholds', [1.5]],
        ['expiry_reminders', [366]],
      ] as const) {
        const headers = { 'if-match': String(changed.headers.get('etag')) }
        const refused = await admin.call('PATCH', `/keys/${id}`, {
          body: { [field]: wrong },
          headers,
        })
        assert.equal(refused.status, 400)
        assert.match(refused.text, new RegExp(field))
      }
    })

    describe('before a key expires', () => {
      const DAY_MS = 86_400_000
      const expires = Date.now() + 20 * DAY_MS

      /** Lets both nodes look, this many days from now. */
      const lookAfter = async (days: number): Promise<void> => {
        const { store, log, alerts: sender } = admin.parts
        const later = { ...store, clock: { ...store.clock, now: () => Date.now() + days * DAY_MS } }
        const nodes = [1, 2].map(() => new AlertWatch({ store: later, log, sender }))
        await Promise.all(nodes.map((node) => node.look()))
        for (const node of nodes) await node.stop()
      }
      const newExpiring = async (name: string, more: object = {}): Promise<string> => {
        const expires_at = new Date(expires).toISOString()
        const body = { name, models: [], budget: '1', expires_at, ...more }
        return (await admin.call('POST', '/keys', { body })).body['id'] ?? ''
      }
      const told = async (id: string): Promise<readonly unknown[]> =>
        (await alertsOf(id)).map((one) => one['days_before'])

      test('a reminder is sent once on each chosen day', async () => {
        const id = await newExpiring('expiring', { expiry_reminders: [30, 14, 2] })
        await lookAfter(5)
        assert.deepEqual(await told(id), [], 'a day that had passed when it was chosen is none')
        await lookAfter(6.5)
        await lookAfter(7)
        assert.deepEqual(await told(id), [14])
        const hooks = received.map(({ body }) => JSON.parse(body) as Json)
        assert.partialDeepStrictEqual(
          hooks.findLast(({ type }) => type === 'key.expires_soon'),
          {
            text: `The key "expiring" stops working on ${new Date(expires).toUTCString()}. Give it a later expiry if it is still needed.`,
            scope: 'key',
            key: { id, name: 'expiring' },
            days_before: 14,
            expires_at: new Date(expires).toISOString(),
          },
        )
        const subjects = admin.mails.map(({ subject }) => subject)
        assert.ok(subjects.includes('Tollgate: The key "expiring" expires within 14 days'))
        await lookAfter(18.5)
        assert.deepEqual(await told(id), [2, 14])
      })

      test('only the nearest of several reminders missed in an outage is sent', async () => {
        const id = await newExpiring('late', { expiry_reminders: [10, 9, 8] })
        await lookAfter(13)
        assert.deepEqual(await told(id), [8])
      })

      test('a later expiry is announced again, and a revoked or expired key never', async () => {
        const moved = await newExpiring('moved', { expiry_reminders: [10] })
        const revoked = await newExpiring('revoked early', { expiry_reminders: [10] })
        const expired = await newExpiring('expired unseen', { expiry_reminders: [10] })
        await admin.call('POST', `/keys/${revoked}/revoke`, { body: { reason: 'a test' } })
        await lookAfter(21)
        assert.deepEqual(await told(revoked), [])
        assert.deepEqual(await told(expired), [])
        const expires_at = new Date(expires + 100 * DAY_MS).toISOString()
        const { headers } = await admin.call('GET', `/keys/${moved}`)
        await admin.call('PATCH', `/keys/${moved}`, {
          body: { expires_at },
          headers: { 'if-match': String(headers.get('etag')) },
        })
        await lookAfter(111)
        assert.deepEqual(await told(moved), [10])
      })

      test('the default days apply if none were chosen', async () => {
        const id = await newExpiring('usual days')
        assert.deepEqual(
          (await admin.call('GET', `/keys/${id}`)).body['expiry_reminders'],
          [30, 10, 1],
        )
        await lookAfter(10.5)
        assert.deepEqual(await told(id), [10])
      })
    })

    test('an empty list of thresholds gives no alerts, and null restores the defaults', async () => {
      const id = await newKey('silent')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [] } })
      for (const watch of watches) await watch.look()
      await spendAndLook(id)
      assert.deepEqual(await alertsOf(id), [])
      const { body } = await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: null } })
      assert.deepEqual([body['thresholds'], body['own']], [[50, 80, 100], false])
    })

    test('concurrent changes to the thresholds of the frame all succeed', async () => {
      const thresholds = [10, 20, 30, 40, 50, 60, 70, 90]
      const answers = await Promise.all(
        thresholds.map((one) =>
          admin.call('PUT', '/frame/alerts', { body: { thresholds: [one] } }),
        ),
      )
      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]))
      await admin.call('PUT', '/frame/alerts', { body: { thresholds: null } })
    })

    test('one of several concurrent removals of a destination succeeds', async () => {
      const hook = hookAt(url)
      const { body } = await admin.call('POST', '/alerts/destinations', { body: hook })
      const path = `/alerts/destinations/${body['id']}`
      const answers = await Promise.all(Array.from({ length: 6 }, () => admin.call('DELETE', path)))
      const statuses = answers.map((answer) => answer.status)
      assert.deepEqual(
        statuses.toSorted((one, other) => one - other),
        [200, 404, 404, 404, 404, 404],
      )
      const audit = await admin.call('GET', `/audit?action=alert.delete&subject_id=${body['id']}`)
      assert.equal((audit.body['entries'] as unknown as Json[]).length, 1)
    })

    test('a destination that never answers delays no other, however much is due to it', async () => {
      const seen: string[] = []
      const silent = createServer((_, response) => {
        seen.push('asked')
        response.once('close', () => seen.push('given up'))
      })
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
      const { port } = silent.address() as AddressInfo
      const { body } = await admin.call('POST', '/alerts/destinations', {
        body: hookAt(`http://127.0.0.1:${port}/`),
      })
      const [known] = await deliveries()
      const due = (index: number, to: string) => ({
        ...{ id: `dlv_00${index}`, alert_id: objectOf(known?.['alert'])['id'] as string },
        ...{ destination_id: to, address: 'x', state: 'waiting' as const, attempt_count: 0 },
        next_attempt_at: index,
      })
      const rows = Array.from({ length: 60 }, (_, index) => due(index, body['id'] ?? ''))
      await admin.store.db
        .insertInto('alert_deliveries')
        .values([...rows, due(60, destination)])
        .execute()
      const count = received.length
      receiver.once('request', () => seen.push('delivered'))
      const looking = Promise.all(watches.map((watch) => watch.look()))
      await until(() => received.length > count)
      assert.equal(seen.includes('given up'), false, String(seen))
      silent.closeAllConnections()
      silent.close()
      await looking
      await admin.call('DELETE', `/alerts/destinations/${body['id']}`)
    })

    test('deliveries waiting for a disabled destination are not sent', async () => {
      const hook = hookAt(url)
      const { body } = await admin.call('POST', '/alerts/destinations', { body: hook })
      const path = `/alerts/destinations/${body['id']}`
      const id = await newKey('switched off')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
      for (const watch of watches) await watch.look()
      status = 500
      await spendAndLook(id)
      status = 200
      const toHook = async (): Promise<Json | undefined> =>
        (await deliveries()).find(
          (one) => one['destination'] === body['id'] && (one['alert'] as Json)['key'] === id,
        )
      assert.equal((await toHook())?.['state'], 'waiting')
      await admin.call('PATCH', path, { body: { enabled: false } })
      await admin.store.db.updateTable('alert_deliveries').set({ next_attempt_at: 1 }).execute()
      for (const watch of watches) await watch.look()
      assert.partialDeepStrictEqual(await toHook(), {
        state: 'failed',
        result: 'the destination was switched off',
        reason: 'destination_off',
      })
      await admin.call('DELETE', path)
    })

    test('the last attempt of a delivery is made by one node alone', async () => {
      const nextIn: number[] = []
      const slow = createServer((_, response) => {
        const next = admin.store.db
          .selectFrom('alert_deliveries')
          .select('next_attempt_at')
          .where('id', '=', 'dlv_last')
          .executeTakeFirstOrThrow()
        void next.then(({ next_attempt_at: at }) => {
          nextIn.push((at ?? 0) - Date.now())
          response.end()
        })
      })
      await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
      const { port } = slow.address() as AddressInfo
      const hook = hookAt(`http://127.0.0.1:${port}/`)
      const { body } = await admin.call('POST', '/alerts/destinations', { body: hook })
      const [known] = await deliveries()
      const last = {
        ...{ id: 'dlv_last', alert_id: objectOf(known?.['alert'])['id'] as string },
        ...{ destination_id: body['id'] ?? '', address: 'x', state: 'waiting' as const },
        ...{ attempt_count: 7, next_attempt_at: 1 },
      }
      await admin.store.db.insertInto('alert_deliveries').values(last).execute()
      await lookAll()
      slow.close()
      assert.equal(nextIn.length, 1)
      assert.ok((nextIn[0] ?? 0) > ATTEMPT_MS_MAX, `${nextIn[0]} ms`)
      await admin.call('DELETE', `/alerts/destinations/${body['id']}`)
    })

    test('deliveries to a removed destination are given up, even while being sent', async () => {
      let path = ''
      const leaving = createServer((_, response) => {
        void admin.call('DELETE', path).then(() => response.writeHead(500).end())
      })
      await new Promise<void>((resolve) => leaving.listen(0, '127.0.0.1', resolve))
      const { port } = leaving.address() as AddressInfo
      const hook = hookAt(`http://127.0.0.1:${port}/`)
      const { body } = await admin.call('POST', '/alerts/destinations', { body: hook })
      path = `/alerts/destinations/${body['id']}`
      const id = await newKey('given up')
      await admin.call('PUT', `/keys/${id}/alerts`, { body: { thresholds: [1] } })
      for (const watch of watches) await watch.look()
      await spendAndLook(id)
      leaving.close()
      const delivery = (await deliveries()).find((one) => one['destination'] === body['id'])
      assert.partialDeepStrictEqual(delivery, { state: 'failed', reason: 'destination_removed' })
    })

    test('a destination can be tested, and its changes are on record', async () => {
      const { body: tried } = await admin.call('POST', `/alerts/destinations/${destination}/test`)
      assert.deepEqual(tried, { delivered: true, result: 'answered 200' })
      await admin.call('PATCH', `/alerts/destinations/${destination}`, { body: { enabled: false } })
      await admin.call('DELETE', `/alerts/destinations/${destination}`)
      const gone = await admin.call('DELETE', `/alerts/destinations/${destination}`)
      assert.equal(gone.status, 404)
      const { body } = await admin.call('GET', `/audit?subject_id=${destination}`)
      const actions = (body['entries'] as unknown as { action: string }[]).map((one) => one.action)
      assert.deepEqual(actions, ['alert.delete', 'alert.change', 'alert.create'])
      assert.doesNotMatch(JSON.stringify(body), /known-to/)
    })

    test('a cloud’s metadata address is refused, and not called even if it is stored', async () => {
      for (const address of [
        'http://169.254.169.254/latest',
        'https://[fd00:ec2::254]/',
        'http://0xa9fea9fe',
      ]) {
        const body = hookAt(address)
        const refused = await admin.call('POST', '/alerts/destinations', { body })
        assert.equal(refused.status, 400)
        assert.partialDeepStrictEqual(refused.body['error'], {
          field: 'url',
          reason: 'webhook_metadata',
        })
      }
      const { alerts: sender } = admin.parts
      const [delivery] = await listDeliveries(admin.store, { limit: 1 })
      assert.ok(delivery)
      const inside = { kind: 'webhook', address: 'http://169.254.169.254/latest' } as const
      const destination = { ...inside, id: 'dest_inside', enabled: true, createdAt: 0 }
      await assert.rejects(sender.send(destination, delivery.alert), /metadata service/)
    })

    test('a redirect is not followed', async () => {
      const body = hookAt(url)
      const { id } = (await admin.call('POST', '/alerts/destinations', { body })).body
      const count = received.length
      status = 307
      const { body: tried } = await admin.call('POST', `/alerts/destinations/${id}/test`)
      status = 200
      assert.deepEqual(tried, { delivered: false, result: 'answered 307' })
      assert.equal(received.length, count + 1)
      await admin.call('DELETE', `/alerts/destinations/${id}`)
    })

    test('the test of an unreachable hook says what went wrong', async () => {
      const { body } = await admin.call('POST', '/alerts/destinations', {
        // Nothing listens on port 1.
        body: hookAt('http://127.0.0.1:1/hook'),
      })
      const { body: tried } = await admin.call('POST', `/alerts/destinations/${body['id']}/test`)
      assert.equal(tried['delivered'], false)
      assert.match(String(tried['result']), /^the connection was refused: .*\(127\.0\.0\.1\)$/)
      assert.equal(tried['reason'], 'webhook_refused')
      assert.deepEqual(tried['values'], { host: '127.0.0.1' })
      await admin.call('DELETE', `/alerts/destinations/${body['id']}`)
    })
  })
}
