// What names lose, and what they keep.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { label, visible } from './labels.ts'

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
