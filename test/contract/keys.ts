// The store's contract for keys and secrets, on any database: run by test/contract/store.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { NAME_LENGTH_MAX, TEXT_LENGTH_MAX } from '../../src/core/limits.ts'
import { hashSecret, isWellFormedSecret } from '../../src/core/secret.ts'
import type { KeySettings } from '../../src/store/accounts/settings.ts'
import type { StoreError } from '../../src/store/database/errors.ts'
import type { Store } from '../../src/store/database/store.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { findKey, findKeyBySecretHash, keyJson, listKeys } from '../../src/store/keys/keys.ts'
import {
  createKey,
  pauseKey,
  resumeKey,
  revokeKey,
  rotateKey,
  type KeyChange,
  type NewKey,
  updateKey,
} from '../../src/store/keys/lifecycle.ts'
import { recordUse, shownSecrets } from '../../src/store/keys/secrets.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { newKey, refusal, standingClock, type FreshDatabase } from '../support/store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export function keysContract(fresh: FreshDatabase): void {
  const clock = standingClock()
  const start = clock.at
  let database: Awaited<ReturnType<FreshDatabase>>
  let store: Store

  before(async () => {
    database = await fresh()
    store = await openStore(database.url, { clock })
    await seedFrame(store, SAMPLE_FRAME)
  })
  after(async () => {
    await store.close()
    await database.drop()
  })

  describe('keys', () => {
    test('a new key has the defaults, and only the hash of its secret is stored', async () => {
      const { key, secret } = await createKey(store, newKey('defaults'))
      assert.ok(isWellFormedSecret(secret))
      assert.match(secret, /^tg_live_/)
      assert.deepEqual(keyJson(key), {
        id: key.id,
        name: 'defaults',
        group: null,
        mode: 'live',
        environment: null,
        owner: null,
        owner_person: null,
        description: null,
        tags: [],
        status: 'active',
        models: ['sandbox-chat'],
        permissions: ['models', 'chat', 'responses', 'embeddings', 'messages', 'count_tokens'],
        budget: '1',
        period: 'month',
        timezone: 'UTC',
        week_start: 'mon',
        spent: '0',
        held: '0',
        remaining: '1',
        resets_at: '2026-11-01T00:00:00.000Z',
        window: null,
        model_budgets: [],
        request_cost_max: null,
        rpm: null,
        tpm: null,
        concurrency: null,
        when_tight: 'cap',
        created_at: '2026-10-15T12:00:00.000Z',
        expires_at: null,
        last_used_at: null,
      })
      const everything = await dump(store)
      assert.ok(!everything.includes(secret))
      assert.ok(everything.includes(hashSecret(secret)))
    })

    test('every setting is stored as given', async () => {
      const given: NewKey = {
        name: 'every setting',
        mode: 'test',
        models: ['b', 'a', 'b'],
        limitNanodollars: null,
        period: 'week',
        timezone: 'Europe/Berlin',
        weekStart: 'sun',
        rpm: 1,
        tpm: 1_000_000_000,
        concurrency: 3,
        permissions: ['messages', 'models'],
        environment: 'staging',
        owner: 'Team Ä',
        description: 'first line\nsecond line',
        tags: ['x', 'y'],
        expiresAt: start + 1,
        whenTight: 'refuse',
      }
      const { key, secret } = await createKey(store, given)
      assert.match(secret, /^tg_test_/)
      const ordered = { models: ['a', 'b'], permissions: ['models', 'messages'] }
      assert.deepEqual({ ...key, ...given, ...ordered }, key)
      assert.equal(keyJson(key).budget, null)
      assert.equal(keyJson(key).remaining, null)
    })

    test('texts of the greatest length and the widest letters are stored whole', async () => {
      const letters = (count: number) =>
        Array.from({ length: count }, (_, n) =>
          String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000)),
        )
      const name = letters(NAME_LENGTH_MAX).join('')
      const given = {
        ...{ owner: name, environment: name, description: letters(TEXT_LENGTH_MAX).join('') },
        ...{ tags: [name], models: [name] },
      }
      const { key } = await createKey(store, newKey(name, given))
      assert.deepEqual({ ...key, ...given }, key)
      await updateKey(store, key.id, { owner: Array.from(name).toReversed().join('') })
    })

    test('a key is found by id and by name, and all keys are listed in order', async () => {
      clock.at += 1
      const { key: first } = await createKey(store, newKey('find me'))
      clock.at += 1
      const { key: second } = await createKey(store, newKey('and me', { models: [] }))
      assert.deepEqual(await findKey(store, 'find me'), first)
      assert.deepEqual(await findKey(store, first.id), first)
      assert.deepEqual((await listKeys(store)).slice(-2), [first, second])
      await assert.rejects(findKey(store, 'nobody'), refusal('unknown_key', /"nobody"/))
      await assert.rejects(findKey(store, ''), refusal('unknown_key', /""/))
    })

    test('names that look alike are the same name', async () => {
      const { key } = await createKey(
        store,
        newKey('cafe\u0301\u202e \u200bone', { tags: ['a\u2066'], timezone: 'europe/berlin' }),
      )
      assert.deepEqual(
        [key.name, key.tags, key.timezone],
        ['caf\u00e9 one', ['a'], 'Europe/Berlin'],
      )
      assert.equal((await findKey(store, 'cafe\u0301 one')).id, key.id)
      await assert.rejects(
        createKey(store, newKey('caf\u00e9 one')),
        refusal('duplicate_name', /one/),
      )
    })

    test('text that a database cannot store is cleaned, and so are line breaks in names', async () => {
      const { key } = await createKey(
        store,
        newKey(' nul\0 and \ud800half\n', { owner: '\0', tags: ['a\0b', ' '], models: ['m\0'] }),
      )
      assert.equal(key.name, 'nul and \ufffdhalf')
      assert.equal(key.owner, null)
      assert.deepEqual(key.tags, ['ab'])
      assert.deepEqual(key.models, ['m'])
      assert.deepEqual(await findKey(store, 'nul and \ufffdhalf'), key)
    })

    for (const [index, [field, change, message]] of WRONG.entries()) {
      test(`${field}: a wrong value is refused with ${message.source}`, async () => {
        const { key } = await createKey(store, newKey(`wrong ${field} ${index}`))
        const isRefused = (error: unknown) => {
          assert.equal((error as StoreError).field, field)
          return refusal('invalid_value', message)(error)
        }
        await assert.rejects(createKey(store, newKey('never made', change)), isRefused)
        await assert.rejects(updateKey(store, key.id, change), isRefused)
        assert.deepEqual(await findKey(store, key.id), key)
        await assert.rejects(findKey(store, 'never made'), refusal('unknown_key', /never made/))
      })
    }

    test('an update changes what it names and nothing else', async () => {
      const { key } = await createKey(store, newKey('to update', { rpm: 5, owner: 'me' }))
      const updated = await updateKey(store, 'to update', {
        name: 'updated',
        limitNanodollars: 0n,
        tpm: 100,
        owner: null,
        tags: ['new'],
        permissions: [],
      })
      assert.deepEqual(updated, {
        ...key,
        name: 'updated',
        limitNanodollars: 0n,
        remainingNanodollars: 0n,
        tpm: 100,
        owner: null,
        tags: ['new'],
        permissions: [],
        version: 2,
        allowVersion: 2,
      })
      assert.deepEqual(await updateKey(store, 'updated', { rpm: null, tpm: undefined }), {
        ...updated,
        rpm: null,
        version: 3,
        allowVersion: 3,
      })
    })

    test('models can be set, added to and removed from the allowlist', async () => {
      const { key } = await createKey(store, newKey('allowlist', { models: ['a', 'b'] }))
      const models = async (change: KeyChange) => (await updateKey(store, key.id, change)).models
      assert.deepEqual(await models({ addModels: ['d', 'b', 'c'] }), ['a', 'b', 'c', 'd'])
      assert.deepEqual(await models({ removeModels: ['a', 'd'] }), ['b', 'c'])
      assert.deepEqual(await models({ models: ['x', 'c'] }), ['c', 'x'])
      assert.deepEqual(await models({ models: [], addModels: ['y'] }), ['y'])
      await assert.rejects(
        updateKey(store, key.id, { removeModels: ['typo'], rpm: 7 }),
        refusal('invalid_value', /"typo" is not on the allowlist/),
      )
      assert.equal((await findKey(store, key.id)).rpm, null)
      assert.deepEqual(await models({ models: [] }), [])
    })

    test('a key can be paused and resumed, and revoked from either status', async () => {
      const { key } = await createKey(store, newKey('states'))
      const status = async (change: Promise<{ status: string }>) => (await change).status
      assert.equal(await status(pauseKey(store, 'states')), 'paused')
      assert.equal(await status(pauseKey(store, 'states')), 'paused')
      assert.equal(await status(resumeKey(store, 'states')), 'active')
      assert.equal(await status(resumeKey(store, 'states')), 'active')
      assert.equal(await status(pauseKey(store, 'states')), 'paused')
      assert.equal(await status(revokeKey(store, 'states', 'from paused')), 'revoked')
      const { key: other } = await createKey(store, newKey('states'))
      assert.equal(await status(revokeKey(store, other.id, 'from active')), 'revoked')
      assert.notEqual(other.id, key.id)
    })

    test('a revoked key stays revoked', async () => {
      const { key } = await createKey(store, newKey('revoked'))
      await assert.rejects(revokeKey(store, key.id, ' '), refusal('invalid_value', /reason/))
      const revoked = await revokeKey(store, key.id, 'leaked')
      assert.equal(revoked.revokedReason, 'leaked')
      assert.equal(revoked.revokedAt, clock.at)
      for (const attempt of [
        () => pauseKey(store, key.id),
        () => resumeKey(store, key.id),
        () => updateKey(store, key.id, { rpm: 1 }),
        () => rotateKey(store, key.id, { overlapMs: 0 }),
      ]) {
        await assert.rejects(attempt, refusal('wrong_state', /"revoked" is revoked.*final/))
      }
      assert.deepEqual(await revokeKey(store, key.id, 'again'), revoked)
      await assert.rejects(findKey(store, 'revoked'), refusal('unknown_key', /revoked/))
      assert.deepEqual(await findKey(store, key.id), revoked)
    })

    test('a key expires by its date, and a new date undoes that', async () => {
      const { key, secret } = await createKey(store, newKey('expires', { expiresAt: clock.at + 5 }))
      assert.equal(key.status, 'active')
      await pauseKey(store, key.id)
      clock.at += 5
      assert.equal((await findKey(store, key.id)).status, 'expired')
      assert.equal((await resumeKey(store, key.id)).status, 'expired')
      assert.equal((await findKeyBySecretHash(store, hashSecret(secret)))?.key.status, 'expired')
      const later = await updateKey(store, key.id, { expiresAt: clock.at + 1 })
      assert.equal(later.status, 'active')
      assert.equal((await updateKey(store, key.id, { expiresAt: null })).expiresAt, null)
    })

    test('names are unique among keys that are not revoked', async () => {
      const { key } = await createKey(store, newKey('taken'))
      await createKey(store, newKey('other'))
      const isRefused = refusal('duplicate_name', /already a key named "taken"/)
      await assert.rejects(createKey(store, newKey('taken')), isRefused)
      await assert.rejects(updateKey(store, 'other', { name: 'taken' }), isRefused)
      await pauseKey(store, 'taken')
      await assert.rejects(createKey(store, newKey(' taken ')), isRefused)
      await revokeKey(store, 'taken', 'old')
      const { key: next } = await createKey(store, newKey('taken'))
      assert.equal((await findKey(store, 'taken')).id, next.id)
      assert.equal((await findKey(store, key.id)).status, 'revoked')
    })

    test('one of many keys created at once under one name gets it', async () => {
      const attempts = Array.from({ length: 12 }, () => createKey(store, newKey('one winner')))
      const outcomes = await Promise.allSettled(attempts)
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') refusal('duplicate_name', /one winner/)(outcome.reason)
      }
    })

    test('the last use is recorded, and never goes back', async () => {
      const { key: first } = await createKey(store, newKey('used'))
      const { key: second } = await createKey(store, newKey('used too'))
      const used = async () =>
        [await findKey(store, first.id), await findKey(store, second.id)].map(
          (key) => key.lastUsedAt,
        )
      const secrets = new Map()
      await recordUse(store, { keys: new Map(), secrets })
      await recordUse(store, { keys: new Map([[first.id, clock.at]]), secrets })
      assert.deepEqual(await used(), [clock.at, null])
      const keys = new Map([
        [first.id, clock.at - 1],
        [second.id, clock.at + 1],
        ['key_unknown', 1],
      ])
      await recordUse(store, { keys, secrets })
      assert.deepEqual(await used(), [clock.at, clock.at + 1])
      assert.deepEqual(await findKey(store, first.id), { ...first, lastUsedAt: clock.at })
    })

    test('concurrent changes to one key all take effect', async () => {
      const { key } = await createKey(store, newKey('busy', { models: [] }))
      const models = Array.from({ length: 10 }, (_, n) => `model-${n}`)
      await Promise.all(models.map((model) => updateKey(store, key.id, { addModels: [model] })))
      const after = await findKey(store, key.id)
      assert.deepEqual(after.models, models)
      assert.equal(after.allowVersion, key.allowVersion + models.length)
    })
  })

  describe('secrets', () => {
    const open = (secret: string) => findKeyBySecretHash(store, hashSecret(secret))

    test('a secret finds its key, with all a request needs', async () => {
      const { key, secret } = await createKey(store, newKey('opened'))
      const opened = await open(secret)
      assert.ok(opened)
      assert.partialDeepStrictEqual(key, opened.key)
      assert.deepEqual([opened.secretValidUntil, opened.isRotating], [null, false])
      assert.equal(await open('tg_live_unknown'), undefined)
      await revokeKey(store, key.id, 'test')
      assert.equal((await open(secret))?.key.status, 'revoked')
    })

    test('rotation keeps the key, and the old secret for the overlap', async () => {
      const { key, secret: first } = await createKey(store, newKey('rotated'))
      const { key: rotated, secret: second } = await rotateKey(store, 'rotated', {
        overlapMs: DAY_MS,
      })
      assert.equal(rotated.id, key.id)
      assert.ok(rotated.allowVersion > key.allowVersion)
      assert.equal((await open(first))?.secretValidUntil, clock.at + DAY_MS)
      assert.equal((await open(second))?.secretValidUntil, null)
      clock.at += DAY_MS
      assert.equal(await open(first), undefined)
      assert.equal((await open(second))?.key.id, key.id)
    })

    test('only the newest two secrets work, and an overlap of 0 ends the old one at once', async () => {
      const { key, secret: first } = await createKey(store, newKey('rotated often'))
      const { secret: second } = await rotateKey(store, key.id, { overlapMs: 7 * DAY_MS })
      const { secret: third } = await rotateKey(store, key.id, { overlapMs: HOUR_MS })
      assert.equal(await open(first), undefined)
      assert.equal((await open(second))?.secretValidUntil, clock.at + HOUR_MS)
      const { secret: fourth } = await rotateKey(store, key.id, { overlapMs: 0 })
      for (const secret of [first, second, third]) assert.equal(await open(secret), undefined)
      assert.equal((await open(fourth))?.key.id, key.id)
    })

    test('the last use of each of two secrets is known', async () => {
      const { key, secret: first } = await createKey(store, newKey('used by two'))
      const use = async (...secrets: string[]): Promise<number> => {
        clock.at += 1
        const hashes = secrets.map((secret) => [hashSecret(secret), clock.at] as const)
        const keys = new Map([[key.id, clock.at]])
        await recordUse(store, { keys, secrets: new Map(hashes) })
        return clock.at
      }
      const uses = async () => {
        const shown = (await shownSecrets(store, [key.id])).get(key.id)
        return [shown?.old?.lastUsedAt, shown?.lastUsedAt]
      }
      // A key with a single secret records no use per secret.
      assert.equal((await open(first))?.isRotating, false)
      const alone = await use()
      const { secret: second } = await rotateKey(store, key.id, { overlapMs: HOUR_MS })
      for (const secret of [first, second]) assert.equal((await open(secret))?.isRotating, true)
      assert.deepEqual(await uses(), [alone, null])
      const [early, late] = [await use(second), await use(first)]
      assert.deepEqual(await uses(), [late, early])
      // The first secret's last use is not attributed to the second.
      await rotateKey(store, key.id, { overlapMs: HOUR_MS })
      assert.deepEqual(await uses(), [early, null])
      clock.at += HOUR_MS
      assert.deepEqual(await uses(), [undefined, null])
      const aloneAgain = await use()
      await rotateKey(store, key.id, { overlapMs: HOUR_MS })
      assert.deepEqual(await uses(), [aloneAgain, null])
    })

    for (const overlapMs of [-1, 7 * DAY_MS + 1, 0.5, Number.NaN]) {
      test(`an overlap of ${overlapMs} ms is refused`, async () => {
        const { key, secret } = await createKey(store, newKey(`overlap ${overlapMs}`))
        const isRefused = refusal('invalid_value', /between 0 and 7 days/)
        await assert.rejects(rotateKey(store, key.id, { overlapMs }), isRefused)
        assert.equal((await open(secret))?.secretValidUntil, null)
      })
    }
  })
}

