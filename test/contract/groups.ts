// The store's contract for groups of keys, on any database: run by test/contract/store.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/core/ids.ts'
import type { Cap } from '../../src/store/accounts/budget-changes.ts'
import { giveAlerts } from '../../src/store/alerts/give.ts'
import { listAudit } from '../../src/store/audit/record.ts'
import { StoreError } from '../../src/store/database/errors.ts'
import type { Store } from '../../src/store/database/store.ts'
import { seedFrame, setFrame } from '../../src/store/frame.ts'
import {
  findGroup,
  groupJson,
  groupTotals,
  keysWithoutModels,
  listGroups,
} from '../../src/store/groups/groups.ts'
import {
  activateGroup,
  archiveGroup,
  createGroup,
  updateGroup,
} from '../../src/store/groups/lifecycle.ts'
import { addMember, listMembers, removeMember } from '../../src/store/groups/members.ts'
import { readAllocated } from '../../src/store/keys/counts.ts'
import { callableModels, findKey, keyJson, keysPerModel } from '../../src/store/keys/keys.ts'
import { createKey, revokeKey, updateKey } from '../../src/store/keys/lifecycle.ts'
import { matchingIds } from '../../src/store/keys/search.ts'
import { openStore } from '../../src/store/open.ts'
import { deletePerson, insertPerson } from '../../src/store/people/people.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { newKey, refusal, standingClock, type FreshDatabase } from '../support/store.ts'

const USD = 1_000_000_000n
const perDay = (usd: bigint) => ({ limitNanodollars: usd * USD, period: 'day' }) as const

/** Exactly these fields are wrong, in this order, a line each. */
function allOf(...fields: readonly string[]) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof StoreError)
    assert.deepEqual(
      error.problems.map(({ field }) => field),
      fields,
    )
    assert.equal(error.message.split('\n').length, fields.length)
    return true
  }
}

