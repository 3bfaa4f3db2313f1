// Runs the compiler, the linter and the formatter's check in parallel; each counts as one test of the suite.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from './run-files.ts'

const folders = ['src', 'test', 'bench', 'scripts', 'bin', 'web'].filter((folder) =>
  existsSync(folder),
)

const tools = [
  { name: 'types', package: 'typescript', command: 'tsc', args: ['-p', '.'] },
  { name: 'web types', package: 'typescript', command: 'tsc', args: ['-p', 'web'] },
  { name: 'lint', package: 'oxlint', command: 'oxlint', args: ['--type-aware', ...folders] },
  { name: 'format', package: 'oxfmt', command: 'oxfmt', args: ['--check', ...folders] },
]

export async function runTools(signal: AbortSignal): Promise<Outcome> {
  const results = await Promise.all(
    tools.map(async (tool) => {
      const { code, output } = await runTool(tool, signal)
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${tool.name}`)
      return { name: tool.name, passed: code === 0, detail: output }
    }),
  )
  return {
    passed: results.filter(({ passed }) => passed).length,
    failures: results.filter(({ passed }) => !passed),
    skips: [],
  }
}

function runTool(
  tool: (typeof tools)[number],
  signal: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number | null; output: string }>()
  let output = ''
  const child = spawn(
    process.execPath,
    [join('node_modules', tool.package, 'bin', tool.command), ...tool.args],
    { signal },
  )
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.on('error', (error) => resolve({ code: 1, output: `${output}${error.message}` }))
  child.on('close', (code) => resolve({ code, output }))
  return promise
}
