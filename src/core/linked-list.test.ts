// Members stay in their order, and leave from any place.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { LinkedList } from './linked-list.ts'

test('members can be removed from any place, once', () => {
  const list = new LinkedList<string>()
  assert.ok(list.isEmpty)
  assert.deepEqual(list.members(), [])
  const [a, b, c] = [list.add('a'), list.add('b'), list.add('c')]
  assert.ok(!list.isEmpty)
  assert.deepEqual(list.members(), ['a', 'b', 'c'])
  b.remove()
  b.remove()
  assert.deepEqual(list.members(), ['a', 'c'])
  c.remove()
  const d = list.add('d')
  a.remove()
  assert.deepEqual(list.members(), ['d'])
  d.remove()
  assert.ok(list.isEmpty)
})
