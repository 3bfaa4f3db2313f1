// What a destination takes: everything it names must fit, and what concerns no group reaches none that names some.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTaken, TAKES_ALL, type Concerned, type Taken } from './routing.ts'

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
