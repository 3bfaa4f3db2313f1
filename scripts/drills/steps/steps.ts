// What drills are made of: a command as an operator runs it, and how long a step took.
import assert from 'node:assert/strict'
import { COMMAND } from '../../../test/support/gateway.ts'
import { bareEnv, run } from '../../../test/support/process.ts'

export async function timed<Result>(what: string, step: () => Promise<Result>): Promise<Result> {
  const fromMs = performance.now()
  const result = await step()
  console.log(`${what}: ${((performance.now() - fromMs) / 1000).toFixed(1)} s`)
  return result
}

/** Must succeed; returns what it printed. */
export async function tollgate(words: readonly string[], database: string): Promise<string> {
  const env = { ...bareEnv, TOLLGATE_DATABASE: database }
  const { code, stdout, stderr } = await run(process.execPath, [COMMAND, ...words], { env })
  assert.equal(code, 0, stderr + stdout)
  return stdout
}
