// Every pair of colours that meets on a page has the contrast that WCAG 2.2 AA requires.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tokens } from './theme.ts'

type Name = keyof typeof tokens.light

const grounds: readonly Name[] = ['ground', 'raised', 'sunken']
const texts: readonly Name[] = ['text', 'muted', 'accent', 'good', 'warn', 'bad']
const drawn = ['line-strong', 'held', 'others', 'accent', 'good', 'warn', 'bad'] as const
const series = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'] as const
const tints: readonly (readonly [Name, Name])[] = [
  ['good', 'good-ground'],
  ['warn', 'warn-ground'],
  ['bad', 'bad-ground'],
  ['accent', 'accent-ground'],
  ['text', 'warn-ground'],
  ['text', 'bad-ground'],
  ['text', 'good-ground'],
  ['text', 'accent-ground'],
]

for (const [scheme, colours] of Object.entries(tokens))
  describe(scheme, () => {
    const pairs = [
      ...texts.flatMap((text) => grounds.map((ground) => [text, ground, 4.5] as const)),
      ...tints.map(([text, ground]) => [text, ground, 4.5] as const),
      ...[...drawn, ...series].map((line) => [line, 'raised', 3] as const),
    ]
    for (const [front, back, least] of pairs)
      test(`${front} on ${back} has a contrast of at least ${least}:1`, () => {
        const ratio = contrast(colours[front], colours[back])
        assert.ok(ratio >= least, `${ratio.toFixed(2)}:1`)
      })
  })

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const part = Number.parseInt(colour.slice(start, start + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
