// Claude Code, Codex and opencode through the gateway, on models of other families: each reads a file with its own tool
// and reports the content, which it can know only if call and result both got through.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { start } from '../support/process.ts'
import type { Ended } from '../support/process.ts'
import type { Command, Task } from './agents.ts'
import { claudeCode, codex, ensureAgents, opencode, opencodeProgram } from './agents.ts'

const CASES: readonly {
  readonly agent: string
  readonly model: string
  commandFor(task: Task): Command
}[] = [
  { agent: 'Claude Code', model: 'sandbox-chat', commandFor: claudeCode },
  { agent: 'Claude Code', model: 'sandbox-chat@responses', commandFor: claudeCode },
  { agent: 'Claude Code', model: 'sandbox-reasoner@responses', commandFor: claudeCode },
  { agent: 'Codex', model: 'sandbox-chat@messages', commandFor: codex },
  { agent: 'Codex', model: 'sandbox-reasoner@messages', commandFor: codex },
  { agent: 'Codex', model: 'sandbox-chat', commandFor: codex },
  {
    agent: 'opencode, chat',
    model: 'sandbox-reasoner@messages',
    commandFor: opencode('@ai-sdk/openai-compatible'),
  },
  {
    agent: 'opencode, responses',
    model: 'sandbox-chat',
    commandFor: opencode('@ai-sdk/openai'),
  },
  {
    agent: 'opencode, messages',
    model: 'sandbox-chat@responses',
    commandFor: opencode('@ai-sdk/anthropic'),
  },
]

/** Far more than any agent needs: one that waits for a network must not block the run. */
const MINUTES_MAX = 4

describe('coding agents', () => {
  let gateway: TestGateway
  let key: string
  let missing: string | undefined
  before(async () => {
    missing = await ensureAgents().then(
      () => undefined,
      (error: Error) => `the agents cannot be installed: ${error.message}`,
    )
    gateway = await startGateway()
    key = await gateway.key('agents', CASES.map(({ model }) => model).join(','), '--budget', '20')
  })
  after(() => gateway.stop())

  for (const { agent, model, commandFor } of CASES)
    test(`${agent} reads a file on ${model}`, async (t) => {
      if (missing !== undefined) return t.skip(missing)
      if (agent.startsWith('opencode') && opencodeProgram() === undefined)
        return t.skip('opencode is installed for Linux only')
      const home = mkdtempSync(join(tmpdir(), 'tollgate-agent-'))
      const work = join(home, 'work')
      mkdirSync(work)
      const file = join(work, 'note.txt')
      writeFileSync(file, 'The password is swordfish.\n')
      const lines = gateway.log().length
      try {
        const command = commandFor({ url: gateway.url, key, model, home, file })
        const ended = await runIn(work, home, command)
        assert.equal(ended.code, 0, ended.stdout + ended.stderr)
        assert.match(ended.stdout, /swordfish/, ended.stderr)
        const requests = gateway
          .log()
          .slice(lines)
          .filter(({ event }) => event === 'request')
        // None of its requests was refused, not even one it could do without.
        assert.deepEqual([...new Set(requests.map(({ status }) => status))], [200])
        const answered = requests.filter(({ target }) => target === `sandbox/${model}`)
        assert.ok(answered.length >= 2, JSON.stringify(requests))
      } finally {
        rmSync(home, { recursive: true, force: true })
      }
    })
})

async function runIn(cwd: string, home: string, { command, args, env }: Command): Promise<Ended> {
  const agent = start(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home, TERM: 'dumb', ...env },
  })
  const timer = setTimeout(() => void agent.stop('SIGKILL'), MINUTES_MAX * 60_000)
  try {
    return await agent.ended
  } finally {
    clearTimeout(timer)
  }
}
