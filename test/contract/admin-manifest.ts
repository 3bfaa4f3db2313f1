// The admin API's contract for manifests, on any database: run by test/contract/admin.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newSecret } from '../../src/core/secret.ts'
import { findKey, findKeyBySecretHash } from '../../src/store/keys/keys.ts'
import { updateKey } from '../../src/store/keys/lifecycle.ts'
import { secretOf } from '../../src/store/keys/secrets.ts'
import { openTestAdmin, type Answer, type TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

type Step = { action: string; subject: string; name: string; fields: { field: string }[] }

export function adminManifestContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  before(async () => {
    admin = await openTestAdmin(fresh)
  })
  after(() => admin[Symbol.asyncDispose]())

  const send = (manifest: object, more: object = {}): Promise<Answer> =>
    admin.call('POST', '/apply', { body: { manifest, ...more } })
  const stepsOf = ({ body }: Answer): readonly Step[] => body['steps'] as unknown as Step[]
  const summary = (answer: Answer) =>
    stepsOf(answer).map(({ action, subject, name }) => `${action} ${subject} ${name}`)

  /** With the plan of a dry run, as the command line does it. */
  const apply = async (manifest: object, more: object = {}) => {
    const plan = await send(manifest, { ...more, dry_run: true })
    assert.equal(plan.status, 200, plan.text)
    const isNew = ({ action, subject }: Step) => action === 'create' && subject === 'key'
    const made = stepsOf(plan).filter(isNew)
    const secrets = made.map(() => newSecret('live'))
    const { digest } = plan.body
    const answer = await send(manifest, { ...more, digest, secrets: secrets.map(secretOf) })
    assert.equal(answer.status, 200, answer.text)
    return { plan, answer, secrets }
  }

  const MANIFEST = {
    frame: { budget: 2_000, timezone: 'Europe/Berlin' },
    groups: [{ name: 'search', budget: '200.50', window: '20/day', key_rules: { keys_max: 3 } }],
    keys: [
      {
        ...{ name: 'crawler', group: 'search', models: ['b', 'a'], budget: 50, rpm: 60 },
        ...{ model_budgets: { b: '5/week', a: '1.0/week' }, tags: ['x'], expires_at: '2999-01-31' },
      },
      { name: 'outside', models: ['sandbox-chat'], budget: 'none', mode: 'test' },
    ],
  }

  describe('manifests', () => {
    test('a dry run changes nothing; the plan then makes everything, with secrets from outside', async () => {
      const dry = await send(MANIFEST, { dry_run: true })
      assert.deepEqual(summary(dry), [
        'change frame frame',
        'create group search',
        'create key search/crawler',
        'create key outside',
      ])
      assert.equal((await admin.call('GET', '/keys')).body['total'], 0)
      const { secrets } = await apply(MANIFEST)
      const found = await findKeyBySecretHash(admin.store, secretOf(secrets[0] ?? '').hash)
      assert.equal(found?.key.name, 'crawler')
      assert.partialDeepStrictEqual(await findKey(admin.store, found?.key.id ?? ''), {
        ...{ models: ['a', 'b'], limitNanodollars: 50_000_000_000n, rpm: 60, tags: ['x'] },
        ...{ expiresAt: Date.UTC(2999, 0, 31), timezone: 'Europe/Berlin' },
        group: { name: 'search' },
      })
      assert.equal((await findKey(admin.store, 'outside')).mode, 'test')
    })

    test('the same manifest again changes nothing', async () => {
      const again = await send(MANIFEST, { dry_run: true })
      assert.deepEqual(stepsOf(again), [])
      assert.equal(again.body['unchanged'], 4)
    })

    test('what is left out stays as it is, and what is there is changed', async () => {
      const keys = [
        { name: 'crawler', group: 'search', budget: 60, model_budgets: { a: '2/week' } },
      ]
      const { answer } = await apply({ keys })
      assert.deepEqual(stepsOf(answer), [
        {
          ...{ action: 'change', subject: 'key', name: 'search/crawler' },
          fields: [
            { field: 'budget', before: '50', after: '60' },
            {
              field: 'model_budgets',
              before: { a: '1/week', b: '5/week' },
              after: { a: '2/week' },
            },
          ],
        },
      ])
      const { rpm, modelBudgets } = await findKey(admin.store, 'search/crawler')
      assert.deepEqual([rpm, modelBudgets.map(({ model }) => model)], [60, ['a']])
      await apply({ keys: [{ name: 'crawler', group: 'search', rpm: 'none', status: 'paused' }] })
      const paused = await findKey(admin.store, 'search/crawler')
      assert.deepEqual([paused.rpm, paused.status], [null, 'paused'])
      await apply({ groups: [{ name: 'search', status: 'archived', key_rules: { keys_max: 9 } }] })
      const { body } = await admin.call('GET', '/groups')
      assert.partialDeepStrictEqual((body['groups'] as unknown as object[])[0], {
        ...{ status: 'archived', budget: '200.5' },
        key_rules: { keys_max: 9, self_service: false },
      })
      await apply({ groups: [{ name: 'search', status: 'active' }] })
    })

    test('pruning pauses what a manifest made, and nothing else', async () => {
      const body = { name: 'by hand', models: ['sandbox-chat'], budget: '5' }
      assert.equal((await admin.call('POST', '/keys', { body })).status, 201)
      await apply({ keys: [{ name: 'short-lived', models: [], budget: 1 }] })
      const { answer } = await apply({ keys: [{ name: 'outside' }] }, { prune: true })
      assert.deepEqual(summary(answer), ['pause key short-lived'])
      assert.equal((await findKey(admin.store, 'short-lived')).status, 'paused')
      assert.equal((await findKey(admin.store, 'by hand')).status, 'active')
      const missing = await send({ groups: [] }, { prune: true })
      assert.equal(missing.status, 400)
    })

    test('an export is a manifest that changes nothing here', async () => {
      const { status, body, text } = await admin.call('GET', '/export')
      assert.equal(status, 200, text)
      const again = await send(body, { dry_run: true })
      assert.equal(again.status, 200, again.text)
      assert.deepEqual(stepsOf(again), [])
      assert.doesNotMatch(text, /tg_live_/)
    })

    describe('alert destinations', () => {
      const url = 'https://hooks.example.com/services/T0123456/B0123456/x7QdaB3k'
      const destinations = [
        { name: 'mail', email: 'ops@example.com', kinds: ['outage', 'ledger'] },
        { name: 'chat', webhook: url, groups: ['search', 'newest'], environments: ['production'] },
      ]
      const find = async (name: string): Promise<Record<string, unknown> | undefined> => {
        const { body } = await admin.call('GET', '/alerts/destinations')
        const found = body['destinations'] as unknown as Record<string, unknown>[]
        return found.find((each) => each['name'] === name)
      }

      test('are made with what they take, and then there is nothing to change', async () => {
        const manifest = { groups: [{ name: 'newest' }], destinations }
        const { plan, answer } = await apply(manifest)
        assert.deepEqual(summary(plan), [
          'create group newest',
          'create destination mail',
          'create destination chat',
        ])
        assert.doesNotMatch(plan.text + answer.text, /T0123456|x7Qd/)
        assert.deepEqual(plan.body['signing_secrets'], [])
        const [signing, ...more] = answer.body['signing_secrets'] as unknown as object[]
        assert.partialDeepStrictEqual(signing, { name: 'chat' })
        assert.deepEqual(more, [])
        const groups = JSON.stringify((await find('chat'))?.['groups'])
        assert.match(groups, /"newest".*"search"|"search".*"newest"/)
        assert.deepEqual((await find('mail'))?.['kinds'], ['ledger', 'outage'])
        assert.deepEqual(stepsOf(await send(manifest, { dry_run: true })), [])
      })

      test('an export cuts addresses short, and applying it leaves them as they are', async () => {
        const { body, text } = await admin.call('GET', '/export')
        assert.deepEqual(body['destinations'], [
          {
            ...{ name: 'chat', webhook: 'https://hooks.example.com/…aB3k' },
            ...{ groups: ['newest', 'search'], environments: ['production'] },
          },
          { name: 'mail', email: 'ops@example.com', kinds: ['ledger', 'outage'] },
        ])
        assert.doesNotMatch(text, /T0123456/)
        assert.deepEqual(stepsOf(await send(body, { dry_run: true })), [])
      })

      test('what is written is changed, another address included', async () => {
        const moved = url.replace('T0123456', 'T9999999')
        const chat = { name: 'chat', webhook: moved, environments: 'none', enabled: false }
        const { answer } = await apply({ destinations: [chat] })
        assert.deepEqual(stepsOf(answer)[0]?.fields, [
          {
            ...{ field: 'webhook', before: 'https://hooks.example.com/…aB3k' },
            after: 'https://hooks.example.com/…aB3k',
          },
          { field: 'enabled', before: true, after: false },
          { field: 'environments', before: ['production'], after: null },
        ])
        const found = await find('chat')
        assert.deepEqual([found?.['enabled'], found?.['environments']], [false, null])
        assert.match(JSON.stringify(found?.['groups']), /search/)
      })

      test('what is wrong is named by its place', async () => {
        const wrong = await send({
          destinations: [
            { name: 'a', webhook: 'https://hooks.example.com/…aB3k' },
            { name: 'b' },
            { name: 'c', email: 'c@example.com', webhook: url },
            { name: 'mail', webhook: url },
            { name: 'd', email: 'd@example.com', groups: ['nowhere'] },
            { name: 'e', webhook: 'http://169.254.169.254/latest' },
          ],
        })
        assert.equal(wrong.status, 400)
        const { problems } = wrong.body['error'] as unknown as {
          problems: { field: string; reason: string }[]
        }
        assert.deepEqual(
          problems.map(({ field, reason }) => [field, reason]),
          [
            ['destinations.0.webhook', 'destination_hidden'],
            ['destinations.1.webhook', 'destination_address'],
            ['destinations.2.webhook', 'destination_address'],
            ['destinations.3.webhook', 'destination_kind'],
            ['destinations.4.groups', 'no_such_group'],
            ['destinations.5.webhook', 'webhook_metadata'],
          ],
        )
        for (const [entry, place] of [
          [{ name: 'a', colour: 'red' }, 'colour'],
          [{ name: 'a', kinds: ['weather'] }, 'kinds'],
          [{ name: 'a', webhook: 'ftp://example.com' }, 'webhook'],
        ] as const) {
          const unread = await send({ destinations: [entry] })
          assert.match(unread.text, new RegExp(`destinations\\.0\\.${place}`))
        }
        const twice = await send({ destinations: [{ name: 'mail' }, { name: 'mail' }] })
        assert.match(twice.text, /destinations\.1\.name.*two entries have this name/)
      })
    })

    test('everything that is wrong is named by its place, and nothing is changed', async () => {
      const wrong = await send({
        groups: [{ name: 'new', window: '5/month' }],
        keys: [
          { name: 'a', models: ['m'] },
          { name: 'b', models: ['m'], budget: 1, group: 'nowhere' },
          { name: 'outside', mode: 'live' },
          { name: 'c', models: ['m'], budget: 1, owner_person: 'nobody@example.com' },
          { name: 'd', models: ['m'], budget: 1, timezone: 'Mars/Olympus' },
        ],
      })
      assert.equal(wrong.status, 400)
      const problems = (wrong.body['error'] as unknown as { problems: { field: string }[] })
        .problems
      assert.deepEqual(
        problems.map(({ field }) => field),
        [
          ...['groups.0.window', 'keys.0.budget', 'keys.1.group', 'keys.2.mode'],
          ...['keys.3.owner_person', 'keys.4.timezone'],
        ],
      )
      const unread = await send({ keys: [{ name: 'a', colour: 'red' }] })
      assert.equal(unread.status, 400)
      assert.match(unread.text, /keys\.0\.colour/)
      const twice = await send({ keys: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] })
      assert.match(twice.text, /keys\.2\.name.*two entries have this name/)
    })

    test('a plan that is no longer true is refused, and so are secrets that do not match it', async () => {
      const keys = [{ name: 'outside', rpm: 5 }]
      const plan = await send({ keys }, { dry_run: true })
      await updateKey(admin.store, 'outside', { rpm: 7 })
      const { digest } = plan.body
      const late = await send({ keys }, { digest })
      assert.equal(late.status, 409, late.text)
      assert.equal((await findKey(admin.store, 'outside')).rpm, 7)
      const unmatched = await send({ keys: [{ name: 'x', models: ['m'], budget: 1 }] })
      assert.equal(unmatched.status, 400)
      assert.match(unmatched.text, /one secret for each new key/)
    })

    test('a thousand keys are made in one transaction, beside changes by hand', async () => {
      const keys = Array.from({ length: 1_000 }, (_, index) => ({
        ...{ name: `app-${index}`, group: 'search', models: ['sandbox-chat'], budget: '1' },
      }))
      const byHand = [1, 2, 3].map((rpm) => updateKey(admin.store, 'search/crawler', { rpm }))
      const crawler = { name: 'crawler', group: 'search', owner: 'ann' }
      const started = performance.now()
      await Promise.all([apply({ keys }), ...byHand])
      console.log(`1,000 new keys: ${Math.round(performance.now() - started)} ms`)
      const changed = keys.slice(0, 50).map((key) => ({ ...key, budget: '2' }))
      const { answer } = await apply({ keys: [...changed, crawler] })
      assert.equal(stepsOf(answer).length, 51)
      assert.deepEqual(stepsOf(await send({ keys: changed }, { dry_run: true })), [])
    })
  })
}