const WRONG: readonly (readonly [string, Partial<KeySettings>, RegExp])[] = [
  ['name', { name: ' \n' }, /needs a name/],
  ['name', { name: 'x'.repeat(201) }, /at most 200/],
  ['name', { name: 'key_01k7m0000000000000000000ab' }, /look like the id/],
  ['owner', { owner: 'x'.repeat(201) }, /at most 200/],
  ['environment', { environment: 'x'.repeat(201) }, /at most 200/],
  ['description', { description: 'x'.repeat(2_001) }, /at most 2000/],
  ['budget', { limitNanodollars: -1n }, /between 0 and 9000000 USD/],
  ['budget', { limitNanodollars: 9_000_000_000_000_001n }, /between 0 and 9000000 USD/],
  ['timezone', { timezone: 'Mars/Olympus' }, /"Mars\/Olympus" is not a time zone/],
  ['timezone', { timezone: '+02:00' }, /IANA/],
  ['timezone', { timezone: '' }, /IANA/],
  ['period', { period: 'hour' as 'day' }, /"hour" is not one of day, week/],
  ['week_start', { weekStart: 'tue' as 'mon' }, /"tue" is not one of mon, sun/],
  ['when_tight', { whenTight: 'panic' as 'cap' }, /"panic" is not one of cap, refuse/],
  ['permissions', { permissions: ['admin' as 'chat'] }, /"admin" is not one of models, chat/],
  ['rpm', { rpm: 0 }, /whole number from 1/],
  ['tpm', { tpm: 1.5 }, /whole number from 1/],
  ['concurrency', { concurrency: Number.NaN }, /whole number from 1/],
  ['expires_at', { expiresAt: Number.NaN }, /date and time/],
  ['expires_at', { expiresAt: 1 }, /in the past/],
  ['models', { models: Array.from({ length: 1_001 }, (_, n) => `m${n}`) }, /at most 1000/],
]

async function dump(store: Store): Promise<string> {
  const tables = ['meta', 'accounts', 'keys', 'key_models', 'secrets'] as const
  const rows = tables.map((table) => store.db.selectFrom(table).selectAll().execute())
  return inspect(await Promise.all(rows), { depth: null, maxArrayLength: null })
}