export function groupsContract(fresh: FreshDatabase): void {
  const clock = standingClock()
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

  let count = 0
  const newGroup = (more: object = {}) => createGroup(store, { name: `team ${++count}`, ...more })
  const keyIn = async (groupId: string | null, name: string, more: object = {}) => {
    later()
    return (await createKey(store, newKey(name, { legs: { groupId }, ...more }))).key
  }
  /** Ids sort by time, and only by that. */
  const later = (): void => void (clock.at += 1)

  describe('groups', () => {
    test('a new group has the defaults: no budget, no ceiling, no rules', async () => {
      const group = await createGroup(store, { name: 'defaults' })
      assert.deepEqual(groupJson(group), {
        id: group.id,
        name: 'defaults',
        description: null,
        status: 'active',
        budget: null,
        period: 'month',
        timezone: 'UTC',
        week_start: 'mon',
        window: null,
        request_cost_max: null,
        rpm: null,
        tpm: null,
        concurrency: null,
        models: null,
        key_rules: {
          self_service: false,
          budget_max: null,
          days_max: null,
          keys_max: null,
          environments: null,
          rpm_max: null,
          tpm_max: null,
          concurrency_max: null,
        },
        spent: '0',
        held: '0',
        remaining: null,
        resets_at: '2026-11-01T00:00:00.000Z',
        allocated: '0',
        keys: 0,
        members: 0,
        created_at: '2026-10-15T12:00:00.000Z',
      })
    })

    test('every setting is stored as given, and only what is named changes', async () => {
      const group = await newGroup({
        description: 'who searches',
        limitNanodollars: 100n * USD,
        period: 'week',
        rpm: 60,
        models: ['b', 'a', 'b'],
        keyRules: { ...(await newGroup()).keyRules, selfService: true, keysMax: 3 },
        legs: { window: perDay(5n), requestCostMaxNanodollars: USD / 2n },
      })
      assert.deepEqual(
        [group.models, group.keyRules.keysMax, group.requestCostMaxNanodollars],
        [['a', 'b'], 3, USD / 2n],
      )
      assert.equal(group.window?.limitNanodollars, 5n * USD)
      const changed = await updateGroup(store, group.name, {
        keyRules: { budgetMax: perDay(1n) },
        legs: { window: null },
        addModels: ['c'],
        removeModels: ['a'],
      })
      assert.deepEqual(
        [changed.models, changed.keyRules.keysMax, changed.keyRules.budgetMax, changed.window],
        [['b', 'c'], 3, perDay(1n), null],
      )
      assert.equal(changed.version, 2)
      assert.deepEqual(await findGroup(store, group.id), changed)
    })

    test('every change raises the version that admission compares, and is recorded', async () => {
      const group = await newGroup()
      const key = await keyIn(group.id, 'of a changed group')
      const versions = [(await findKey(store, key.id)).groupVersion]
      for (const change of [
        () => updateGroup(store, group.id, { models: ['x'] }),
        () => archiveGroup(store, group.id),
        () => activateGroup(store, group.id),
      ]) {
        later()
        await change()
        versions.push((await findKey(store, key.id)).groupVersion)
      }
      assert.deepEqual(
        versions.map((version) => version - (versions[0] ?? 0)),
        [0, 1, 2, 3],
      )
      const entries = await listAudit(store, { subjectId: group.id, limit: 10 })
      assert.deepEqual(
        entries.slice(0, 3).map(({ action, fields }) => [action, ...fields]),
        [
          ['group.activate', { field: 'status', before: 'archived', after: 'active' }],
          ['group.archive', { field: 'status', before: 'active', after: 'archived' }],
          ['group.change', { field: 'models', before: null, after: ['x'] }],
        ],
      )
      assert.equal(entries.at(-1)?.action, 'group.create')
    })

    test('a change that is based on an old version is refused', async () => {
      const group = await newGroup()
      await updateGroup(store, group.id, { rpm: 1, ifVersion: 1 })
      await assert.rejects(
        updateGroup(store, group.id, { rpm: 2, ifVersion: 1 }),
        refusal('version_conflict', /has changed/),
      )
    })

    test('names of groups are unique, of archived ones too', async () => {
      const group = await newGroup({ name: 'only one' })
      await archiveGroup(store, group.id)
      await assert.rejects(newGroup({ name: 'only one' }), refusal('duplicate_name', /"only one"/))
      const other = await newGroup()
      await assert.rejects(
        updateGroup(store, other.id, { name: 'only one' }),
        refusal('duplicate_name', /"only one"/),
      )
    })

    for (const [name, why] of [
      ['  ', /needs a name/],
      ['a/b', /slash/],
      ['none', /may not be called "none"/],
      ['frame', /may not be called "frame"/],
      [newId('grp', clock), /look like the id/],
    ] as const)
      test(`a group cannot be named ${JSON.stringify(name)}`, async () => {
        await assert.rejects(newGroup({ name }), refusal('invalid_value', why))
      })

    test('all that is wrong is said at once, each with its field', async () => {
      const wrong = createGroup(store, {
        name: '',
        limitNanodollars: -1n,
        timezone: 'Mars/Olympus',
        legs: {
          window: { limitNanodollars: 1n, period: 'month' },
          requestCostMaxNanodollars: 0n,
        },
      })
      await assert.rejects(wrong, allOf('name', 'budget', 'timezone', 'window', 'request_cost_max'))
      assert.ok((await listGroups(store)).every(({ name }) => name !== ''))
      const { name } = await newGroup()
      const taken = newGroup({ name, rpm: 0 })
      await assert.rejects(taken, allOf('rpm', 'name'))
      const other = await newGroup()
      await assert.rejects(updateGroup(store, other.id, { name, rpm: 0 }), allOf('rpm', 'name'))
    })

    test('what is wrong with the frame is said at once, too', async () => {
      const wrong = setFrame(store, {
        limitNanodollars: -1n,
        window: { limitNanodollars: 1n, period: SAMPLE_FRAME.period },
        reason: ' ',
      })
      await assert.rejects(wrong, allOf('budget', 'reason', 'window'))
    })

    test('a new limit lets an alert be given once more', async () => {
      const group = await newGroup({ limitNanodollars: 10n * USD })
      const give = async (spent_nanodollars: bigint) => {
        await store.db
          .updateTable('accounts')
          .set({ spent_nanodollars, period_ends_at: null })
          .where('id', '=', group.id)
          .execute()
        await giveAlerts(store, [group.id])
      }
      await give(10n * USD)
      await updateGroup(store, group.id, { limitNanodollars: 20n * USD })
      await give(20n * USD)
      const alerts = await store.db
        .selectFrom('alerts')
        .select('limit_nanodollars')
        .where('account_id', '=', group.id)
        .where('threshold', '=', 100)
        .orderBy('limit_nanodollars')
        .execute()
      assert.deepEqual(
        alerts.map(({ limit_nanodollars: limit }) => limit),
        [10n * USD, 20n * USD],
      )
    })
  })

  describe('keys in groups', () => {
    test('names are unique within a group and among keys outside groups', async () => {
      const [one, other] = [await newGroup(), await newGroup()]
      const inOne = await keyIn(one.id, 'same')
      const inOther = await keyIn(other.id, 'same')
      const outside = await keyIn(null, 'same')
      for (const group of [one.id, null]) {
        await assert.rejects(keyIn(group, 'same'), refusal('duplicate_name', /"same"/))
      }
      await assert.rejects(
        updateKey(store, inOther.id, { legs: { groupId: one.id } }),
        refusal('duplicate_name', /already a key named "same"/),
      )
      await assert.rejects(findKey(store, 'same'), refusal('unknown_key', /GROUP\/NAME/))
      for (const [name, key] of [
        [`${one.name}/same`, inOne],
        [`${other.name}/same`, inOther],
        ['none/same', outside],
      ] as const)
        assert.equal((await findKey(store, name)).id, key.id)
      await revokeKey(store, inOne.id, 'a test')
      await revokeKey(store, outside.id, 'a test')
      assert.equal((await findKey(store, 'same')).id, inOther.id)
    })

    test('a key is moved and taken out, and cannot enter a group that is archived or unknown', async () => {
      const [from, to] = [await newGroup(), await newGroup()]
      const key = await keyIn(from.id, 'moved')
      later()
      const moved = await updateKey(store, key.id, { legs: { groupId: to.id } })
      assert.deepEqual(keyJson(moved).group, { id: to.id, name: to.name })
      const [entry] = await listAudit(store, { subjectId: key.id, limit: 1 })
      assert.deepEqual(entry?.fields, [{ field: 'group', before: from.name, after: to.name }])
      await archiveGroup(store, from.id)
      for (const [groupId, why] of [
        [from.id, /archived/],
        [newId('grp', clock), /no such group/],
      ] as const) {
        const back = updateKey(store, key.id, { legs: { groupId } })
        await assert.rejects(back, refusal('invalid_value', why))
        await assert.rejects(keyIn(groupId, 'never made'), refusal('invalid_value', why))
      }
      await archiveGroup(store, to.id)
      // It may stay where it is.
      const stayed = await updateKey(store, key.id, { rpm: 5, legs: { groupId: to.id } })
      assert.deepEqual([stayed.rpm, stayed.groupId], [5, to.id])
      const out = await updateKey(store, key.id, { legs: { groupId: null } })
      assert.deepEqual([out.group, out.groupVersion], [null, 0])
    })

    test('all that is wrong with a key is said at once, and with a change of it', async () => {
      const wrong = {
        name: 'same in this group',
        rpm: 0,
        legs: {
          groupId: (await newGroup()).id,
          window: perDay(-1n),
          modelBudgets: [
            ['a', perDay(1n)],
            ['a', perDay(2n)],
            ['typo', perDay(1n)],
            ['slip', perDay(1n)],
          ] satisfies readonly Cap[],
        },
      } as const
      await keyIn(wrong.legs.groupId, wrong.name)
      const key = await keyIn(null, 'to be changed', { models: ['a'] })
      const caps = ['model_budgets', 'model_budgets', 'model_budgets']
      const fields = ['rpm', 'window', ...caps, 'name']
      await assert.rejects(
        createKey(store, newKey('', { models: ['a'], ...wrong })),
        allOf(...fields),
      )
      await assert.rejects(updateKey(store, key.id, wrong), allOf(...fields))
    })

    test('what a key may call is its allowlist within the ceiling of its group, everywhere', async () => {
      const group = await newGroup({ models: ['both', 'ceiling only'] })
      const key = await keyIn(group.id, 'below a ceiling', { models: ['both', 'own only'] })
      const free = await keyIn(null, 'under no ceiling', { models: ['both', 'own only'] })
      assert.deepEqual(callableModels(key), ['both'])
      const counts = await keysPerModel(store)
      assert.deepEqual([counts.get('both'), counts.get('own only')], [2, 1])
      assert.deepEqual(await matchingIds(store, { model: 'both' }), [key.id, free.id])
      assert.deepEqual(await matchingIds(store, { model: 'own only' }), [free.id])
      const sorted = { model: 'own only', groupId: group.id }
      assert.deepEqual(await matchingIds(store, sorted), [])
      assert.deepEqual(await keysWithoutModels(store, group, 10), [])
      const tight = await updateGroup(store, group.id, { models: ['ceiling only'] })
      assert.deepEqual(callableModels(await findKey(store, key.id)), [])
      assert.deepEqual(await keysWithoutModels(store, tight, 10), ['below a ceiling'])
      await updateGroup(store, group.id, { models: null })
      assert.deepEqual(callableModels(await findKey(store, key.id)), ['both', 'own only'])
    })

    test('second window, caps and the cost of one request are set, changed and removed', async () => {
      const caps = (...given: readonly Cap[]) => given
      const { key } = await createKey(
        store,
        newKey('with legs', {
          models: ['a', 'b'],
          legs: {
            window: perDay(5n),
            requestCostMaxNanodollars: USD,
            modelBudgets: caps(['b', perDay(1n)], ['a', perDay(2n)]),
          },
        }),
      )
      const json = keyJson(key)
      // PostgreSQL's own clock says when it starts.
      const { starts_at, resets_at, ...window } = json.window ?? {}
      assert.ok(Date.parse(starts_at ?? '') < Date.parse(resets_at ?? ''))
      const unspent = { spent: '0', held: '0', remaining: '5' }
      assert.deepEqual(window, { budget: '5', limit: '5', period: 'day', ...unspent })
      assert.deepEqual(
        [json.request_cost_max, json.model_budgets.map(({ model, budget }) => [model, budget])],
        [
          '1',
          [
            ['b', '1'],
            ['a', '2'],
          ],
        ],
      )
      const changed = await updateKey(store, key.id, {
        legs: { window: null, modelBudgets: caps(['a', null], ['b', perDay(3n)]) },
      })
      assert.equal(changed.window, null)
      assert.deepEqual(
        changed.modelBudgets.map(({ model, limitNanodollars }) => [model, limitNanodollars]),
        [['b', 3n * USD]],
      )
      for (const [given, why] of [
        [caps(['a', perDay(1n)], ['a', perDay(2n)]), /two budgets for the model "a"/],
        [caps(['typo', perDay(1n)]), /"typo"/],
      ] as const) {
        const wrong = updateKey(store, key.id, { legs: { modelBudgets: given } })
        await assert.rejects(wrong, refusal('invalid_value', why))
      }
      await assert.rejects(
        updateKey(store, key.id, { period: 'day', legs: { window: perDay(1n) } }),
        refusal('invalid_value', /another period/),
      )
    })
  })

  describe('sums and members', () => {
    test('a group counts its keys and their budgets; the frame counts groups and keys outside', async () => {
      const before = await readAllocated(store)
      const group = await newGroup({ limitNanodollars: 10n * USD })
      const free = await newGroup()
      await keyIn(group.id, 'counted')
      const gone = await keyIn(group.id, 'not counted')
      await revokeKey(store, gone.id, 'a test')
      await keyIn(free.id, 'of a group without a budget')
      await keyIn(null, 'outside')
      const totals = await groupTotals(store)
      assert.deepEqual(totals.get(group.id), {
        keys: 1,
        members: 0,
        allocatedNanodollars: USD,
      })
      assert.deepEqual(
        await groupTotals(store, group.id),
        new Map([[group.id, totals.get(group.id)]]),
      )
      assert.equal((await readAllocated(store)) - before, 11n * USD)
      await archiveGroup(store, group.id)
      assert.equal((await readAllocated(store)) - before, USD)
    })

    test('people are added, get another role, are removed, and go with their account', async () => {
      const group = await newGroup()
      const person = { id: newId('person', clock), email: 'ann@example.com' }
      await insertPerson(store.db, { ...person, name: 'Ann', roleId: 'viewer' }, clock.now())
      const membership = { group, person, roleName: (id: string) => id.toUpperCase() }
      later()
      await addMember(store, membership, { id: 'member', name: 'Member' })
      later()
      await addMember(store, membership, { id: 'manager', name: 'Manager' })
      assert.deepEqual(
        (await listMembers(store, group.id)).map(({ email, roleId }) => [email, roleId]),
        [['ann@example.com', 'manager']],
      )
      assert.equal((await groupTotals(store, group.id)).get(group.id)?.members, 1)
      const [entry] = await listAudit(store, { subjectId: group.id, limit: 1 })
      assert.deepEqual(entry?.fields, [
        { field: 'ann@example.com', before: 'MEMBER', after: 'Manager' },
      ])
      await removeMember(store, membership)
      await assert.rejects(removeMember(store, membership), refusal('wrong_state', /not a member/))
      await addMember(store, membership, { id: 'member', name: 'Member' })
      await deletePerson(store.db, person.id)
      assert.deepEqual(await listMembers(store, group.id), [])
    })

    test('a key can belong to a person, as long as that person is known', async () => {
      const person = { id: newId('person', clock), email: 'bob@example.com', name: 'Bob' }
      await insertPerson(store.db, { ...person, roleId: 'viewer' }, clock.now())
      const key = await keyIn(null, 'of a person', { ownerPersonId: person.id })
      assert.deepEqual(keyJson(key).owner_person, person)
      await assert.rejects(
        updateKey(store, key.id, { ownerPersonId: 'nobody' }),
        refusal('invalid_value', /nobody/),
      )
      await deletePerson(store.db, person.id)
      assert.equal((await findKey(store, key.id)).ownerPerson, null)
    })
  })
}
