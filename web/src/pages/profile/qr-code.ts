// A text as a QR code (ISO/IEC 18004): bytes, error correction level M, the smallest version up to 13 that holds it. Pure.

/** Rows of modules; true is dark. */
export type QrCode = readonly (readonly boolean[])[]

export function qrCode(text: string): QrCode {
  const data = new TextEncoder().encode(text)
  const version = versions.find((each) => data.length <= capacityOf(each))
  if (!version) throw new Error('this text is too long for a QR code')
  const codewords = interleaved(dataCodewords(data, version), version)
  const drawn = maskNumbers.map((mask) => drawCode(version, codewords, mask))
  return drawn.reduce((best, next) => (penaltyOf(next) < penaltyOf(best) ? next : best))
}

type Version = {
  readonly number: number
  /** Codewords of data in each block. */
  readonly blocks: readonly number[]
  /** Codewords of error correction in each block. */
  readonly correction: number
  /** Where the small squares stand. */
  readonly alignment: readonly number[]
}

const times = (count: number, length: number): number[] =>
  Array.from({ length: count }, () => length)

/** Table 9 of the standard at level M, and annex E. */
const versions: readonly Version[] = [
  { number: 1, blocks: [16], correction: 10, alignment: [] },
  { number: 2, blocks: [28], correction: 16, alignment: [6, 18] },
  { number: 3, blocks: [44], correction: 26, alignment: [6, 22] },
  { number: 4, blocks: [32, 32], correction: 18, alignment: [6, 26] },
  { number: 5, blocks: [43, 43], correction: 24, alignment: [6, 30] },
  { number: 6, blocks: times(4, 27), correction: 16, alignment: [6, 34] },
  { number: 7, blocks: times(4, 31), correction: 18, alignment: [6, 22, 38] },
  { number: 8, blocks: [38, 38, 39, 39], correction: 22, alignment: [6, 24, 42] },
  { number: 9, blocks: [...times(3, 36), 37, 37], correction: 22, alignment: [6, 26, 46] },
  { number: 10, blocks: [...times(4, 43), 44], correction: 26, alignment: [6, 28, 50] },
  { number: 11, blocks: [50, ...times(4, 51)], correction: 30, alignment: [6, 30, 54] },
  { number: 12, blocks: [...times(6, 36), 37, 37], correction: 22, alignment: [6, 32, 58] },
  { number: 13, blocks: [...times(8, 37), 38], correction: 22, alignment: [6, 34, 62] },
]

const sizeOf = ({ number }: Version): number => 17 + 4 * number
const lengthBits = ({ number }: Version): number => (number < 10 ? 8 : 16)
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

function capacityOf(version: Version): number {
  return Math.floor((sum(version.blocks) * 8 - 4 - lengthBits(version)) / 8)
}

/** The mode, the length, the bytes, and what fills the rest. */
function dataCodewords(data: Uint8Array, version: Version): readonly number[] {
  const bits = [
    '0100',
    data.length.toString(2).padStart(lengthBits(version), '0'),
    ...Array.from(data, (byte) => byte.toString(2).padStart(8, '0')),
  ].join('')
  const total = sum(version.blocks)
  const ended = bits + '0'.repeat(Math.min(4, total * 8 - bits.length))
  const whole = ended.padEnd(Math.ceil(ended.length / 8) * 8, '0')
  const words = Array.from({ length: whole.length / 8 }, (_, index) =>
    Number.parseInt(whole.slice(index * 8, index * 8 + 8), 2),
  )
  const filling = Array.from({ length: total - words.length }, (_, index) =>
    index % 2 === 0 ? 0xec : 0x11,
  )
  return [...words, ...filling]
}

/** Block by block with its correction, then the first words of all blocks, the second ones, and so on. */
function interleaved(words: readonly number[], { blocks, correction }: Version): readonly number[] {
  let start = 0
  const data = blocks.map((length) => words.slice(start, (start += length)))
  const checks = data.map((block) => remainderOf(block, generatorOf(correction)))
  const columns = (rows: readonly (readonly number[])[]): number[] =>
    Array.from({ length: Math.max(...rows.map(({ length }) => length)) }, (_, index) =>
      rows.flatMap((row) => row[index] ?? []),
    ).flat()
  return [...columns(data), ...columns(checks)]
}

/** Products in the field of 256 elements with the polynomial x^8 + x^4 + x^3 + x^2 + 1. */
function product(one: number, other: number): number {
  let result = 0
  for (let bit = 7; bit >= 0; bit -= 1) {
    result = (result << 1) ^ ((result >>> 7) * 0x11d)
    result ^= ((other >>> bit) & 1) * one
  }
  return result
}

/** (x - 1)(x - 2)(x - 4)…, without its leading 1. */
function generatorOf(degree: number): readonly number[] {
  let polynomial = [...times(degree - 1, 0), 1]
  let root = 1
  for (let step = 0; step < degree; step += 1) {
    polynomial = polynomial.map(
      (coefficient, index) => product(coefficient, root) ^ (polynomial[index + 1] ?? 0),
    )
    root = product(root, 2)
  }
  return polynomial
}

function remainderOf(words: readonly number[], generator: readonly number[]): readonly number[] {
  return words.reduce(
    (rest, word) => {
      const factor = word ^ (rest[0] ?? 0)
      return generator.map(
        (coefficient, index) => (rest[index + 1] ?? 0) ^ product(coefficient, factor),
      )
    },
    times(generator.length, 0),
  )
}

const masks: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
]
const maskNumbers = masks.map((_, number) => number)

