// Steps with large bodies alternate with everything else that waits, and small bodies do not wait.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkedList, nextStep } from './runtime.ts'

const LARGE = 1_000_000

test('between two steps the event loop turns, however many large bodies there are', async () => {
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const seen: number[] = []
  const work = async (): Promise<void> => {
    for (let step = 0; step < 3; step++) {
      await nextStep(LARGE)
      seen.push(turns)
    }
  }
  await Promise.all([work(), work(), work(), work()])
  isOver = true
  assert.equal(seen.length, 12)
  assert.equal(new Set(seen).size, 12, `steps at the turns ${seen.join(', ')}`)
})

test('a small body does not wait for a large one', async () => {
  const order: string[] = []
  const large = nextStep(LARGE).then(() => order.push('large'))
  await nextStep(1_000)
  order.push('small')
  await large
  assert.deepEqual(order, ['small', 'large'])
})

// Members stay in their order, and leave from any place.

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
