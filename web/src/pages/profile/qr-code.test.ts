// The code of a text that an independent reader has read back, module for module; and how large codes become.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { qrCode } from './qr-code.ts'

const drawn = `
#######.....#.#######
#.....#..##...#.....#
#.###.#.#.....#.###.#
#.###.#.##.##.#.###.#
#.###.#.#.###.#.###.#
#.....#.#.#.#.#.....#
#######.#.#.#.#######
........#####........
#.#####...#.#.#####..
######.#..#.##.###..#
...#..####.#.#...#.#.
..#..#.#.......#.##..
..###.##..##.......#.
........#..####.##.##
#######..#..#.#...##.
#.....#.#######..##..
#.###.#.#.#.#..#....#
#.###.#.#.#.#..###...
#.###.#.#.##.#....#..
#.....#.........###..
#######.####.#.....#.`

test('a short text', () => {
  const rows = qrCode('tollgate').map((row) => row.map((isDark) => (isDark ? '#' : '.')).join(''))
  assert.equal(`\n${rows.join('\n')}`, drawn)
})

test('the address of an app, in several blocks and with its version', () => {
  const secret = 'OB4UE2SNJFSXSNBZNR2TKWSOHAWTKOB4UE2SNJFSXSNBZNR2TKWSO'
  const text = `otpauth://totp/Tollgate:ann%40example.com?secret=${secret}&issuer=Tollgate&digits=6&period=30`
  const hash = createHash('sha256')
    .update(JSON.stringify(qrCode(text)))
    .digest('hex')
  assert.equal(hash, '688182fb6a320da293e404393e7e392b0d13919c41033a67a370f8047bcdb814')
})

for (const [length, size] of [
  [14, 21],
  [15, 25],
  [84, 37],
  [122, 45],
  [213, 57],
  [331, 69],
] as const)
  test(`${length} bytes need ${size} modules`, () => {
    assert.equal(qrCode('x'.repeat(length)).length, size)
  })

test('what no version holds is refused', () => {
  assert.throws(() => qrCode('x'.repeat(332)), /too long/)
})
