// `docs/sandbox.md` says what the code does: every steering word, every model with its price.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { SANDBOX_MODELS, sandboxFormatsOf } from './models.ts'
import { SCRIPT_WORDS } from './script.ts'

const text = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))

test('the document lists every steering word, and no other', () => {
  const words = rows.flatMap(([, first = '']) => /^`(\w+)=/.exec(first)?.[1] ?? [])
  assert.deepEqual([...new Set(words)].toSorted(), [...SCRIPT_WORDS].toSorted())
})

test('the document lists every model with its format and its price', () => {
  const listed = rows.filter(([, first = '']) => first.startsWith('`sandbox-'))
  const usdPerMillion = (picodollars: bigint) => Number(picodollars) / 1_000_000
  assert.deepEqual(
    listed.map(([, id, format, price]) => [id, format, price]),
    SANDBOX_MODELS.map(({ id, price: { rates } }) => [
      `\`${id}\``,
      sandboxFormatsOf(id).join().replace('chat', 'chat completions'),
      `${usdPerMillion(rates.input)} / ${usdPerMillion(rates.output)}`,
    ]),
  )
})
