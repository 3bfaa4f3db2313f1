// Runs test/matrix and prints a table: one line per client library and upstream format, one column per scene, with ✓ or
// ✗ for the plain and for the streamed call, and · where the library or the scene has no such call.
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { run } from 'node:test'
import { SCENES } from '../test/matrix/scenes.ts'

const CELL = /^(?<speaker>.+) → (?<upstream>\w+): (?<scene>.+), (?<mode>plain|streamed)$/
const MODES = ['plain', 'streamed']

// Test files and the programs they start share one compile cache.
process.env['NODE_COMPILE_CACHE'] ??= resolve('.cache/compiled')
const started = performance.now()
const passes = new Map<string, boolean>()
const lines = new Set<string>()
const scenes = SCENES.map(({ name }) => name)
const failures: string[] = []
let others = 0

const files = globSync('test/matrix/*.test.ts').map((file) => resolve(file))
for await (const { type, data } of run({ files, concurrency: availableParallelism() })) {
  if (type !== 'test:complete') continue
  const { name, details } = data
  const { speaker, upstream, scene, mode } = CELL.exec(name)?.groups ?? {}
  if (scene !== undefined) {
    lines.add(`${speaker} → ${upstream}`)
    passes.set(`${speaker} → ${upstream}: ${scene}, ${mode}`, details.passed)
  } else if (details.passed && details.type !== 'suite' && !files.includes(name)) others++
  if (!details.passed) failures.push(name)
}

const width = Math.max(...[...lines].map((line) => line.length))
console.log([' '.repeat(width), ...scenes].join('  '))
for (const line of [...lines].toSorted()) {
  const cells = scenes.map((scene) => marks(line, scene).padEnd(scene.length))
  console.log([line.padEnd(width), ...cells].join('  ').trimEnd())
}
console.log('\neach cell: plain, streamed; p… = a status of the provider before its first byte')
const passed = [...passes.values()].filter(Boolean).length
const seconds = ((performance.now() - started) / 1000).toFixed(0)
console.log(`${passed} of ${passes.size} cells pass, and ${others} tests beside them; ${seconds} s`)
for (const name of failures) console.log(`FAILED ${name}`)
process.exitCode = failures.length > 0 || passes.size === 0 ? 1 : 0

function marks(line: string, scene: string): string {
  return MODES.map((mode) => {
    const passed = passes.get(`${line}: ${scene}, ${mode}`)
    return passed === undefined ? '·' : passed ? '✓' : '✗'
  }).join('')
}
