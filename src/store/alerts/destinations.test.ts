// What people see of an address: enough to tell destinations apart, never enough to write there. And why a delivery
// ended, as it is kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sentence } from '../../core/sentences.ts'
import {
  isTaken,
  readResult,
  shownAddress,
  storedResult,
  TAKES_ALL,
  type Concerned,
  type Taken,
} from './destinations.ts'

for (const [address, shown] of [
  [
    'https://hooks.example.com/services/T0123456/B0123456/x7QdaB3k',
    'https://hooks.example.com/…aB3k',
  ],
  ['https://hooks.example.com/tollgate', 'https://hooks.example.com/…'],
  ['https://hooks.example.com/?token=x7QdaB3k', 'https://hooks.example.com/…'],
  ['https://hooks.example.com/#x7QdaB3k', 'https://hooks.example.com/…'],
  ['http://10.0.0.7:8080', 'http://10.0.0.7:8080/'],
] as const)
  test(`${address} is shown as ${shown}`, () => {
    assert.equal(shownAddress({ kind: 'webhook', address }), shown)
  })

test('an e-mail address is shown whole', () => {
  const address = 'ops@example.com'
  assert.equal(shownAddress({ kind: 'email', address }), address)
})

test('a failure is kept by name and values, and worded when it is read', () => {
  const failure = sentence('webhook_late', { host: 'hooks.example.com' })
  assert.deepEqual(readResult(storedResult(failure)), {
    result: 'hooks.example.com did not answer in time',
    failure: { name: 'webhook_late', values: { host: 'hooks.example.com' } },
  })
})

for (const said of ['answered 503', '{"name": no JSON', '{"name":"webhook_late"}'])
  test(`what a receiver said is not taken for a named failure: ${said}`, () => {
    const { result, failure } = readResult(storedResult(said))
    assert.deepEqual([result?.trim(), failure], [said, null])
  })

// What a destination takes: everything it names must fit, and what concerns no group reaches none that names some.

const OF_KEY: Concerned = {
  kind: 'budget',
  groupId: 'grp_red',
  tags: ['batch', 'nightly'],
  environment: 'production',
}
const OF_GROUP: Concerned = { ...OF_KEY, tags: [], environment: null }
const OF_ALL: Concerned = { ...OF_GROUP, kind: 'outage', groupId: null }

for (const [what, taken, expected] of [
  ['nothing named', {}, [true, true, true]],
  ['its kind', { kinds: ['budget'] }, [true, true, false]],
  ['other kinds', { kinds: ['expiry', 'outage'] }, [false, false, true]],
  ['its group', { groupIds: ['grp_blue', 'grp_red'] }, [true, true, false]],
  ['another group', { groupIds: ['grp_blue'] }, [false, false, false]],
  ['one of its tags', { tags: ['nightly'] }, [true, false, false]],
  ['its environment, written differently', { environments: ['Production'] }, [true, false, false]],
  ['its group and another tag', { groupIds: ['grp_red'], tags: ['web'] }, [false, false, false]],
] as const)
  test(`a destination with ${what} takes alerts of a key, a group, the gateway: ${expected.join(', ')}`, () => {
    const destination: Taken = { ...TAKES_ALL, ...taken }
    const found = [OF_KEY, OF_GROUP, OF_ALL].map((about) => isTaken(destination, about))
    assert.deepEqual(found, expected)
  })
