// A refusal is explained from its code and facts: German readers see no English except quotations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import de from '../i18n/de.json' with { type: 'json' }
import en from '../i18n/en.json' with { type: 'json' }
import { formatFor } from '../i18n/format.ts'
import { textsOf } from '../i18n/i18n.ts'
import { blockedTitle, refusalWords } from './refusal-words.ts'

const english = { ...textsOf('en', en), format: formatFor('en-US') }
const german = { ...textsOf('de', de), format: formatFor('de-DE') }

const tight = {
  code: 'key_budget_exceeded',
  message: 'this call may cost up to 0.93 USD and 0.41 USD is left: …',
  shortage: { required: '0.93', remaining: '0.41', affordable_output_tokens: 11_200 },
}
const spent = {
  ...tight,
  code: 'frame_budget_exceeded',
  shortage: { ...tight.shortage, remaining: '0', affordable_output_tokens: null },
}
const unknownModel = {
  code: 'model_not_allowed',
  message: 'this key may not call "gpt": did you mean "gpt-5"?',
  shortage: null,
}

for (const { call, words, told } of [
  {
    call: tight,
    words: english,
    told: [
      "Not enough is left of the key's budget.",
      'The call may cost up to $0.93, and $0.41 is left.',
      'Ask for at most 11,200 output tokens, or raise the budget.',
    ],
  },
  {
    call: tight,
    words: german,
    told: [
      'Der Rest des Schlüsselbudgets reicht nicht.',
      'Der Aufruf kann bis zu 0,93 $ kosten, übrig sind 0,41 $.',
      'Verlangen Sie höchstens 11.200 Ausgabe-Tokens, oder erhöhen Sie das Budget.',
    ],
  },
  {
    call: spent,
    words: english,
    told: [
      "Not enough is left of the frame's budget, which all keys share.",
      'The call may cost up to $0.93, and $0.00 is left.',
      'Raise the budget.',
    ],
  },
  {
    call: { code: 'paused_api_key', message: 'this API key is paused', shortage: null },
    words: german,
    told: ['Der Schlüssel ist angehalten.', 'Die Anwendung sieht: „this API key is paused“'],
  },
  {
    call: unknownModel,
    words: german,
    told: [
      'Der Schlüssel darf dieses Modell nicht aufrufen.',
      `Die Anwendung sieht: „${unknownModel.message}“`,
    ],
  },
  {
    call: { code: 'context_length_exceeded', message: 'too long', shortage: null },
    words: english,
    told: ['The application sees: “too long”'],
  },
])
  test(`${call.code} is explained as: ${told.join(' ')}`, () => {
    assert.deepEqual(
      refusalWords(call, words).map((line) => line.replaceAll('\u00a0', ' ')),
      told,
    )
  })

// A tight budget is not a spent one.

for (const [status, remaining, title] of [
  [402, '0.01', 'verdict.tight'],
  [402, null, 'verdict.tight'],
  [402, '0', 'verdict.blocked'],
  [403, '5', 'verdict.blocked'],
] as const)
  test(`${status} with ${remaining ?? 'no limit'} left is ${title}`, () => {
    assert.equal(blockedTitle({ remaining, blocked_by: { status } }), title)
  })
