// Texts as unit vectors: every word and every three letters of it push the vector into directions of their own, so
// texts that share words, or parts of words, point the same way. The same text always gives the same vector.

export const DIMENSIONS = 1536

export function embed(input: string | readonly number[], dimensions: number): readonly number[] {
  const sums = new Float64Array(dimensions)
  // Nothing at all must have a direction too, and nothing may cancel it out.
  sums[0] = 0.01
  if (typeof input === 'string') pushText(sums, input)
  else pushTokens(sums, input)
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0))
  return Array.from(sums, (sum) => sum / length)
}

function pushText(sums: Float64Array, text: string): void {
  for (const [word] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    push(sums, `word ${word}`, 1)
    const letters = [...`<${word}>`]
    for (let index = 0; index + 2 < letters.length; index++) {
      push(sums, `part ${letters.slice(index, index + 3).join('')}`, 0.5)
    }
  }
}

function pushTokens(sums: Float64Array, tokens: readonly number[]): void {
  for (const token of tokens) push(sums, `token ${token}`, 1)
}

/** One feature moves a few coordinates, up or down, so that features rarely hide each other. */
const COORDINATES = 4

function push(sums: Float64Array, feature: string, weight: number): void {
  for (let index = 0; index < COORDINATES; index++) {
    const hash = hashOf(feature, index)
    const coordinate = (hash >>> 1) % sums.length
    sums[coordinate] = (sums[coordinate] ?? 0) + (hash & 1 ? weight : -weight)
  }
}

/** FNV-1a with a final stir: fast, and spread well enough. */
function hashOf(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed + 1, 0x9e3779b1)
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
