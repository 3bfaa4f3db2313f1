// What names lose, and what they keep.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { closest, csvText, label, visible } from './text.ts'

describe('names', () => {
  for (const [what, emoji] of [
    ['a family', '👩‍👩‍👧'],
    ['a profession with a skin tone', '👩🏽‍🚒'],
    ['a flag of two letters', '🇩🇪'],
    ['a flag of tags', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['a flag that is joined', '🏳️‍🌈'],
    ['a heart in colour', '❤️'],
    ['a keycap', '1️⃣'],
  ] as const)
    test(`keep ${what} together`, () => {
      const name = `on call ${emoji} (${emoji}${emoji})`
      assert.equal(label(name), name)
      assert.equal(visible(name), name)
      const [, whole] = [...new Intl.Segmenter('en').segment(label(`a${emoji}`))]
      assert.equal(whole?.segment, emoji)
    })

  test('lose what cannot be seen, so that names that look the same are the same', () => {
    for (const [given, cleaned] of [
      ['in\u200dvisible', 'invisible'],
      ['soft\u00adhyphen', 'softhyphen'],
      ['\u202eright to left\u202c', 'right to left'],
      ['👩\u200d', '👩'],
      ['\u200d👩\u200d👩', '👩👩'],
      ['a\ufe0f\u{e0067}', 'a'],
    ] as const)
      assert.equal(label(given), cleaned)
  })
})

// Which name someone may have meant, and when it is better to suggest none.

const names = ['o3', 'gpt-5', 'gpt-5-mini', 'claude-sonnet-4-6', 'sandbox-chat']

for (const [asked, meant] of [
  ['gpt-5-mni', 'gpt-5-mini'],
  ['GPT-5-Mini', 'gpt-5-mini'],
  ['sandbox-chta', 'sandbox-chat'],
  ['claude-sonnet', 'claude-sonnet-4-6'],
  ['anthropic/claude-sonnet-4-6', 'claude-sonnet-4-6'],
  ['o1', 'o3'],
  ['nope', undefined],
  ['something else entirely', undefined],
  ['', undefined],
] as const)
  test(`"${asked}" suggests ${meant ?? 'nothing'}`, () => {
    assert.equal(closest(asked, names), meant)
  })

// A spreadsheet shows every value as it is, and runs none, whichever separator its language expects.

for (const [value, written] of [
  ['plain', 'plain'],
  [null, ''],
  [-1, "'-1"],
  ['a,b', '"a,b"'],
  ['say "a"', '"say ""a"""'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@a', "'@a"],
  ['＝1+1', "'＝1+1"],
  ['\t=1', "\t'=1"],
  ['a;=1+1', "a;'=1+1"],
  ['a; "=1', '"a; ""\'=1"'],
  ['a\n=1', '"a\n\'=1"'],
  ['a-b=c', 'a-b=c'],
] as const)
  test(`${JSON.stringify(value)} is written as ${JSON.stringify(written)}`, () => {
    assert.equal(csvText(['name'], [[value]]), `name\n${written}`)
  })
