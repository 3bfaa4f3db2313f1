// The text about the state of the books: open holds are not an imbalance.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { OPEN_HOLD, type Violation } from '../ledger/verify.ts'
import { violationsText } from './ledger.ts'

const open: Violation = {
  check: OPEN_HOLD,
  account: 'key_a',
  period: 1,
  expected: 'nothing',
  found: '7',
}
const wrong: Violation = {
  check: 'spent',
  account: 'key_a',
  period: 1,
  expected: '1 USD',
  found: '2 USD',
}

const cases: readonly [string, readonly Violation[], RegExp][] = [
  ['balanced books', [], /^The books balance\.$/],
  ['one open hold', [open], /^1 hold is open: .*\nApart from that, the books balance\.$/],
  ['open holds', [open, open], /^2 holds are open: .* Serving nodes charge the holds of dead ones/],
  ['more than are listed', Array<Violation>(100).fill(open), /^At least 100 holds are open/],
  ['an imbalance', [wrong], /^The books do not balance: please report this\.\n\nCHECK .*\nspent /],
  ['both', [open, wrong], /^1 hold is open: .*\n\nAlso, .* report this\.\n\nCHECK .*\nspent /],
]
for (const [name, violations, text] of cases) {
  test(name, () => assert.match(violationsText(violations), text))
}
