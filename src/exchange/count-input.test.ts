// Whose count of the input is believed.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Json } from '../core/json.ts'
import { numberOf } from '../core/json.ts'
import { countAt } from './count-input.ts'
import type { Prepared } from './prepare.ts'

function countOf(told: Json): Promise<number | undefined> {
  const provider = { name: 'local', countTokens: () => Promise.resolve(numberOf(told)) }
  const target = { provider, content: () => ({}) } as unknown as Prepared
  return countAt(target, new Map(), new AbortController().signal)
}

test('a provider’s count is believed', async () => {
  assert.equal(await countOf(12), 12)
})

for (const told of [-1_000_000, 0, 1.5, 1e300, '12', null])
  test(`${JSON.stringify(told)} is no count`, async () => {
    assert.equal(await countOf(told), undefined)
  })