function drawCode(version: Version, codewords: readonly number[], mask: number): QrCode {
  const fixed = fixedModules(version, mask)
  const size = sizeOf(version)
  const bits = codewords.flatMap((word) =>
    Array.from({ length: 8 }, (_, index) => ((word >>> (7 - index)) & 1) === 1),
  )
  const grid = fixed.map((row) => row.map((module) => module ?? false))
  let next = 0
  for (const [row, column] of dataPath(size)) {
    if (fixed[row]?.[column] !== undefined) continue
    const isDark = (bits[next] ?? false) !== (masks[mask]?.(row, column) ?? false)
    next += 1
    grid[row]?.splice(column, 1, isDark)
  }
  return grid
}

/** In pairs of columns from the right, up and down by turns; the column of the timing pattern is left out. */
function* dataPath(size: number): Generator<readonly [row: number, column: number]> {
  let isUpward = true
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right -= 1
    for (let step = 0; step < size; step += 1) {
      const row = isUpward ? size - 1 - step : step
      yield [row, right]
      yield [row, right - 1]
    }
    isUpward = !isUpward
  }
}

type Grid = (boolean | undefined)[][]

/** Everything that is not data; undefined where data goes. */
function fixedModules(version: Version, mask: number): Grid {
  const size = sizeOf(version)
  const grid: Grid = Array.from({ length: size }, () =>
    Array.from({ length: size }, () => undefined),
  )
  const put = (row: number, column: number, isDark: boolean): void => {
    if (row >= 0 && column >= 0 && row < size && column < size) grid[row]?.splice(column, 1, isDark)
  }
  const square = (row: number, column: number, rings: readonly boolean[]): void => {
    const reach = rings.length - 1
    for (let down = -reach; down <= reach; down += 1)
      for (let across = -reach; across <= reach; across += 1)
        put(row + down, column + across, rings[Math.max(Math.abs(down), Math.abs(across))] ?? false)
  }
  for (let index = 0; index < size; index += 1) {
    put(6, index, index % 2 === 0)
    put(index, 6, index % 2 === 0)
  }
  for (const [row, column] of alignmentCentres(version)) square(row, column, [true, false, true])
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    square(row, column, [true, true, false, true, false])
  formatBits(mask).forEach((isDark, index) => {
    const [one, other] = formatPlaces(index, size)
    put(...one, isDark)
    put(...other, isDark)
  })
  put(size - 8, 8, true)
  if (version.number >= 7)
    versionBits(version.number).forEach((isDark, index) => {
      const [far, near] = [size - 11 + (index % 3), Math.floor(index / 3)]
      put(far, near, isDark)
      put(near, far, isDark)
    })
  return grid
}

/** Not where the large squares of the corners are. */
function alignmentCentres({ alignment }: Version): readonly (readonly [number, number])[] {
  const last = alignment.at(-1)
  const isCorner = (row: number, column: number): boolean =>
    (row === 6 && column === 6) || (row === 6 && column === last) || (row === last && column === 6)
  return alignment
    .flatMap((row) => alignment.map((column) => [row, column] as const))
    .filter(([row, column]) => !isCorner(row, column))
}

/** Level M is 00, so the mask alone is told, with ten bits that correct it; the least significant first. */
function formatBits(mask: number): readonly boolean[] {
  const word = ((mask << 10) | remainder(mask, { divisor: 0x537, bits: 10 })) ^ 0x5412
  return Array.from({ length: 15 }, (_, index) => ((word >>> index) & 1) === 1)
}

function versionBits(number: number): readonly boolean[] {
  const word = (number << 12) | remainder(number, { divisor: 0x1f25, bits: 12 })
  return Array.from({ length: 18 }, (_, index) => ((word >>> index) & 1) === 1)
}

function remainder(
  value: number,
  { divisor, bits }: { readonly divisor: number; readonly bits: number },
): number {
  let rest = value
  for (let step = 0; step < bits; step += 1) rest = (rest << 1) ^ ((rest >>> (bits - 1)) * divisor)
  return rest
}

type Place = readonly [row: number, column: number]

/** Each bit of the format stands twice: around the first corner, and along the two others. */
function formatPlaces(index: number, size: number): readonly [Place, Place] {
  const first: Place =
    index < 6 ? [index, 8] : index < 8 ? [index + 1, 8] : index === 8 ? [8, 7] : [8, 14 - index]
  const second: Place = index < 8 ? [8, size - 1 - index] : [size - 15 + index, 8]
  return [first, second]
}

/** How hard a code is to read: long runs, blocks, patterns that look like corners, too much of one colour. */
function penaltyOf(code: QrCode): number {
  const columns = code.map((_, column) => code.map((row) => row[column] ?? false))
  const lines = [...code, ...columns].map((line) => line.map((isDark) => (isDark ? 1 : 0)).join(''))
  const runs = lines.flatMap((line) => line.match(/0{5,}|1{5,}/g) ?? [])
  const corners = lines.flatMap((line) => line.match(/(?=10111010000|00001011101)/g) ?? [])
  const dark = code.flat().filter(Boolean).length / code.flat().length
  return (
    sum(runs.map(({ length }) => length - 2)) +
    3 * blocksOf(code) +
    40 * corners.length +
    10 * Math.floor(Math.abs(dark * 100 - 50) / 5)
  )
}

function blocksOf(code: QrCode): number {
  let blocks = 0
  for (let row = 1; row < code.length; row += 1)
    for (let column = 1; column < code.length; column += 1) {
      const own = code[row]?.[column]
      const others = [code[row - 1]?.[column], code[row]?.[column - 1], code[row - 1]?.[column - 1]]
      if (others.every((each) => each === own)) blocks += 1
    }
  return blocks
}
