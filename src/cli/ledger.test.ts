// The text about the state of the books: open holds are not an imbalance.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAMAGE, OPEN_HOLD, type Violation } from '../ledger/reports/verify.ts'
import { examinationText, violationsText } from './ledger.ts'

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

const damage: Violation = {
  check: DAMAGE,
  account: '-',
  period: null,
  expected: 'nothing',
  found: 'Tree 7 page 7: btreeInitPage() returns error code 11',
}

const cases: readonly [string, readonly Violation[], RegExp][] = [
  ['balanced books', [], /^The books balance\.$/],
  ['one open hold', [open], /^1 hold is open: .*\nApart from that, the books balance\.$/],
  ['open holds', [open, open], /^2 holds are open: .* Serving nodes charge the holds of dead ones/],
  ['more than are listed', Array<Violation>(100).fill(open), /^At least 100 holds are open/],
  ['an imbalance', [wrong], /^The books do not balance: please report this\.\n\nCHECK .*\nspent /],
  ['damage', [damage], /^The database is damaged\. .* restore .*\n\n- Tree 7 page 7: /],
  ['both', [open, wrong], /^1 hold is open: .*\n\nAlso, .* report this\.\n\nCHECK .*\nspent /],
]
for (const [name, violations, text] of cases) {
  test(name, () => assert.match(violationsText(violations), text))
}

test('what was not checked is said, and how to mend a period that begins in the future', () => {
  const ahead = [{ account: 'key_a', startsAt: Date.UTC(2027, 0, 1), endsAt: Date.UTC(2027, 0, 2) }]
  const text = examinationText({ violations: [], notChecked: ['this', 'that'], ahead })
  assert.match(text, /^The books balance\.\n\nA clock ran ahead: /)
  assert.match(text, /\n {2}tollgate ledger reset key_a --reason "the clock was wrong" {2}# .*2027/)
  assert.match(text, /\n\nNot checked:\n- this\n- that$/)
})
